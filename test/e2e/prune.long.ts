/** More of `daywalk prune` than e2e/prune.test.ts: what is refused, what each verb says of pruned days, and more moments of death. */
import { expect, test } from 'vitest';
import { temporaryFolder } from '../support/program.ts';
import {
  DAYS,
  EVENTS,
  expectWholeAfter,
  exported,
  pagesByDay,
  prunings,
  RANGE,
  upTo,
} from './pruning.ts';

test('what cannot be done is refused, and nothing goes', async () => {
  const scene = await exported();
  const nothing = await scene.run(['prune', '--yes'], EVENTS);
  expect(nothing).toMatchObject({ code: 2 });
  expect(nothing.stderr).toMatch(/all is kept for ever[\s\S]*--older-than 400d/);
  const bad = await scene.run(['prune', '--older-than', '1h'], EVENTS);
  expect(bad).toMatchObject({ code: 2 });
  expect(bad.stderr).toMatch(/flag --older-than: "1h" is not an age from 1d/);
  const both = await scene.run(['prune', '--superseded', '--require-export', '/tmp'], EVENTS);
  expect(both).toMatchObject({ code: 2 });
  const none = await scene.run(
    upTo('2026-02-02', '--require-export', temporaryFolder(), '--yes'),
    EVENTS,
  );
  expect(none).toMatchObject({ code: 2 });
  expect(none.stderr).toMatch(/holds no export/);
  expect(await prunings(scene)).toEqual([]);
});

test('every verb says of pruned days what they are', async () => {
  const scene = await exported();
  const [shown] = await scene.database.query(
    `select records, pages from daywalk.coverage where day = '2026-01-31' and stream = 'events'`,
  );
  await scene.succeed(upTo('2026-02-01', '--yes'), EVENTS);
  const all = ['status', '--months', '1200', '--json'];
  const { days, ...totals } = JSON.parse((await scene.succeed(all, EVENTS)).stdout).streams[0];
  const own = days.filter(({ day }: { day: string }) => day <= RANGE.to);
  expect(own.map(({ state }: { state: string }) => state)).toEqual(['complete', 'complete']);
  expect(totals).toMatchObject({ pruned: 3, complete: 2 });
  expect(totals.records).toBe(own[0].records + own[1].records);
  const why = (await scene.succeed(['why', '2026-01-31'], EVENTS)).stdout;
  expect(why).toMatch(
    /^events 2026-01-31: pruned at .* by \S+: \d+ records on \d+ pages .* are not kept any more\.$/m,
  );
  expect(why).toContain(`: ${shown?.records} records on ${shown?.pages} pages `);
  const plan = await scene.succeed(['backfill', ...DAYS, '--only', 'all', '--dry-run'], EVENTS);
  expect(plan.stdout.match(/it was pruned/g)).toHaveLength(3);
  expect((await scene.succeed(['status'], EVENTS)).stdout).toMatch(/, 3 days pruned/);
  const gaps = JSON.parse((await scene.run(['gaps', '--json'], EVENTS)).stdout);
  expect(JSON.stringify(gaps)).not.toMatch(/2026-0[12]/);
  for (const how of [[], ['--deep']])
    expect((await scene.succeed(['verify', ...how], EVENTS)).stdout).toMatch(
      /^2 windows compared .*: 2 same, 0 changed\.$/m,
    );
  const offline = await scene.succeed(['verify', '--offline'], EVENTS);
  expect(offline.stdout).toMatch(/^Everything stored is what was stored/m);
  expect(offline.stdout).toMatch(/^\d+ walks pruned: their pages are gone/m);
  expect((await scene.succeed(upTo('2026-02-01', '--yes'), EVENTS)).stdout).toMatch(
    /^Nothing went/m,
  );
  const to = ['--from', '2026-01-30', '--to', '2026-01-30'];
  const elsewhere = await scene.run(['export', '--out', temporaryFolder(), ...to], EVENTS);
  expect(elsewhere).toMatchObject({ code: 3 });
  expect(elsewhere.stdout).toMatch(/^not exported: events 2026-01-30 pruned$/m);
});

test('verified after each step: days walked again with and without their cuts, and when all is gone', async () => {
  const scene = await exported();
  await scene.database.query(
    `update daywalk.windows set state = 'failed', last_error = 'a reason' where day = '2026-01-31' and kind = 'day'`,
  );
  expect(await scene.run(upTo('2026-02-01', '--yes'), EVENTS)).toMatchObject({ code: 3 });
  for (const only of ['failed', 'all']) {
    const day = ['--from', '2026-01-31', '--to', '2026-01-31'];
    await scene.succeed(['backfill', ...day, '--only', only], EVENTS);
    await scene.succeed(['verify', '--offline'], EVENTS);
  }
  await scene.succeed(['backfill', ...DAYS, '--only', 'all'], EVENTS);
  const dry = await scene.succeed(['prune', '--superseded'], EVENTS);
  expect(dry.stdout).toMatch(
    /^would go: superseded walks of events 2026-01-31\nwould go: superseded walks of events 2026-02-02 to 2026-02-03$/m,
  );
  await scene.succeed(['prune', '--superseded', '--yes'], EVENTS);
  await scene.succeed(['verify', '--offline'], EVENTS);
  await scene.succeed(upTo(RANGE.to, '--yes'), EVENTS);
  expect(await pagesByDay(scene)).toEqual({});
  await scene.succeed(['verify', '--offline'], EVENTS);
});

test('killed at every statement in turn, it is whole', async () => {
  const scene = await expectWholeAfter([
    { at: /daywalk\.mark_pruned/, count: 1, moment: 'before' },
    { at: /daywalk\.mark_pruned/, count: 2, moment: 'after' },
    { at: /daywalk\.empty_month/, count: 1, moment: 'before' },
    { at: /delete from daywalk\.pages/, count: 1, moment: 'before' },
    { at: /delete from daywalk\.pages/, count: 1, moment: 'after' },
    { at: /update daywalk\.prunings/, count: 1, moment: 'before' },
    { at: /daywalk\.empty_month/, count: 2, moment: 'after' },
  ]);
  await scene.succeed(['verify', '--offline'], EVENTS);
});
