/** Two places know when a day is closed, the planner and the coverage view (I8): instants at which they could disagree. */
import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { addDays, lastClosedDay } from '../../src/plan/days.ts';
import { parseTimezone } from '../../src/settings/values/time.ts';
import { DAY_MS, ZONES, zoneAndInstant } from '../plan/zones.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let server: TestDatabase;

/** An instant, as the clock of a stream in the zone is to show it. */
interface Instant {
  readonly timeZone: string;
  readonly now: number;
}

/**
 * The instants at which planner and view disagree about the newest closed day. The clock of the view cannot be set, so the
 * settle delay is; it runs on for as long as the statements take, so the planner is asked for both ends of that time.
 */
async function disagreements(instants: readonly Instant[]): Promise<string[]> {
  await server.query('delete from daywalk.streams');
  const began = performance.now();
  // Nine days before and none after, so that the view has few rows.
  await server.query(
    `insert into daywalk.streams (name, resource, filters, fingerprint, since, time_zone, settle)
     select n::text, 'events', '{}', '', since, time_zone, clock_timestamp() - to_timestamp(now / 1000)
       from unnest($1::text[], $2::date[], $3::double precision[]) with ordinality as i (time_zone, since, now, n)`,
    [
      instants.map(({ timeZone }) => timeZone),
      instants.map(({ now }) => new Date(now - 9 * DAY_MS).toISOString().slice(0, 10)),
      instants.map(({ now }) => now),
    ],
  );
  const rows = await server.query<{ stream: string; day: string }>(
    'select stream, max(day)::text as day from daywalk.coverage group by stream',
  );
  const took = Math.ceil(performance.now() - began) + 1;
  const covered = new Map(rows.map(({ stream, day }) => [stream, day]));
  return instants.flatMap(({ timeZone, now }, index) => {
    const view = covered.get(`${index + 1}`) ?? 'none';
    const planner = [now, now + took].map((at) => lastClosedDay(at, timeZone, 0));
    return planner.includes(view)
      ? []
      : [`${timeZone} at ${new Date(now).toISOString()}: planner ${planner}, view ${view}`];
  });
}

/** Newfoundland set its clocks back at 00:01 until 2011: for a minute the next day had begun, then it had not. */
const midnightComesTwice = ({ timeZone, now }: Instant) =>
  timeZone === 'America/St_Johns' && now < Date.UTC(2012, 0, 1);

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

/**
 * Planner and view agree.
 * @param runs of ten random instants each.
 * @param step every so-manieth zone around its midnights, and hour for names of zones.
 */
export function plannerAndViewAgree({
  runs,
  step,
}: {
  readonly runs: number;
  readonly step: number;
}): void {
  beforeAll(async () => {
    server = await createTestDatabase();
  });

  it('at any instant, and around every change of the clocks', { timeout: 120_000 }, async () => {
    const instant = zoneAndInstant.filter(
      (drawn) => drawn.now < Date.now() - DAY_MS && !midnightComesTwice(drawn),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(instant, { minLength: 10, maxLength: 10 }), async (instants) => {
        expect(await disagreements(instants)).toEqual([]);
      }),
      { numRuns: runs },
    );
  });

  it('around midnight of every zone that Node knows, in winter and in summer', {
    timeout: 120_000,
  }, async () => {
    for (const day of [Date.UTC(2026, 0, 15), Date.UTC(2026, 6, 15)]) {
      const midnights = Intl.supportedValuesOf('timeZone')
        .filter((_, at) => at % step === 0)
        .map((timeZone) => ({
          timeZone,
          now: endOf(timeZone, day),
        }));
      for (const ms of [-5_000, 1_000])
        expect(
          await disagreements(midnights.map(({ timeZone, now }) => ({ timeZone, now: now + ms }))),
        ).toEqual([]);
    }
  });

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
    const zones = names.map(parseTimezone).filter((zone) => typeof zone === 'string');
    for (let hour = 0; hour < 24; hour += step) {
      const now = Date.UTC(2026, 6, 15, hour, 30);
      expect(await disagreements(zones.map((timeZone) => ({ timeZone, now })))).toEqual([]);
    }
  });
}
