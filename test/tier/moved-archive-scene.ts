/** An archive of which days move, and what its clients ask before and after. */
import { expect } from 'vitest';
import type { Database } from '../../src/store/database.ts';
import { StoredRecords } from '../../src/tier/moved-records.ts';
import type { TestDatabase } from '../support/database.ts';
import { serveStored, storeDaysIn } from '../support/served-archive.ts';
import { DAYS, moveAll, partsOf, sealAll } from './moving-scene.ts';
import { newServer, storeAt } from './s3-store-scene.ts';

export const [FIRST, NEXT, LAST] = DAYS;

/** Three days: the first with so many records of ten kilobytes, with a time, a level, and an agent in some. */
export const makeArchive = (count: number) => async (database: Database) => {
  const recordsOf = (day: string, records: number, bytes: number) =>
    Array.from({ length: records }, (_, at) => ({
      id: at,
      timestamp: `${day}T${String(at % 24).padStart(2, '0')}:00:00Z`,
      rule: { level: at % 15 },
      ...(at % 3 === 0 && { agent: { name: `agent-${at % 5}` } }),
      text: 'x'.repeat(bytes),
    }));
  const paged = <T>(all: readonly T[], size: number) =>
    Array.from({ length: Math.ceil(all.length / size) }, (_, page) =>
      all.slice(page * size, (page + 1) * size),
    );
  await storeDaysIn(database, {
    [FIRST]: paged(recordsOf(FIRST, count, 10_000), 100),
    [NEXT]: [[]],
    [LAST]: [
      ...paged(recordsOf(LAST, 40, 10), 7),
      [{ timestamp: `${LAST}T23:00:00Z`, manager: { name: 'm' } }],
    ],
  });
  await sealAll(database);
};

const queriesOf = (count: number) => [
  'length=50',
  `start=${count - 200}&length=10000`,
  'start=33&length=150',
  `start=${count - 50}&length=100`,
  'start=5000&length=3',
  'length=20&agent=agent-3',
  'start=7&length=200&rule_level_from=9',
  `start=${count - 10}&length=11&search=x`,
  'search=nowhere',
  'manager=m',
  'manager=nobody',
  // No record has it.
  'hideread=1',
  // Another type in no record; refused by its value.
  'rule_level=high',
];
const PIECES = [
  [`${FIRST} 06:00:00`, `${FIRST} 11:59:59`],
  [`${FIRST} 22:00:00`, `${LAST} 01:00:00`],
  [`${LAST} 23:00:00`, `${LAST} 23:59:59`],
];

/**
 * Days move into a bucket, first one, then all: whoever asks gets what he got before.
 * @param until the last day of what is asked for.
 */
export async function expectServedAsBefore(
  { server, database }: { readonly server: TestDatabase; readonly database: Database },
  count: number,
  until: readonly string[],
): Promise<void> {
  // A bucket only: that files are made of either alike is seen in moved-files.
  const { store } = storeAt(await newServer());
  const serve = () => serveStored(server, { time: [['timestamp']] }, new StoredRecords(store));
  const lasting = await serve();
  const before = await answers(lasting, count, until);
  expect(before.map(({ status }) => status)).toContain(422);
  expect(before.filter(({ status }) => status === 200).length).toBeGreaterThan(before.length / 2);
  await moveAll(partsOf(database, store), ['events'], [FIRST]);
  // It remembers what the days were when they were here.
  expect(await answers(lasting, count, until)).toEqual(before);
  await moveAll(partsOf(database, store), ['events'], [NEXT, LAST]);
  expect(await answers(await serve(), count, until)).toEqual(before);
}

async function answers(
  served: Awaited<ReturnType<typeof serveStored>>,
  count: number,
  until: readonly string[],
) {
  const found = [];
  for (const query of queriesOf(count))
    for (const to of until) {
      const { status, headers, text } = await served.get(query, to);
      found.push({ query, to, status, total: headers['x-total-count'], text });
    }
  for (const [from, to] of PIECES)
    for (const query of ['length=100', 'start=40&length=30&agent=agent-0']) {
      const dates = `fromDate=${encodeURIComponent(String(from))}&toDate=${encodeURIComponent(String(to))}`;
      const { status, headers, text } = await served.ask(`${dates}&${query}`);
      found.push({ query, to, status, total: headers['x-total-count'], text });
    }
  return found;
}
