/** Large: bodies, seconds and days at the size at which services and databases give up. */
import { type Case, DAY, EXACT } from '../case.ts';
import { inOneSecond, recordText, spread, timeOf } from '../records.ts';

/** A day of 250,000 events of which 40,000 fall into one minute. */
const day = () => {
  const minute = timeOf(`${DAY} 13:37:00`);
  return [
    ...spread(210_000),
    ...Array.from({ length: 40_000 }, (_, index) => {
      const time = minute + Math.floor(index * 1.5);
      return { text: recordText(time, `m${index}`, index % 16), time };
    }),
  ];
};

const deep = (name: string, server: string, sim: object, more: Partial<Case>): Case => ({
  name: `250,000 events, ${name}`,
  server: `pages 10,000 deep in a day of 250,000 events, 40,000 of them in one minute; ${server}`,
  expect: EXACT,
  options: { pageLength: 1000, concurrency: 4 },
  scene: () => ({ sim: { records: day(), offsetCap: { limit: 10_000, answer: 400 }, ...sim } }),
  ...more,
});

export const large: readonly Case[] = [
  deep('exact totals', 'exact totals', {}, { mostRatio: 2.6 }),
  deep(
    'totals to 10,000 with gte',
    'counts to 10,000 and says so',
    {
      envelope: 'hits',
      totals: { cap: 10_000 },
    },
    { kills: false, mostRatio: 6 },
  ),
  deep('no totals', 'no totals', { totals: 'none' }, { kills: false, mostRatio: 8 }),
  {
    name: '40,000 events in one second',
    server: 'has 40,000 events of all levels in one second, and pages 10,000 deep',
    expect: EXACT,
    options: { pageLength: 1000 },
    kills: false,
    scene: () => ({
      sim: {
        records: [...spread(500), ...inOneSecond(40_000, `${DAY} 09:30:00`)],
        offsetCap: { limit: 10_000, answer: 400 },
      },
    }),
  },
  {
    name: 'a record of 100 MB',
    server: 'has a record of 100 MB among others',
    expect: EXACT,
    source: { bodyLimitBytes: 256 * 1024 * 1024, pageTimeoutMs: 60_000 },
    kills: false,
    scene: () => {
      const time = timeOf(`${DAY} 12:00:00`);
      const text = `{"timestamp":"2026-03-01T12:00:00.000+0000","id":"big","x":"${'daywalk '.repeat(13_000_000)}"}`;
      return { sim: { records: [...spread(120), { text, time }], gzip: 'never' } };
    },
  },
  {
    name: 'bodies beyond the limit',
    server: 'has records of 20 kB, of which 100 are more than the body limit',
    expect: EXACT,
    source: { bodyLimitBytes: 600_000 },
    mostRatio: 30,
    scene: () => ({
      sim: {
        records: spread(350).map((record, index) => {
          const { time } = record as { time: number };
          return {
            time,
            text: `{"timestamp":"${new Date(time).toISOString()}","id":"e${index}","x":"${'x'.repeat(20_000)}"}`,
          };
        }),
      },
    }),
  },
];
