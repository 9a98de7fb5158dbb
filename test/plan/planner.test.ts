/** The planner: which windows are missing, for any store, at any instant, in any zone. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Day, DayRange } from '../../src/model.ts';
import { addDays, closesAt, daysBetween, dayWindow, lastClosedDay } from '../../src/plan/days.ts';
import { type PlanInput, plan } from '../../src/plan/planner.ts';
import { leastCpu } from './least-cpu.ts';
import { DAY_MS, settle, zoneAndInstant } from './zones.ts';

/** A stream around `now`: spans of days with windows, in any order, some of them before `since`, not closed, or twice. */
const input: fc.Arbitrary<PlanInput> = fc
  .record({ place: zoneAndInstant, settleMs: settle })
  .chain(({ place: { timeZone, now }, settleMs }) => {
    const today = lastClosedDay(now, timeZone, settleMs);
    const dayNear = fc.integer({ min: -20, max: 3 }).map((by) => addDays(today, by));
    const span = fc
      .tuple(dayNear, fc.integer({ min: 0, max: 6 }))
      .map(([from, more]): DayRange => ({ from, to: addDays(from, more) }));
    return fc.record({
      since: dayNear,
      until: fc.option(dayNear),
      known: fc.array(span, { maxLength: 6 }),
      timeZone: fc.constant(timeZone),
      settleMs: fc.constant(settleMs),
      now: fc.constant(now),
    });
  });

const daysOf = (known: readonly DayRange[]): Set<Day> =>
  new Set(known.flatMap(({ from, to }) => daysBetween(from, to)));
const wantedDays = ({ since, until, timeZone, settleMs, now }: PlanInput): Day[] =>
  daysBetween(since, lastClosedDay(now, timeZone, settleMs)).filter((day) => day <= (until ?? day));
const planned = (given: PlanInput): Day[] => plan(given).map(({ day }) => day);
/** What is known once every planned window is made. */
const made = (given: PlanInput): DayRange[] => [
  ...given.known,
  ...planned(given).map((day) => ({ from: day, to: day })),
];

function check(property: (input: PlanInput, days: Day[]) => void, numRuns = 500): void {
  fc.assert(
    fc.property(input, (given) => property(given, planned(given))),
    { numRuns },
  );
}

describe('what is missing', () => {
  it('is exactly the closed days from since to until that have no window, oldest first', () => {
    check((given, days) => {
      const there = daysOf(given.known);
      expect(days).toEqual(wantedDays(given).filter((day) => !there.has(day)));
    });
  });

  it('is given as whole days', () => {
    check((given, days) => {
      expect(plan(given)).toEqual(days.map(dayWindow));
    }, 100);
  });

  it('never holds a day that is not closed (I8)', () => {
    check(({ timeZone, settleMs, now }, days) => {
      for (const day of days) expect(closesAt(day, timeZone, settleMs)).toBeLessThanOrEqual(now);
    }, 1000);
  });

  it('with what is known tiles the days from since to until without gap or overlap', () => {
    check((given, days) => {
      const there = daysOf(given.known);
      expect(new Set(days).size).toBe(days.length);
      for (const day of days) expect(there).not.toContain(day);
      for (const day of wantedDays(given)) expect(there.has(day) || days.includes(day)).toBe(true);
    });
  });

  it('from an empty store is one window a day, the next beginning one second after the last', () => {
    fc.assert(
      fc.property(
        zoneAndInstant,
        settle,
        fc.integer({ min: 0, max: 400 }),
        ({ timeZone, now }, settleMs, count) => {
          const last = lastClosedDay(now, timeZone, settleMs);
          const since = addDays(last, -count);
          const windows = plan({ since, until: null, known: [], timeZone, settleMs, now });
          expect(windows).toHaveLength(count + 1);
          expect(windows[0]?.from).toBe(`${since} 00:00:00`);
          expect(windows.at(-1)?.to).toBe(`${last} 23:59:59`);
          windows.forEach((window, i) => {
            const next = windows[i + 1]?.from;
            // The wall clock's seconds, read as UTC: text, not instants.
            const end = Date.parse(`${window.to.replace(' ', 'T')}Z`);
            if (next) expect(Date.parse(`${next.replace(' ', 'T')}Z`) - end).toBe(1000);
          });
        },
      ),
      { numRuns: 60 },
    );
  });

  it('ends with the calendar', () => {
    const span = { from: '9999-12-30', to: '9999-12-31' };
    const calendar = { timeZone: 'UTC', settleMs: 0, now: Date.parse('9999-12-31T12:00:00Z') };
    expect(plan({ since: '9999-12-29', until: null, known: [span], ...calendar })).toEqual([
      dayWindow('9999-12-29'),
    ]);
  });
});

describe('planning again', () => {
  it('gives nothing once the windows are made, whatever becomes of them', () => {
    check((given) => {
      expect(plan({ ...given, known: made(given) })).toEqual([]);
    });
  });

  it('gives the same for the same input, in whatever order it is told, and changes nothing of it', () => {
    check((given, days) => {
      const copy = structuredClone(given);
      expect(planned(given)).toEqual(days);
      expect(planned({ ...given, known: given.known.toReversed() })).toEqual(days);
      expect(given).toEqual(copy);
    }, 100);
  });

  it('later gives all that was missing before, and what has closed since', () => {
    fc.assert(
      fc.property(input, fc.integer({ min: 0, max: 3 * DAY_MS }), (given, later) => {
        const before = planned(given);
        expect(planned({ ...given, now: given.now + later }).slice(0, before.length)).toEqual(
          before,
        );
      }),
      { numRuns: 500 },
    );
  });

  it('after a week of downtime gives the whole week, oldest first', () => {
    const known = [{ from: '2024-03-01', to: '2024-03-07' }];
    const now = Date.parse('2024-03-15T00:10:00-04:00');
    const calendar = { timeZone: 'America/New_York', settleMs: 600_000, now };
    expect(planned({ since: '2024-03-01', until: null, known, ...calendar })).toEqual(
      daysBetween('2024-03-08', '2024-03-14'),
    );
  });
});

describe('the cost', () => {
  const days = daysBetween('2014-01-01', '2023-12-31');
  const every = { from: '2014-01-01', to: '2023-12-31' };
  const weeks = days
    .filter((_, i) => i % 7 === 0)
    .map((day) => ({ from: day, to: addDays(day, 5) }));

  it.each<[string, readonly DayRange[], number]>([
    ['no day known', [], days.length],
    ['all known', [every], 0],
    ['one missing every week', weeks, Math.floor(days.length / 7)],
  ])(
    'of ten years with %s grows with the days, not with their square, or is below 100 ms in all',
    (_, known, expected) => {
      const now = Date.parse('2024-01-01T02:00:00Z');
      const calendar = { until: null, timeZone: 'UTC', settleMs: 0, now };
      const lastYear = known.filter(({ to }) => to >= '2023-01-01');
      const { short, whole } = leastCpu({
        short: () => {
          for (let stream = 0; stream < 200; stream += 1)
            plan({ ...calendar, since: '2023-01-01', known: lastYear });
        },
        whole: () => {
          for (let stream = 0; stream < 20; stream += 1)
            expect(plan({ ...calendar, since: '2014-01-01', known })).toHaveLength(expected);
        },
      });
      expect(whole).toBeLessThan(Math.max(100, 5 * short));
    },
  );
});
