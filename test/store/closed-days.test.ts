/** Two places know when a day is closed, the planner and the coverage view: they agree in every zone, at every instant (I8). */
import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { parseTimezone } from '../../src/config/timezone.ts';
import { addDays, lastClosedDay } from '../../src/plan/days.ts';
import { DAY_MS, ZONES, zoneAndInstant } from '../plan/zones.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let server: TestDatabase;
beforeAll(async () => {
  server = await createTestDatabase();
  await server.query(
    `insert into daywalk.streams (name, resource, filters, fingerprint, since, time_zone, settle)
     values ('events', 'events', '{}', '', '2000-01-01', 'UTC', interval '0')`,
  );
});

/** The newest day that the coverage view has at the instant: the clock cannot be set, so the settle delay is. */
async function lastCovered(timeZone: string, now: number): Promise<string> {
  // Nine days before and none after, so that the view has few rows.
  const since = new Date(now - 9 * DAY_MS).toISOString().slice(0, 10);
  await server.query(
    `update daywalk.streams set time_zone = $1, since = $2, settle = clock_timestamp() - to_timestamp($3::double precision / 1000)`,
    [timeZone, since, now],
  );
  const [row] = await server.query<{ day: string }>(
    'select max(day)::text as day from daywalk.coverage',
  );
  return row?.day ?? 'none';
}

/** The view's clock runs on for as long as the statements take. */
const SLACK_MS = 2_000;
/** Newfoundland set its clocks back at 00:01 until 2011: for a minute the next day had begun, then it had not. */
const midnightComesTwice = (timeZone: string, now: number) =>
  timeZone === 'America/St_Johns' && now < Date.UTC(2012, 0, 1);

it('at any instant, and around every change of the clocks', { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(zoneAndInstant, async ({ timeZone, now }) => {
      fc.pre(now < Date.now() - DAY_MS);
      fc.pre(!midnightComesTwice(timeZone, now));
      const planned = [lastClosedDay(now, timeZone, 0), lastClosedDay(now + SLACK_MS, timeZone, 0)];
      expect(planned).toContain(await lastCovered(timeZone, now));
    }),
    { numRuns: 300 },
  );
});

it('around midnight of every zone that Node knows, in winter and in summer', {
  timeout: 120_000,
}, async () => {
  const disagreements: string[] = [];
  for (const timeZone of Intl.supportedValuesOf('timeZone')) {
    for (const day of [Date.UTC(2026, 0, 15), Date.UTC(2026, 6, 15)]) {
      const midnight = endOf(timeZone, day);
      for (const now of [midnight - 5_000, midnight + 1_000]) {
        const covered = await lastCovered(timeZone, now);
        const planned = lastClosedDay(now, timeZone, 0);
        if (covered !== planned)
          disagreements.push(
            `${timeZone} at ${new Date(now).toISOString()}: planner ${planned}, view ${covered}`,
          );
      }
    }
  }
  expect(disagreements).toEqual([]);
});

/** When the day in which `at` falls ends in the zone. */
function endOf(timeZone: string, at: number): number {
  const next = addDays(lastClosedDay(at, timeZone, 0), 1);
  let [before, after] = [at, at + 2 * DAY_MS];
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (lastClosedDay(middle, timeZone, 0) >= next) after = middle;
    else before = middle;
  }
  return after;
}

it('for every name of a zone that the settings take, also the short and the old ones', async () => {
  const names = [
    'CET',
    'EET',
    'CST',
    'EST',
    'EST5EDT',
    'GB',
    'GMT',
    'GMT+0',
    'HST',
    'IST',
    'BST',
    'JST',
    'MET',
    'MSK',
    'MST',
    'MST7MDT',
    'PST',
    'PST8PDT',
    'ROC',
    'ROK',
    'UCT',
    'UTC',
    'WET',
    'Zulu',
    'Japan',
    'Singapore',
    'Etc/GMT-14',
    'Etc/GMT+12',
    'ACT',
    'AET',
    'AST',
    'ECT',
    'NST',
    'PRT',
    'SST',
    'VST',
    'US/Pacific',
    'Asia/Calcutta',
    'europe/berlin',
    'utc',
    ...ZONES,
  ];
  const disagreements: string[] = [];
  for (const name of names) {
    const zone = parseTimezone(name);
    if (typeof zone !== 'string') continue;
    for (let hour = 0; hour < 24; hour++) {
      const now = Date.UTC(2026, 6, 15, hour, 30);
      const covered = await lastCovered(zone, now).catch((error: Error) => error.message);
      const planned = lastClosedDay(now, zone, 0);
      if (covered !== planned)
        disagreements.push(
          `${name} (${zone}) at ${new Date(now).toISOString()}: planner ${planned}, view ${covered}`,
        );
    }
  }
  expect(disagreements).toEqual([]);
});
