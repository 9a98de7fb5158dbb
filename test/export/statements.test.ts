/** What the export asks of the database: as few statements as a window needs, because each of them keeps the source waiting. */
import { beforeAll, expect, it } from 'vitest';
import { workTogether } from '../../src/export/workers.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { records } from '../support/store.ts';
import { closedDays, complaints, newStream, runOnce } from './exporting.ts';
import { ImaginedSource } from './imagined-source.ts';

let server: TestDatabase;
beforeAll(async () => {
  server = await createTestDatabase();
});

const STATEMENTS = {
  claims: /for update skip locked/,
  openings: /insert into daywalk\.walks/,
  readOpen: /left join daywalk\.walks k on k\.walk_id = w\.current_walk/,
  earlier: /k\.outcome in \('ended', 'shifted', 'failed'\)/,
  sizes: /as "largestPage"/,
  pages: /daywalk\.store_page/,
  published: /daywalk\.publish_walk/,
};

/** How often each was run while these days were exported. */
async function statementsOf(days: readonly string[], concurrency: number) {
  const lists = Object.fromEntries(days.map((day, index) => [day, records(1 + 10 * index, 3)]));
  const source = new ImaginedSource(lists, { totals: 'exact' });
  const stream = newStream();
  const all: string[] = [];
  const gate = <T>(sql: string | null, act: () => Promise<T>): Promise<T> => {
    if (sql !== null) all.push(sql);
    return act();
  };
  const since = days[0] ?? '';
  await runOnce({ server, source, stream, since, gate, concurrency, pageLength: 5 });
  expect(await complaints(server, source, stream)).toEqual([]);
  return Object.fromEntries(
    Object.entries(STATEMENTS).map(([name, pattern]) => [
      name,
      all.filter((sql) => pattern.test(sql)).length,
    ]),
  );
}

it('a window of one page is claimed, opened, stored and published, and nothing else is read of it', async () => {
  expect(await statementsOf(closedDays(3), 1)).toEqual({
    claims: 4,
    openings: 3,
    readOpen: 0,
    earlier: 0,
    sizes: 0,
    pages: 3,
    published: 3,
  });
});

it('workers begin when there is something to do for them', async () => {
  const { claims } = await statementsOf(closedDays(1), 8);
  // Two at first, one that the window called, and the one that looked again behind it.
  expect(claims).toBe(4);
});

it('as many work at a time as are wanted, where there is enough to do', async () => {
  let [working, most] = [0, 0];
  let left = 20;
  await workTogether(5, async (begin) => {
    working += 1;
    most = Math.max(most, working);
    while (left > 0) {
      left -= 1;
      begin();
      await Promise.resolve();
    }
    working -= 1;
  });
  expect({ most, left }).toEqual({ most: 5, left: 0 });
});
