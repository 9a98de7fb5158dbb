/** Workers whose clocks are hours or days off: leases, closed days and due days are the database's business. */
import { expect, test } from 'vitest';
import { until } from '../support/condition.ts';
import { dayAgo, daysAgo } from '../support/days.ts';
import { closeGate } from '../support/gate.ts';
import { expectExact } from '../support/multiset.ts';
import { askedAgain } from '../support/requests.ts';
import { setScene } from '../support/scene.ts';

const PRELOAD = new URL('../support/shifted-clock.mjs', import.meta.url).href;
const HOUR = 3_600_000;
const DAYS = daysAgo(5, 1);

test.each([
  { shifts: [-27 * HOUR, 27 * HOUR], name: 'a day behind and a day ahead' },
  { shifts: [-400 * 24 * HOUR, 5 * HOUR], name: 'a year behind and five hours ahead' },
])('clocks that are $name change nothing (I2, I8)', async ({ shifts }) => {
  // Nobody gets a page before both have claimed.
  const gate = closeGate();
  const respond = () => gate.passed.then(() => undefined);
  const scene = await setScene({ latency: [5, 20], eventsPerDay: 90, respond });
  const programs = shifts.map((shift) =>
    scene.start(['run'], {
      NODE_OPTIONS: `--import=${PRELOAD}`,
      TEST_CLOCK_SHIFT_MS: String(shift),
      DAYWALK_SINCE: DAYS.from,
      DAYWALK_SETTLE: '0s',
      DAYWALK_CONCURRENCY: '2',
    }),
  );
  const leases = () =>
    scene.database.query<{ owners: number; least: number; most: number }>(
      `select count(distinct lease_owner)::int as owners,
              min(extract(epoch from lease_expires - clock_timestamp()))::float as least,
              max(extract(epoch from lease_expires - clock_timestamp()))::float as most
         from daywalk.windows where lease_id is not null`,
    );
  const [held] = await until('both to hold windows', async () => {
    const rows = await leases();
    return rows[0]?.owners === 2 ? rows : undefined;
  });
  // The lease lasts a minute, by the clock of the database.
  expect(held?.least).toBeGreaterThan(30);
  expect(held?.most).toBeLessThanOrEqual(60);
  gate.open();
  for (const { ended } of programs) expect(await ended).toMatchObject({ code: 0 });
  await expectExact(scene, DAYS);
  expect(
    await scene.database.query(
      `select day::text from daywalk.windows where kind <> 'cut' and day not between $1 and $2`,
      [DAYS.from, DAYS.to],
    ),
  ).toEqual([]);
  expect(askedAgain(scene.api.requests)).toEqual(new Map());
});

test('the shifted clock is shifted', async () => {
  const scene = await setScene({ eventsPerDay: 0 });
  const { stderr } = await scene.succeed(['run'], {
    NODE_OPTIONS: `--import=${PRELOAD}`,
    TEST_CLOCK_SHIFT_MS: String(27 * HOUR),
    DAYWALK_SINCE: dayAgo(1),
    DAYWALK_SETTLE: '0s',
  });
  const told = /"time":"([^"]+)"/.exec(stderr)?.[1] ?? '';
  expect(Math.abs(Date.parse(told) - Date.now() - 27 * HOUR)).toBeLessThan(HOUR);
});
