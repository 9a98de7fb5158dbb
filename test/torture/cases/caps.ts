/** Servers that page only so deep: by start or by end, with an error or an empty page, with totals and without. */
import { type Case, DAY, EXACT, failed } from '../case.ts';
import { inOneSecond, spread } from '../records.ts';

const RECORDS = spread(2_400);
const LIMIT = 730;

const matrix = ([500, 400, 422, 'empty'] as const).flatMap((answer) =>
  (['start', 'end'] as const).flatMap((by) =>
    (['exact', 'none'] as const).map(
      (totals): Case => ({
        name: `${answer} beyond ${LIMIT} by ${by}, totals ${totals}`,
        server: `answers ${answer === 'empty' ? 'an empty page' : answer} where ${by === 'start' ? 'start' : 'start + length'} passes ${LIMIT}; totals ${totals}`,
        expect: EXACT,
        ...(answer === 400 && by === 'end' && totals === 'exact' ? { fast: true } : {}),
        scene: () => ({
          sim: { records: RECORDS, totals, offsetCap: { limit: LIMIT, answer, by } },
        }),
      }),
    ),
  ),
);

const second = (count: number, level?: number) => [
  ...spread(300),
  ...inOneSecond(count, `${DAY} 09:30:00`, level),
];

export const capped: readonly Case[] = [
  ...matrix,
  {
    name: 'a silent cap of 1,000, no totals',
    server: 'shows the newest 1,000 of 2,400 records; no totals',
    expect: EXACT,
    scene: () => ({
      sim: { records: RECORDS, totals: 'none', offsetCap: { limit: 1000, answer: 'empty' } },
    }),
  },
  ...([undefined, 3] as const).map(
    (level): Case => ({
      name: `a silent cap of 185 in a burst${level === undefined ? '' : ' of one level'}, no totals`,
      server: 'shows the newest 185 records of any window, and has 349 in one second; no totals',
      expect: failed(/level|cap|no further|cannot be halved/),
      most: 900,
      scene: () => ({
        sim: {
          records: [...spread(60), ...inOneSecond(349, `${DAY} 17:00:00`, level)],
          totals: 'none',
          offsetCap: { limit: 185, answer: 'empty' },
        },
      }),
    }),
  ),
  {
    name: 'a silent cap of 1,000, totals to 1,000 with gte',
    server: 'shows the newest 1,000 of 2,400 records and counts no further, and says so',
    expect: EXACT,
    scene: () => ({
      sim: {
        records: RECORDS,
        envelope: 'hits',
        totals: { cap: 1000 },
        offsetCap: { limit: 1000, answer: 'empty' },
      },
    }),
  },
  {
    name: 'a silent cap of 1,000, totals to 1,000 without a word',
    server: 'shows the newest 1,000 of 2,400 records and counts no further',
    expect: EXACT,
    scene: () => ({
      sim: {
        records: RECORDS,
        totals: { cap: 1000 },
        offsetCap: { limit: 1000, answer: 'empty' },
      },
    }),
  },
  {
    name: '4,000 records in one second, totals',
    server: 'has 4,000 records in one second, and pages 1,000 deep',
    expect: EXACT,
    scene: () => ({ sim: { records: second(4_000), offsetCap: { limit: 1000, answer: 400 } } }),
  },
  {
    name: '4,000 records of one level in one second',
    server: 'has 4,000 records of the same level in one second, and pages 1,000 deep',
    expect: failed(/too short to be split further/),
    scene: () => ({ sim: { records: second(4_000, 3), offsetCap: { limit: 1000, answer: 400 } } }),
  },
  {
    name: '4,000 records in one second, no totals',
    server: 'has 4,000 records in one second, and pages 1,000 deep; no totals',
    expect: failed(/stand in one second|nothing shows that all levels are there/),
    scene: () => ({
      sim: {
        records: second(4_000),
        totals: 'none',
        offsetCap: { limit: 1000, answer: 400 },
      },
    }),
  },
  {
    name: '4,000 records in one second, some without a level',
    server: 'has 4,000 records in one second, one in eight without a level, and pages 1,000 deep',
    expect: failed(/parts hold \d+ records, and the total says/),
    scene: () => ({
      sim: {
        records: second(4_000).map((record, index) =>
          typeof record === 'string' || index % 8 !== 0
            ? record
            : { ...record, text: String(record.text).replace(/"rule":\{[^}]*\}/, '"rule":{}') },
        ),
        offsetCap: { limit: 1000, answer: 400 },
      },
    }),
  },
];
