/** The setting `rate` holds for all workers of a database together; a limit that is found holds for each. */
import { expect, test } from 'vitest';
import { expectExact } from '../support/multiset.ts';
import { setScene } from '../support/scene.ts';

const DAYS = { from: '2026-03-01', to: '2026-03-02' };
const DAY = DAYS.from;
const BACKFILL = ['backfill', '--from', DAYS.from, '--to', DAYS.to];

test('three workers that share a rate are not refused', async () => {
  const perSecond = 25;
  // All twelve that may be under way come at once when the server stands still for a moment, and a few that are late.
  const scene = await setScene({
    eventsPerDay: 60,
    rateLimit: { perSecond, burst: 16, retryAfter: 'none' },
  });
  const rate = {
    DAYWALK_RATE: `${perSecond * 60}/m`,
    DAYWALK_STREAMS: 'events',
    DAYWALK_PAGE_LENGTH: '5',
  };
  const [{ now } = {}] = await scene.database.query('select clock_timestamp()::text as now');
  const workers = Array.from({ length: 3 }, () => scene.start(BACKFILL, rate));
  for (const { ended } of workers) expect(await ended).toMatchObject({ code: 0 });
  await expectExact(scene, DAYS, ['events']);
  const { requests, byStatus } = scene.api.counts;
  expect(byStatus).toEqual({ 200: requests });
  // More than are let through at once.
  expect(requests).toBeGreaterThan(16);
  // Nor only because the machine is slow: all of them have taken their slots from one row.
  expect(
    await scene.database.query(
      `select next_slot >= $1::timestamptz + make_interval(secs => $2::double precision) as spent from daywalk.rates`,
      [now, requests / perSecond],
    ),
  ).toEqual([{ spent: true }]);
});

test('a limit that nobody told is found; the report says so', async () => {
  // So few that a slow machine asks for more, too.
  const rateLimit = { perSecond: 5, burst: 3, retryAfter: 'none' } as const;
  const scene = await setScene({ rateLimit, eventsPerDay: 40 });
  const ended = await scene.succeed(['backfill', '--from', DAY, '--to', DAY, '--json'], {
    DAYWALK_STREAMS: 'events',
  });
  await expectExact(scene, { from: DAY, to: DAY }, ['events']);
  const { limits } = JSON.parse(ended.stdout);
  const refused = scene.api.counts.byStatus[429] ?? 0;
  expect(limits).toMatchObject({ most: 4, requests: scene.api.counts.requests, refused });
  expect(refused).toBeGreaterThan(0);
  // Without a limiter each window would knock on its own.
  expect(refused).toBeLessThan(15);
});
