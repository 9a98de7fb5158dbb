/** Records that are equal to the last byte: they are two events, and both must be kept. */
import type { RecordInput } from '../../../simulator/simulator.ts';
import { type Case, DAY, EXACT, failed } from '../case.ts';
import { recordText, spread, timeOf } from '../records.ts';

const NOON = timeOf(`${DAY} 12:00:00`);
const MIDNIGHT = timeOf(`${DAY} 23:59:59`);

const copies = (count: number, time: number, serial = 'twin'): RecordInput[] =>
  Array.from({ length: count }, () => ({ text: recordText(time, serial, 5), time }));

const twins = (
  name: string,
  server: string,
  records: readonly RecordInput[],
  isFast = false,
): Case[] =>
  (['exact', 'none'] as const).map((totals) => ({
    name: `${name}, totals ${totals}`,
    server: `${server}; totals ${totals}`,
    expect: EXACT,
    ...(isFast && totals === 'exact' ? { fast: true } : {}),
    scene: () => ({ sim: { records, totals } }),
  }));

export const duplicates: readonly Case[] = [
  ...twins('twins on a page', 'has the same record five times in a row', [
    ...spread(250),
    ...copies(5, NOON),
  ]),
  ...twins(
    'twins across pages',
    'has the same record 230 times in a row',
    [...spread(250), ...copies(230, NOON)],
    true,
  ),
  ...twins(
    'nothing but twins',
    'has the same record 450 times and no other',
    copies(450, NOON),
  ).map(
    // Nothing else was ever proven, so nothing tells 450 records of one second and level from a cap at 450.
    (one): Case => ({ ...one, expect: failed(/stand in one second|cannot be halved/), most: 500 }),
  ),
  ...twins(
    'twins at midnight',
    'has the same record three times in the last second, and at the next midnight',
    [...spread(150), ...copies(3, MIDNIGHT + 400), ...copies(3, MIDNIGHT + 1000)],
  ),
  ...(['exact', 'none'] as const).map(
    (totals): Case => ({
      name: `twins at the boundary of a split, totals ${totals}`,
      server: `pages 400 deep, and has twins in the seconds in which a day is cut; totals ${totals}`,
      expect: EXACT,
      mostRatio: 30,
      scene: () => ({
        sim: {
          records: [
            ...spread(1_500),
            ...Array.from({ length: 96 }, (_, quarter) =>
              copies(2, timeOf(`${DAY} 00:00:00`) + quarter * 900_000, `twin${quarter}`),
            ).flat(),
          ],
          totals,
          offsetCap: { limit: 400, answer: 400 },
        },
      }),
    }),
  ),
];
