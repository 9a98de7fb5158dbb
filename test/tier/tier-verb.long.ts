/**
 * What `tier-verb` has no time for: every verb of days that moved, dry runs, record tables, days that move by themselves, a key that
 * is refused, a bucket that ignores conditions, and flags that do not go together.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { expectExact, recordTexts } from '../support/multiset.ts';
import { temporaryFolder } from '../support/program.ts';
import { endLooks, letHoursPass } from '../support/publishing.ts';
import { setScene } from '../support/scene.ts';
import { DAYS, EVENTS, moveAll, RANGE, stage } from './tier-verb-scene.ts';

test('days move, every verb answers, and they come back', async () => {
  const { scene, bucket, settings } = await stage();
  await endLooks(scene.database);
  const before = (await recordTexts(scene.database, 'events')).sort();
  const dry = await scene.succeed(['tier', '--older-than', '1d', '--dry-run'], settings);
  expect(dry.stdout).toMatch(/^would move: events 2026-01-30 to 2026-02-03$/m);
  expect(bucket.objects.size).toBe(0);
  await moveAll({ scene, bucket, settings });
  const told = async (...args: readonly string[]) => (await scene.succeed(args, settings)).stdout;
  const why = await told('why', RANGE.from);
  expect(why).toContain(`moved to s3://${bucket.bucket}/soc/1 at `);
  expect(why).toMatch(/ nothing of it was shown here any more\./);
  expect(await told('status', '--months', '24')).toMatch(/5 days of them in the tier/);
  expect(JSON.parse(await told('status', '--json')).streams).toMatchObject([{ tiered: 5 }]);
  // Days of this week were never walked.
  expect((await scene.run(['gaps'], settings)).stdout).not.toMatch(/2026-0/);
  expect(await told('verify', '--offline')).toMatch(
    /^Everything that moved is what moved: 5 days in the tier, /m,
  );
  const unseen = await scene.run(['verify', '--offline'], EVENTS);
  expect(unseen).toMatchObject({ code: 3 });
  expect(unseen.stdout).toMatch(/^5 days in s3:\/\/.* not checked: tier\.url is not set\.$/m);
  expect(await scene.run(['verify', ...DAYS], settings)).toMatchObject({
    code: 3,
    stdout: '5 windows in the tier not compared: --deep reads the pages there.\n',
  });
  expect(await told('verify', '--deep', ...DAYS)).toMatch(
    /^5 windows compared .*: 5 same, 0 changed\.$/m,
  );
  expect(await told('prune', '--older-than', '1d')).toMatch(/^Nothing would go/m);
  expect(await told('doctor')).toMatch(/tier +s3:\/\/\S+ takes, gives back and removes an object/);
  expect(await told('backfill', ...DAYS, '--only', 'all', '--dry-run')).toMatch(
    /it moved to the tier; daywalk tier --restore brings it back/,
  );
  const search = ['search', 'no such thing', ...DAYS];
  expect(await told(...search)).toMatch(/^events: nothing; 5 of 5 days proven/m);
  const without = await scene.run([...search, '--without-tier'], settings);
  expect(without).toMatchObject({ code: 3 });
  expect(without.stdout).toMatch(/tiered\n.*is looked into without --without-tier/);
  const unset = await scene.run(search, EVENTS);
  expect(unset).toMatchObject({ code: 2 });
  expect(unset.stderr).toMatch(/events 2026-01-30, .* moved to s3:.*: tier\.url is not set/);
  const back = await scene.succeed(['tier', '--restore', ...DAYS], settings);
  expect(back.stdout).toMatch(/^5 days came back from s3:/m);
  expect((await recordTexts(scene.database, 'events')).sort()).toEqual(before);
  await expectExact(scene, RANGE, ['events']);
  expect(await told('verify', '--offline')).toMatch(/^Everything stored is what was stored/m);
});

test('days that a record table of the settings is to keep stay until it is made so', async () => {
  const { scene, bucket, settings } = await stage();
  await endLooks(scene.database);
  const config = join(temporaryFolder(), 'daywalk.yaml');
  const own = { ...settings, DAYWALK_CONFIG: config, DAYWALK_TIER_AFTER: '30d' };
  const define = (more: string) =>
    writeFileSync(config, `tables: { kept: { stream: events, ${more}columns: { id: {} } } }\n`);
  define('');
  await scene.succeed(['tables', '--apply'], own);
  define('retention: forever, ');
  for (const dry of [['--dry-run'], []]) {
    const stays = await scene.run(['tier', '--older-than', '1d', ...dry], own);
    expect(stays, stays.stderr).toMatchObject({ code: 3 });
    expect(stays.stdout).toMatch(
      /^stays: events 2026-01-30 to 2026-02-03: the record table kept of the settings is to keep it, and is not made so yet: daywalk tables --apply$/m,
    );
  }
  await scene.succeed(['run'], own);
  expect([...bucket.objects.keys()]).toEqual([]);
  const kept = () =>
    scene.database.query(
      'select day::text, count(*) from daywalk.kept where day between $1 and $2 group by 1 order by 1',
      [RANGE.from, RANGE.to],
    );
  const before = await kept();
  expect(before).toHaveLength(5);
  await scene.succeed(['tables', '--apply'], own);
  await scene.succeed(['run'], own);
  expect(bucket.objects.size).toBeGreaterThan(10);
  expect(await kept()).toEqual(before);
});

test('a key that is refused is told, and nothing moves', async () => {
  const { scene, settings, secret } = await stage();
  await endLooks(scene.database);
  const before = (await recordTexts(scene.database, 'events')).toSorted();
  writeFileSync(secret, 'another-secret');
  const refused = await scene.run(['tier', '--older-than', '1d'], settings);
  expect(refused, refused.stderr).toMatchObject({ code: 2 });
  expect((await recordTexts(scene.database, 'events')).toSorted()).toEqual(before);
});

test('flags that do not go together, and a place that nobody names', async () => {
  const scene = await setScene({ eventsPerDay: 10 });
  for (const [args, problem] of [
    [['tier', '--older-than', '1d'], /tier\.url is not set/],
    [['tier'], /nothing says what may move/],
    [['tier', '--restore'], /nothing says which days come back/],
    [['tier', '--from', '2026-01-01'], /name days that come back/],
  ] as const) {
    const ended = await scene.run(args, { ...EVENTS });
    expect(ended, args.join(' ')).toMatchObject({ code: 2 });
    expect(ended.stderr).toMatch(problem);
  }
});

test('days move by themselves at the end of a run that looked at them', async () => {
  const { scene, settings } = await stage();
  const of = (what: string) =>
    scene.database.query(`select distinct ${what} where day between $1 and $2`, [
      RANGE.from,
      RANGE.to,
    ]);
  await letHoursPass(scene.database, 2);
  await scene.succeed(['run'], { ...settings, DAYWALK_TIER_AFTER: '30d' });
  expect(await of('state from daywalk.coverage')).toEqual([{ state: 'tiered' }]);
  expect(await of('looks from daywalk.windows')).toEqual([{ looks: 1 }]);
});

test('a bucket that ignores conditions, and one that nobody names, is told, and nothing moves', async () => {
  const { scene, bucket, settings } = await stage();
  await endLooks(scene.database);
  const before = (await recordTexts(scene.database, 'events')).toSorted();
  bucket.manners.ignoresConditions = true;
  const ignoring = await scene.run(['tier', '--older-than', '1d'], settings);
  expect(ignoring, ignoring.stderr).toMatchObject({ code: 2 });
  expect(ignoring.stderr).toMatch(/If-None-Match/);
  const nowhere = await scene.run(['tier', '--older-than', '1d'], EVENTS);
  expect(nowhere, nowhere.stderr).toMatchObject({ code: 2 });
  expect(nowhere.stderr).toMatch(/tier\.url is not set/);
  expect((await recordTexts(scene.database, 'events')).toSorted()).toEqual(before);
});
