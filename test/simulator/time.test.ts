/** Windows in time: fractions of a second, time zones, days with a change of clocks; and times in records. */
import { afterEach, expect, test } from 'vitest';
import { readTime, recordTime } from '../../simulator/record-time.ts';
import { type Simulator, startSimulator } from '../../simulator/simulator.ts';
import { instantsOf, readWallTime } from '../../simulator/wall-time.ts';

let simulator: Simulator | undefined;
afterEach(() => simulator?.close());

const at = (...times: string[]) => times.map((time) => ({ time, text: `{"t":"${time}"}` }));
const texts = (...times: string[]) => times.map((time) => `{"t":"${time}"}`);

test('the last second of a window is whole, or its first millisecond only', async () => {
  const inside = ['2026-03-01T00:00:00.000Z', '2026-03-01T23:59:59.000Z'];
  const late = ['2026-03-01T23:59:59.001Z', '2026-03-01T23:59:59.999Z'];
  const outside = ['2026-02-28T23:59:59.999Z', '2026-03-02T00:00:00.000Z'];
  simulator = await startSimulator({ records: at(...inside, ...late, ...outside) });
  const day = { from: '2026-03-01 00:00:00', to: '2026-03-01 23:59:59' };
  expect(simulator.matching(day)).toEqual(texts(...inside, ...late));
  simulator.set({ subSecond: 'exact' });
  expect(simulator.matching(day)).toEqual(texts(...inside));
});

test('fromDate and toDate are read in the zone of the server', async () => {
  const times = [
    '2026-03-01T07:59:59.000Z',
    '2026-03-01T08:00:00.000Z',
    '2026-03-02T07:59:59.500Z',
  ];
  simulator = await startSimulator({ records: at(...times), timeZone: 'America/Los_Angeles' });
  const day = { from: '2026-03-01 00:00:00', to: '2026-03-01 23:59:59' };
  expect(simulator.matching(day)).toEqual(texts(...times.slice(1)));
});

const span = (from: string, to: string, zone: string) => {
  const instants = instantsOf(readWallTime(from) ?? 0, readWallTime(to) ?? 0, {
    timeZone: zone,
    subSecond: 'seconds',
    skippedTimes: 'change',
  });
  return [instants.from, instants.to].map((time) => new Date(time).toISOString().slice(0, 19));
};

test.each([
  // 29 March 2026: 02:00 becomes 03:00. 25 October: 03:00 becomes 02:00.
  ['2026-03-29 00:00:00', '2026-03-29 23:59:59', '2026-03-28T23:00:00', '2026-03-29T22:00:00'],
  ['2026-10-25 00:00:00', '2026-10-25 23:59:59', '2026-10-24T22:00:00', '2026-10-25T23:00:00'],
  ['2026-03-29 02:30:00', '2026-03-29 03:00:00', '2026-03-29T01:00:00', '2026-03-29T01:00:01'],
  ['2026-03-29 01:00:00', '2026-03-29 02:30:00', '2026-03-29T00:00:00', '2026-03-29T01:00:00'],
  ['2026-10-25 02:00:00', '2026-10-25 02:59:59', '2026-10-25T00:00:00', '2026-10-25T02:00:00'],
  ['2026-07-01 00:00:00', '2026-07-01 00:00:00', '2026-06-30T22:00:00', '2026-06-30T22:00:01'],
])('%s to %s in Berlin', (from, to, first, end) => {
  expect(span(from, to, 'Europe/Berlin')).toEqual([first, end]);
});

test('days of a zone follow each other without a gap, whatever the clocks do', () => {
  for (const zone of [
    'America/New_York',
    'Australia/Lord_Howe',
    'Africa/Cairo',
    'Asia/Kathmandu',
  ]) {
    let end: string | undefined;
    for (let time = Date.UTC(2026, 0, 1); time < Date.UTC(2027, 0, 1); time += 86_400_000) {
      const day = new Date(time).toISOString().slice(0, 10);
      const [first, next] = span(`${day} 00:00:00`, `${day} 23:59:59`, zone);
      if (end !== undefined) expect([zone, day, first]).toEqual([zone, day, end]);
      end = next;
    }
  }
});

test.each([
  ['2026-03-01T12:00:00.123+0000', '2026-03-01T12:00:00.123Z'],
  ['2026-03-01T12:00:00Z', '2026-03-01T12:00:00.000Z'],
  ['2026-03-01 12:00:00.5', '2026-03-01T12:00:00.500Z'],
  ['2026-03-01T23:59:59.9999999Z', '2026-03-01T23:59:59.999Z'],
  ['2026-03-01T12:00:00+05:45', '2026-03-01T06:15:00.000Z'],
  [1_772_366_400, '2026-03-01T12:00:00.000Z'],
  [1_772_366_400.25, '2026-03-01T12:00:00.250Z'],
  ['1772366400123', '2026-03-01T12:00:00.123Z'],
  [1_772_366_400_123_456, '2026-03-01T12:00:00.123Z'],
])('reads %j', (value, expected) => {
  expect(new Date(readTime(value) ?? Number.NaN).toISOString()).toBe(expected);
});

test.each([['yesterday'], ['2026-13-01T00:00:00Z'], [7], [null], [{}], ['']])(
  'does not read %j',
  (value) => {
    expect(readTime(value)).toBeUndefined();
  },
);

test('the first key that holds a readable time counts', () => {
  const time = Date.parse('2026-03-01T12:00:00Z');
  const record = {
    EventTime: '2020-01-01 00:00:00',
    timestamp: '?',
    '@timestamp': '2026-03-01T12:00:00Z',
  };
  expect(recordTime(record)).toBe(time);
  expect(recordTime({ nothing: 1 })).toBeUndefined();
});
