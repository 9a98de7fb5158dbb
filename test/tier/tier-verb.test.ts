/** `daywalk tier` with a bucket: days move and come back, and what is wrong is told. */
import { expect, test } from 'vitest';
import { expectExact, recordTexts } from '../support/multiset.ts';
import { endLooks, letHoursPass } from '../support/publishing.ts';
import { DAYS, EVENTS, moveAll, RANGE, stage } from './tier-verb-scene.ts';

test('days move, are verified, and come back', async () => {
  const { scene, bucket, settings } = await stage();
  await endLooks(scene.database);
  const before = (await recordTexts(scene.database, 'events')).sort();
  await moveAll({ scene, bucket, settings });
  const verified = await scene.succeed(['verify', '--offline'], settings);
  expect(verified.stdout).toMatch(/^Everything that moved is what moved: 5 days in the tier, /m);
  const back = await scene.succeed(['tier', '--restore', ...DAYS], settings);
  expect(back.stdout).toMatch(/^5 days came back from s3:/m);
  expect((await recordTexts(scene.database, 'events')).sort()).toEqual(before);
  await expectExact(scene, RANGE, ['events']);
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
