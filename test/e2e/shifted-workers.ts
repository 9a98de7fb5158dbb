/** Workers whose clocks are not those of the database. */
import { expect } from 'vitest';
import { until } from '../support/condition.ts';
import { daysAgo } from '../support/days.ts';
import { closeGate } from '../support/gate.ts';
import { expectExact } from '../support/multiset.ts';
import { askedAgain } from '../support/requests.ts';
import { setScene } from '../support/scene.ts';

const PRELOAD = new URL('../support/shifted-clock.mjs', import.meta.url).href;
export const HOUR = 3_600_000;
const DAYS = daysAgo(3, 1);

/** Two runs whose clocks are so far off do what they would do with good ones (I2, I8). */
export async function expectNoChange(shifts: readonly [number, number]): Promise<void> {
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
  for (const [index, { ended }] of programs.entries()) {
    const { code, stderr } = await ended;
    expect(code).toBe(0);
    // The shifted clock is shifted.
    const told = /"time":"([^"]+)"/.exec(stderr)?.[1] ?? '';
    expect(Math.abs(Date.parse(told) - Date.now() - (shifts[index] ?? 0))).toBeLessThan(HOUR);
  }
  await expectExact(scene, DAYS);
  expect(
    await scene.database.query(
      `select day::text from daywalk.windows where kind <> 'cut' and day not between $1 and $2`,
      [DAYS.from, DAYS.to],
    ),
  ).toEqual([]);
  expect(askedAgain(scene.api.requests)).toEqual(new Map());
}
