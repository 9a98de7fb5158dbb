/** Calendar days: arithmetic against the calendar of Temporal, and the end of a day in zones where days are odd. */
import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { afterEach, describe, expect, it } from 'vitest';
import { SettingsError } from '../../src/errors.ts';
import { addDays, closesAt, daysBetween, dayWindow, lastClosedDay } from '../../src/plan/days.ts';
import { DAY_MS, HOUR, settle, wallClock, ZONES, zone, zoneAndInstant } from './zones.ts';

const day = fc
  .integer({ min: Date.parse('0001-01-02') / DAY_MS, max: Date.parse('9999-12-30') / DAY_MS })
  .map((epochDay) => new Date(epochDay * DAY_MS).toISOString().slice(0, 10));
const recentDay = fc
  .integer({ min: Date.parse('2004-01-01') / DAY_MS, max: Date.parse('2030-01-01') / DAY_MS })
  .map((epochDay) => new Date(epochDay * DAY_MS).toISOString().slice(0, 10));

describe('addDays', () => {
  it('counts as the calendar does, from year 1 to 9999', () => {
    fc.assert(
      fc.property(day, fc.integer({ min: -400, max: 400 }), (from, count) => {
        const expected = Temporal.PlainDate.from(from).add({ days: count }).toString();
        fc.pre(/^\d{4}-/.test(expected) && expected >= '0001');
        expect(addDays(from, count)).toBe(expected);
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ['2024-02-28', 1, '2024-02-29'],
    ['2023-02-28', 1, '2023-03-01'],
    ['2000-02-28', 1, '2000-02-29'],
    ['1900-02-28', 1, '1900-03-01'],
    ['2024-12-31', 1, '2025-01-01'],
    ['2024-03-01', -1, '2024-02-29'],
  ])('%s %i is %s', (from, count, to) => expect(addDays(from, count)).toBe(to));

  it.each(['2024-02-30', '2023-02-29', '2024-13-01', '2024-00-10', '2024-01-00', '0000-01-01'])(
    'refuses %s, which is no day',
    (text) => expect(() => addDays(text, 0)).toThrow(SettingsError),
  );

  it.each(['', '2024-1-1', '2024-01-01T00:00', ' 2024-01-01', '2024-01-01\n', '+002024-01-01'])(
    'refuses %j, which is not written as a day',
    (text) => expect(() => addDays(text, 0)).toThrow(SettingsError),
  );

  it('refuses to leave the years 0001 to 9999', () => {
    expect(() => addDays('9999-12-31', 1)).toThrow(SettingsError);
    expect(() => addDays('0001-01-01', -1)).toThrow(SettingsError);
  });
});

describe('daysBetween', () => {
  it('lists each day of an inclusive range once, in order', () => {
    fc.assert(
      fc.property(recentDay, fc.integer({ min: 0, max: 800 }), (from, count) => {
        const days = daysBetween(from, addDays(from, count));
        expect(days).toHaveLength(count + 1);
        expect(days[0]).toBe(from);
        days.forEach((one, i) => {
          expect(one).toBe(addDays(from, i));
        });
        expect(days.toSorted()).toEqual(days);
      }),
      { numRuns: 50 },
    );
  });

  it('is empty when the end is before the beginning', () => {
    expect(daysBetween('2024-01-02', '2024-01-01')).toEqual([]);
  });
});

describe('dayWindow', () => {
  it('is the whole day, both ends included', () => {
    expect(dayWindow('2024-09-08')).toEqual({
      day: '2024-09-08',
      from: '2024-09-08 00:00:00',
      to: '2024-09-08 23:59:59',
    });
  });
});

describe('closesAt', () => {
  it.each([
    ['UTC', '2024-01-01', '2024-01-02T00:00:00Z'],
    ['America/New_York', '2024-03-10', '2024-03-11T04:00:00Z'], // 23 hours
    ['America/New_York', '2024-11-03', '2024-11-04T05:00:00Z'], // 25 hours
    ['Australia/Lord_Howe', '2024-04-07', '2024-04-07T13:30:00Z'], // 24 hours and a half
    ['America/Santiago', '2024-09-07', '2024-09-08T04:00:00Z'], // the next day begins at 01:00
    ['Africa/Cairo', '2024-04-25', '2024-04-25T22:00:00Z'], // the next day begins at 01:00
    ['America/Sao_Paulo', '2018-02-17', '2018-02-18T03:00:00Z'], // 23:00 comes twice
    ['America/Havana', '2024-11-02', '2024-11-03T04:00:00Z'], // the next day has 00:00 twice
    ['America/St_Johns', '2006-10-28', '2006-10-29T03:30:00Z'], // from 00:01 back to 23:01
    ['America/Toronto', '1919-03-30', '1919-03-31T04:30:00Z'], // from 23:30 to 00:30
    ['Pacific/Apia', '2011-12-29', '2011-12-30T10:00:00Z'], // the 30th did not happen
    ['Pacific/Apia', '2011-12-30', '2011-12-30T10:00:00Z'],
    ['Pacific/Apia', '2011-12-31', '2011-12-31T10:00:00Z'],
  ])('%s %s ends at %s', (timeZone, date, instant) => {
    expect(new Date(closesAt(date, timeZone, 0)).toISOString()).toBe(instant.replace('Z', '.000Z'));
    expect(closesAt(date, timeZone, 90_000)).toBe(Date.parse(instant) + 90_000);
  });

  it('is the exact instant after which the wall clock never shows the day again', () => {
    fc.assert(
      fc.property(zone, recentDay, (timeZone, date) => {
        const end = closesAt(date, timeZone, 0);
        expect(wallClock(end - 1, timeZone).day <= date).toBe(true);
        for (let after = end; after <= end + 3 * HOUR; after += HOUR / 4) {
          expect(wallClock(after, timeZone).day > date).toBe(true);
        }
      }),
      { numRuns: 1000 },
    );
  });
});

describe('lastClosedDay', () => {
  it('is closed, and the day after it is not', () => {
    fc.assert(
      fc.property(zoneAndInstant, settle, ({ timeZone, now }, settleMs) => {
        const last = lastClosedDay(now, timeZone, settleMs);
        expect(closesAt(last, timeZone, settleMs)).toBeLessThanOrEqual(now);
        expect(closesAt(addDays(last, 1), timeZone, settleMs)).toBeGreaterThan(now);
        expect(last < wallClock(now - settleMs, timeZone).day).toBe(true);
      }),
      { numRuns: 3000 },
    );
  });

  it('only ever moves forward', () => {
    fc.assert(
      fc.property(
        zoneAndInstant,
        settle,
        fc.integer({ min: 0, max: 3 * DAY_MS }),
        ({ timeZone, now }, settleMs, later) => {
          const before = lastClosedDay(now, timeZone, settleMs);
          expect(lastClosedDay(now + later, timeZone, settleMs) >= before).toBe(true);
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('does not take a day for closed that the clock will show again', () => {
    // 00:00:30 of the 29th, half a minute before the clock goes back to 23:01 of the 28th.
    const now = Date.parse('2006-10-29T02:30:30Z');
    expect(wallClock(now, 'America/St_Johns').day).toBe('2006-10-29');
    expect(lastClosedDay(now, 'America/St_Johns', 0)).toBe('2006-10-27');
  });

  it('takes instants between milliseconds', () => {
    const end = closesAt('2024-01-01', 'UTC', 0);
    expect(lastClosedDay(end - 0.25, 'UTC', 0)).toBe('2023-12-31');
    expect(lastClosedDay(end + 0.25, 'UTC', 0)).toBe('2024-01-01');
  });
});

describe('the zone of the process', () => {
  const own = process.env.TZ;
  afterEach(() => {
    if (own === undefined) delete process.env.TZ;
    else process.env.TZ = own;
  });

  it('changes nothing', () => {
    const answers = ['UTC', 'Asia/Tokyo', 'America/Sao_Paulo', 'Pacific/Kiritimati'].map((tz) => {
      process.env.TZ = tz;
      const hours = new Date(2018, 10, 4, 12).getTimezoneOffset() / 60;
      const found = ZONES.map((timeZone) => [
        closesAt('2018-11-03', timeZone, 0),
        lastClosedDay(Date.parse('2018-11-04T02:30:00Z'), timeZone, 0),
        daysBetween('2018-10-30', '2018-11-06'),
        addDays('2018-11-03', 1),
      ]);
      return { hours, found };
    });
    expect(answers.map(({ hours }) => hours)).toEqual([0, -9, 2, -14]);
    for (const { found } of answers) expect(found).toEqual(answers[0]?.found);
  });
});
