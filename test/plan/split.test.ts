/** The splitter: parts tile their span, without a gap and without a shared second, and cutting comes to an end. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Span, TimeSpan } from '../../src/model.ts';
import { dayWindow } from '../../src/plan/days.ts';
import {
  around,
  partsWanted,
  splitByLevel,
  splitByTime as splitByTimeWithin,
  split as splitWithin,
  unclearTimes,
} from '../../src/plan/split.ts';
import { wallClock, ZONES, zoneAndInstant } from './zones.ts';

const open = (from: string, to: string): Span => ({ from, to, levelFrom: null, levelTo: null });
const secondOf = (time: string) => Date.parse(`${time.replace(' ', 'T')}Z`) / 1000;
const textOf = (second: number) =>
  new Date(second * 1000).toISOString().slice(0, 19).replace('T', ' ');
const wholeDay = (day: string) => open(dayWindow(day).from, dayWindow(day).to);

/** As requests reach at first. */
const REACH = 120;
const split = (whole: Span, count: number, unclear: readonly TimeSpan[], least = 2) =>
  splitWithin(whole, count, unclear, least, REACH);
const splitByTime = (whole: Span, count: number, unclear: readonly TimeSpan[]) =>
  splitByTimeWithin(whole, count, unclear, REACH);

/** A span of a day. */
const span = fc
  .tuple(
    fc.constantFrom('2026-03-05', '2024-02-29', '2025-12-31', '0001-01-02'),
    fc.nat(86_399),
    fc.nat(86_399),
  )
  .map(([day, one, other]) => {
    const midnight = secondOf(`${day} 00:00:00`);
    const [from, to] = [Math.min(one, other), Math.max(one, other)];
    return open(textOf(midnight + from), textOf(midnight + to));
  });
const parts = fc.integer({ min: 2, max: 500 });

/** That the parts tile the span, each smaller than it. */
function expectCut(whole: Span, pieces: readonly Span[]): void {
  expect(pieces.length).toBeGreaterThan(1);
  expect(pieces[0]?.from).toBe(whole.from);
  expect(pieces.at(-1)?.to).toBe(whole.to);
  const lengthOf = ({ from, to }: Span) => secondOf(to) - secondOf(from);
  // One expectation for all: there are hundreds of pieces, hundreds of times.
  const wrong = pieces.filter((piece, index) => {
    const next = pieces[index + 1];
    const isSmaller = piece.from <= piece.to && lengthOf(piece) < lengthOf(whole);
    return !isSmaller || (next !== undefined && secondOf(next.from) !== secondOf(piece.to) + 1);
  });
  expect(wrong).toEqual([]);
}

/** Cuts again and again. Returns the pieces that can be cut no further. */
function atoms(whole: Span, count: number, unclear: readonly TimeSpan[], depth = 0): Span[] {
  expect(depth).toBeLessThan(30);
  const cut = split(whole, count, unclear);
  return cut === null
    ? [whole]
    : cut.parts.flatMap((part) => atoms(part, count, unclear, depth + 1));
}

describe('parts by time', () => {
  it('tile the span and are smaller; two seconds can always be cut', () => {
    fc.assert(
      fc.property(span, parts, (whole, count) => {
        const cut = splitByTime(whole, count, []);
        const length = secondOf(whole.to) - secondOf(whole.from);
        if (cut === null) expect(length).toBe(0);
        else {
          expect(cut.by).toBe('time');
          expectCut(whole, cut.parts);
          expect(cut.parts.length).toBeLessThanOrEqual(count);
          expect(cut.parts.every((p) => p.levelFrom === null && p.levelTo === null)).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('are about as long as each other', () => {
    const cut = splitByTime(wholeDay('2026-03-05'), 7, []);
    const lengths = cut?.parts.map(({ from, to }) => secondOf(to) - secondOf(from)) ?? [];
    expect(Math.max(...lengths) - Math.min(...lengths)).toBeLessThanOrEqual(1);
  });

  it('are none of a span that is cut by level already', () => {
    expect(splitByTime({ ...wholeDay('2026-03-05'), levelTo: 7 }, 2, [])).toBeNull();
    expect(splitByTime({ ...wholeDay('2026-03-05'), levelFrom: 8 }, 2, [])).toBeNull();
  });

  it('are of levels in a second, and in a span that is too short to be cut by time', () => {
    const second = '2026-03-05 12:00:00';
    expect(splitByTime(open(second, second), 2, [])).toBeNull();
    expect(split(open(second, second), 2, [])?.by).toBe('level');
    const minute = open(second, '2026-03-05 12:00:59');
    expect(split(minute, 2, [])?.by).toBe('time');
    expect(split(minute, 2, [], 480)?.by).toBe('level');
  });

  it('have spans around the second before a cut, also over midnight', () => {
    expect(around('2025-12-31 23:59:59', -1, 2)).toEqual(
      open('2025-12-31 23:59:58', '2026-01-01 00:00:01'),
    );
  });
});

describe('clocks that are set back or forward', () => {
  /** Quarters of the day that the clocks show twice or never, sampled by an oracle that does not know the code. */
  const unclearQuarters = (day: string, timeZone: string): Set<number> => {
    const from = Date.parse(`${day}T00:00:00Z`) - 20 * 3_600_000;
    const hours = new Map<string, number>();
    for (let at = from; at < from + 64 * 3_600_000; at += 900_000) {
      const shown = wallQuarter(at, timeZone);
      hours.set(shown, (hours.get(shown) ?? 0) + 1);
    }
    const midnight = secondOf(`${day} 00:00:00`);
    const quarters = Array.from({ length: 96 }, (_, quarter) => midnight + quarter * 900);
    const shown = new Map([...hours].map(([text, times]) => [secondOf(text), times]));
    return new Set(quarters.filter((second) => shown.get(second) !== 1));
  };

  it('never get a boundary into a time that they show twice or skip, in any zone, on any day', () => {
    let met = 0;
    fc.assert(
      fc.property(zoneAndInstant, parts, ({ timeZone, now }, count) => {
        const { day } = wallClock(now, timeZone);
        const unclear = unclearTimes(day, timeZone);
        const stretches = unclear.map(({ from, to }) => [secondOf(from), secondOf(to)] as const);
        met += stretches.length;
        const cut = splitByTime(wholeDay(day), count, unclear);
        expectCut(wholeDay(day), cut?.parts ?? []);
        const boundaries = [
          ...(cut?.parts.slice(0, -1).map(({ to }) => to) ?? []),
          ...(cut?.parts.slice(1).map(({ from }) => from) ?? []),
        ];
        const isUnclear = (time: string) =>
          stretches.some(([first, last]) => secondOf(time) >= first && secondOf(time) <= last);
        expect(boundaries.filter(isUnclear)).toEqual([]);
      }),
      { numRuns: 400 },
    );
    expect(met).toBeGreaterThan(5);
  });

  it('are found as Intl shows them, quarter by quarter', { timeout: 120_000 }, () => {
    fc.assert(
      fc.property(zoneAndInstant, ({ timeZone, now }) => {
        const { day } = wallClock(now, timeZone);
        // Newfoundland changed its clocks at 00:01 until 2011, which quarters do not show.
        fc.pre(timeZone !== 'America/St_Johns' || now > Date.UTC(2012, 0, 1));
        const unclear = unclearTimes(day, timeZone);
        const inside = (second: number) =>
          unclear.some(({ from, to }) => second >= secondOf(from) && second <= secondOf(to));
        const midnight = secondOf(`${day} 00:00:00`);
        const found = new Set<number>();
        for (let second = midnight; second < midnight + 86_400; second += 900)
          if (inside(second)) found.add(second);
        expect({ timeZone, day, found: [...found] }).toEqual({
          timeZone,
          day,
          found: [...unclearQuarters(day, timeZone)].sort((a, b) => a - b),
        });
      }),
      { numRuns: 120 },
    );
  });

  it.each([
    ['Europe/London', '2026-10-25', ['2026-10-25 01:00:00', '2026-10-25 01:59:59']],
    ['Australia/Lord_Howe', '2026-04-05', ['2026-04-05 01:30:00', '2026-04-05 01:59:59']],
    ['Antarctica/Troll', '2026-10-25', ['2026-10-25 01:00:00', '2026-10-25 02:59:59']],
    ['Europe/Berlin', '2026-03-29', ['2026-03-29 02:00:00', '2026-03-29 02:59:59']],
    ['America/Santiago', '2026-09-06', ['2026-09-06 00:00:00', '2026-09-06 00:59:59']],
  ])('are known of %s on %s', (timeZone, day, [from, to]) => {
    expect(unclearTimes(day, timeZone)).toEqual([{ from, to }]);
  });

  it.each(ZONES)('are clear on days on which they are not set: %s', (timeZone) => {
    for (const day of ['2026-01-15', '2026-07-15']) expect(unclearTimes(day, timeZone)).toEqual([]);
  });

  it('keep the repeated time whole in one part, however often it is cut', () => {
    const day = '2026-10-25';
    const unclear = unclearTimes(day, 'Europe/London');
    const whole = open(`${day} 00:58:00`, `${day} 02:02:00`);
    const around = atoms(whole, 3, unclear).filter(
      ({ from, to }) => from < `${day} 01:30:00` && to > `${day} 01:30:00`,
    );
    for (const { from, to } of around) {
      expect(from < `${day} 01:00:00`).toBe(true);
      expect(to > `${day} 01:59:59`).toBe(true);
    }
    expect(around.length).toBeGreaterThan(0);
  });
});

describe('a time that the clocks show twice, and that no cut fits into', () => {
  const day = '2026-10-25';
  const unclear = unclearTimes(day, 'Europe/London');
  const hour = open(`${day} 00:57:59`, `${day} 02:02:00`);

  it('is cut by level, again and again', () => {
    const [low, high] = split(hour, 2, unclear)?.parts ?? [];
    expect(low).toEqual({ ...hour, levelTo: 7 });
    expect(high).toEqual({ ...hour, levelFrom: 8 });
    expect(split(high as Span, 2, unclear)?.parts).toHaveLength(2);
    expect(atoms(hour, 2, unclear)).toHaveLength(17);
  });

  it('is cut by time on any other day, and where there is time beside it', () => {
    expect(split(hour, 2, [])?.by).toBe('time');
    expect(split({ ...hour, to: `${day} 02:30:00` }, 2, unclear)?.by).toBe('time');
  });

  it('is on one side of the one cut of a span that is halved', () => {
    const whole = open(`${day} 00:00:00`, `${day} 02:59:59`);
    expect(split(whole, 2, unclear)?.parts).toEqual([
      { ...whole, to: `${day} 00:57:58` },
      { ...whole, from: `${day} 00:57:59` },
    ]);
  });
});

describe('parts by level', () => {
  const level = fc.option(fc.integer({ min: 0, max: 20 }), { nil: null });

  it('are two that share no level and cover all, each smaller', () => {
    fc.assert(
      fc.property(level, level, (levelFrom, levelTo) => {
        const whole = { ...open('2026-03-05 12:00:00', '2026-03-05 12:00:00'), levelFrom, levelTo };
        const cut = splitByLevel(whole);
        const has = (each: Span, at: number) =>
          at >= (each.levelFrom ?? -1000) && at <= (each.levelTo ?? 1000);
        if (cut === null) {
          expect((levelFrom ?? 0) >= (levelTo ?? 16)).toBe(true);
          return;
        }
        expect(cut.parts).toHaveLength(2);
        for (let at = -5; at < 40; at++)
          expect(cut.parts.filter((part) => has(part, at)).length).toBe(has(whole, at) ? 1 : 0);
        for (const part of cut.parts) {
          expect([part.from, part.to]).toEqual([whole.from, whole.to]);
          expect(part).not.toEqual(whole);
        }
      }),
    );
  });

  it('of one second end with single levels, and with open ends for what is beyond the scale', () => {
    const ends = atoms(open('2026-03-05 12:00:00', '2026-03-05 12:00:00'), 2, []);
    for (let at = 1; at < 16; at++)
      expect(ends.filter((each) => each.levelFrom === at && each.levelTo === at)).toHaveLength(1);
    expect(ends.filter((each) => each.levelFrom === null).map((each) => each.levelTo)).toEqual([0]);
    expect(ends.filter((each) => each.levelTo === null).map((each) => each.levelFrom)).toEqual([
      16,
    ]);
    expect(ends).toHaveLength(17);
  });
});

describe('cutting again and again', () => {
  it('comes to an end, with pieces of at most one second between their ends', () => {
    fc.assert(
      fc.property(
        fc.nat(86_000),
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 2, max: 9 }),
        (at, length, count) => {
          const from = secondOf('2026-03-05 00:00:00') + at;
          const whole = open(textOf(from), textOf(from + length));
          const ends = atoms(whole, count, []);
          expect(ends.every((end) => secondOf(end.to) - secondOf(end.from) <= 1)).toBe(true);
          // Every second is in some piece, at every level.
          for (let second = from; second <= from + length; second++)
            expect(
              ends.filter((end) => secondOf(end.from) <= second && secondOf(end.to) >= second)
                .length,
            ).toBeGreaterThanOrEqual(17);
        },
      ),
      { numRuns: 30 },
    );
  });
});

describe('how many parts', () => {
  it('is enough for the cap, with room, and never more than 500 nor fewer than two', () => {
    fc.assert(
      fc.property(fc.nat(100_000_000), fc.nat(1_000_000), (total, cap) => {
        const wanted = partsWanted(total, cap, 0);
        expect(wanted).toBeGreaterThanOrEqual(2);
        expect(wanted).toBeLessThanOrEqual(500);
        if (cap > 0 && wanted < 500) expect(total / wanted).toBeLessThanOrEqual(cap);
      }),
    );
    expect(partsWanted(null, 10_000, 0)).toBe(2);
    expect(partsWanted(70_000, null, 0)).toBe(2);
    expect(partsWanted(70_000, 10_000, 0)).toBe(10);
  });
});

const formats = new Map<string, Intl.DateTimeFormat>();
/** What the clocks of the zone show, by `Intl`. */
function wallQuarter(epochMs: number, timeZone: string): string {
  const format =
    formats.get(timeZone) ??
    new Intl.DateTimeFormat('en-CA-u-hc-h23', {
      timeZone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
    });
  formats.set(timeZone, format);
  const part = Object.fromEntries(format.formatToParts(epochMs).map((p) => [p.type, p.value]));
  return `${part.year}-${part.month}-${part.day} ${part.hour}:${part.minute}:00`;
}
