/** The planner: what is due, for any store, at any instant, in any zone. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PURPOSES, WINDOW_STATES } from '../../src/model.ts';
import { addDays, closesAt, daysBetween, lastClosedDay } from '../../src/plan/days.ts';
import {
  type KnownWindow,
  type PlanInput,
  type PlannedWindow,
  plan,
} from '../../src/plan/planner.ts';
import { DAY_MS, settle, zoneAndInstant } from './zones.ts';

/** A store of some streams: around `now`, days with and without windows, some of them before `since` or not closed. */
const input: fc.Arbitrary<PlanInput> = fc
  .record({ place: zoneAndInstant, settleMs: settle })
  .chain(({ place: { timeZone, now }, settleMs }) => {
    const today = lastClosedDay(now, timeZone, settleMs);
    const retryAt = fc.option(fc.integer({ min: now - DAY_MS, max: now + DAY_MS }));
    const window: fc.Arbitrary<KnownWindow> = fc.record({
      state: fc.constantFrom(...WINDOW_STATES),
      purpose: fc.constantFrom(...PURPOSES),
      retryAt: fc.oneof(retryAt, fc.constantFrom(now, now - 1, now + 1)),
    });
    const dayNear = fc.integer({ min: -20, max: 3 }).map((by) => addDays(today, by));
    const known = fc
      .array(fc.tuple(dayNear, window), { maxLength: 15 })
      .map((entries) => new Map(entries));
    const stream = fc.record({ since: dayNear, known });
    const streams = fc
      .array(stream, { maxLength: 4 })
      .map((list) => list.map((one, i) => ({ name: `stream-${i}`, ...one })));
    return fc.record({
      streams,
      timeZone: fc.constant(timeZone),
      settleMs: fc.constant(settleMs),
      now: fc.constant(now),
    });
  });

const key = ({ stream, window }: PlannedWindow): string => `${stream} ${window.day}`;

/** The store after `change` was made to each planned window. */
function storeAfter(
  before: PlanInput,
  planned: readonly PlannedWindow[],
  change: Pick<KnownWindow, 'state'>,
): PlanInput {
  const streams = before.streams.map((stream) => {
    const known = new Map(stream.known);
    for (const { stream: name, window, purpose } of planned) {
      if (name === stream.name) known.set(window.day, { ...change, purpose, retryAt: null });
    }
    return { ...stream, known };
  });
  return { ...before, streams };
}

function check(
  property: (input: PlanInput, planned: PlannedWindow[]) => void,
  numRuns = 500,
): void {
  fc.assert(
    fc.property(input, (given) => property(given, plan(given))),
    { numRuns },
  );
}

describe('what is due', () => {
  it('is exactly: closed days from since without a window, pending ones, and failed ones whose time has come', () => {
    check((given, planned) => {
      const last = lastClosedDay(given.now, given.timeZone, given.settleMs);
      const expected = given.streams.flatMap(({ name, since, known }) => [
        ...daysBetween(since, last)
          .filter((day) => !known.has(day))
          .map((day) => `${name} ${day} missing scheduled`),
        ...[...known]
          .filter(([day]) => day <= last)
          .filter(
            ([, { state, retryAt }]) =>
              state === 'pending' ||
              (state === 'failed' && retryAt !== null && retryAt <= given.now),
          )
          .map(([day, { state, purpose }]) => `${name} ${day} ${state} ${purpose}`),
      ]);
      const got = planned.map((one) => `${key(one)} ${one.found} ${one.purpose}`);
      expect(got.toSorted()).toEqual(expected.toSorted());
    });
  });

  it('never holds a day that is not closed (I8)', () => {
    check(({ timeZone, settleMs, now }, planned) => {
      for (const { window } of planned) {
        expect(closesAt(window.day, timeZone, settleMs)).toBeLessThanOrEqual(now);
      }
    }, 1000);
  });

  it('with what is known tiles the days from since without gap or overlap', () => {
    check((given, planned) => {
      const last = lastClosedDay(given.now, given.timeZone, given.settleMs);
      for (const { name, since, known } of given.streams) {
        const mine = planned.filter(({ stream }) => stream === name);
        expect(new Set(mine.map(key)).size).toBe(mine.length);
        const days = new Set([...known.keys(), ...mine.map(({ window }) => window.day)]);
        for (const day of daysBetween(since, last)) expect(days).toContain(day);
      }
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
          const stream = { name: 's', since, known: new Map() };
          const planned = plan({ streams: [stream], timeZone, settleMs, now });
          expect(planned).toHaveLength(count + 1);
          expect(planned[0]?.window.from).toBe(`${since} 00:00:00`);
          expect(planned.at(-1)?.window.to).toBe(`${last} 23:59:59`);
          planned.forEach(({ window }, i) => {
            const next = planned[i + 1]?.window.from;
            // The wall clock's seconds, read as UTC: text, not instants.
            const end = Date.parse(`${window.to.replace(' ', 'T')}Z`);
            if (next) expect(Date.parse(`${next.replace(' ', 'T')}Z`) - end).toBe(1000);
          });
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe('planning again', () => {
  it('gives nothing after all are complete, or split', () => {
    check((given, planned) => {
      expect(plan(storeAfter(given, planned, { state: 'complete' }))).toEqual([]);
      expect(plan(storeAfter(given, planned, { state: 'split' }))).toEqual([]);
    });
  });

  it('gives the same windows in the same order while the first plan is pending', () => {
    check((given, planned) => {
      const again = plan(storeAfter(given, planned, { state: 'pending' }));
      expect(again.map(key)).toEqual(planned.map(key));
      expect(again.every(({ found }) => found === 'pending')).toBe(true);
    });
  });

  it('gives the same for the same input, and changes nothing of it', () => {
    check((given, planned) => {
      const copy = structuredClone(given);
      expect(plan(given)).toEqual(planned);
      expect(given).toEqual(copy);
    }, 100);
  });

  it('later gives all that was due before', () => {
    fc.assert(
      fc.property(input, fc.integer({ min: 0, max: 3 * DAY_MS }), (given, later) => {
        const due = new Set(plan({ ...given, now: given.now + later }).map(key));
        for (const one of plan(given)) expect(due).toContain(key(one));
      }),
      { numRuns: 500 },
    );
  });

  it('after a week of downtime gives the whole week, oldest first', () => {
    const done = { state: 'complete', purpose: 'scheduled', retryAt: null } as const;
    const known = new Map(daysBetween('2024-03-01', '2024-03-07').map((day) => [day, done]));
    const streams = [{ name: 's', since: '2024-03-01', known }];
    const now = Date.parse('2024-03-15T00:10:00-04:00');
    const planned = plan({ streams, timeZone: 'America/New_York', settleMs: 600_000, now });
    expect(planned.map(({ window }) => window.day)).toEqual(
      daysBetween('2024-03-08', '2024-03-14'),
    );
  });
});

describe('the order', () => {
  it('is by purpose, then the oldest day, then the streams as they are given', () => {
    check((_, planned) => {
      const rank = (one: PlannedWindow): string =>
        `${PURPOSES.indexOf(one.purpose)} ${one.window.day} ${one.stream}`;
      expect(planned.map(rank)).toEqual(planned.map(rank).toSorted());
    });
  });

  it('keeps scheduled work before a backfill of any size', () => {
    const known = new Map(
      daysBetween('2020-01-01', '2023-12-31').map((day) => [
        day,
        { state: 'pending', purpose: 'backfill', retryAt: null } as const,
      ]),
    );
    const streams = [{ name: 's', since: '2024-01-01', known }];
    const now = Date.parse('2024-01-03T00:00:00Z');
    const planned = plan({ streams, timeZone: 'UTC', settleMs: 0, now });
    expect(planned.slice(0, 3).map(({ window, purpose }) => [window.day, purpose])).toEqual([
      ['2024-01-01', 'scheduled'],
      ['2024-01-02', 'scheduled'],
      ['2020-01-01', 'backfill'],
    ]);
  });
});

describe('the cost', () => {
  const days = daysBetween('2014-01-01', '2023-12-31');
  const now = Date.parse('2024-01-01T02:00:00Z');
  const streamsOf = (known: ReadonlyMap<string, KnownWindow>) =>
    Array.from({ length: 20 }, (_, i) => ({ name: `stream-${i}`, since: '2014-01-01', known }));

  it.each<[string, ReadonlyMap<string, KnownWindow>, number]>([
    ['an empty store', new Map(), 20 * days.length],
    [
      'a full store',
      new Map(days.map((d) => [d, { state: 'complete', purpose: 'scheduled', retryAt: null }])),
      0,
    ],
  ])('of ten years of 20 streams with %s is below 100 ms', (_, known, expected) => {
    const times = Array.from({ length: 5 }, () => {
      // Of the processor, because other processes want it too.
      const start = process.cpuUsage();
      const planned = plan({ streams: streamsOf(known), timeZone: 'UTC', settleMs: 0, now });
      expect(planned).toHaveLength(expected);
      return process.cpuUsage(start).user / 1000;
    });
    // The quickest run: what the others had more is the machine's, not the planner's.
    expect(Math.min(...times)).toBeLessThan(100);
  });
});
