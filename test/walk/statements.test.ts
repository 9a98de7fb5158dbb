/** What the export asks of the database: as few statements as a window needs, because each of them keeps the source waiting. */
import { beforeAll, expect, it } from 'vitest';
import { startWorkers } from '../../src/walk/concurrency.ts';
import type { RunEvent } from '../../src/walk/run.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { closeGate } from '../support/gate.ts';
import { records } from '../support/store.ts';
import { closedDays, complaints, newStream, runOnce } from './exporting.ts';
import { ImaginedSource } from './imagined-source.ts';

let server: TestDatabase;
beforeAll(async () => {
  server = await createTestDatabase();
});

const STATEMENTS = {
  leases: /for update skip locked/,
  openings: /insert into daywalk\.walks/,
  readOpen: /left join daywalk\.walks k on k\.walk_id = w\.current_walk/,
  walksRead: /as "largestPage"/,
  pages: /daywalk\.store_page/,
  proven: /daywalk\.prove_window/,
};

/** How often each was run while these days were exported, or until the first of them was proven. */
async function statementsOf(
  days: readonly string[],
  concurrency: number,
  until: 'first proven' | 'end',
) {
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
  const proven = all.findIndex((sql) => STATEMENTS.proven.test(sql));
  const counted = until === 'end' ? all : all.slice(0, proven + 1);
  return Object.fromEntries(
    Object.entries(STATEMENTS).map(([name, pattern]) => [
      name,
      counted.filter((sql) => pattern.test(sql)).length,
    ]),
  );
}

it('a window of one page is leased, opened, stored and proven, and read once to be judged', async () => {
  expect(await statementsOf(closedDays(3), 1, 'first proven')).toEqual({
    // One to see whether a look is due.
    leases: 2,
    openings: 1,
    readOpen: 0,
    walksRead: 1,
    pages: 1,
    proven: 1,
  });
});

it('workers begin when there is something to do for them', async () => {
  const { leases } = await statementsOf(closedDays(1), 8, 'end');
  // Two at first; the day and each of its two cuts call one, and whoever is done looks again.
  expect(leases).toBeLessThanOrEqual(8);
});

it('the parts of a day are walked by as many as are wanted, though the others had nothing to do before', async () => {
  const [day = ''] = closedDays(1);
  const allAtWork = closeGate();
  const source = new ImaginedSource(
    { [day]: records(1, 60) },
    { totals: 'exact', before: () => (isSplit ? allAtWork.passed : undefined) },
  );
  let isSplit = false;
  const atWork = new Set<string>();
  const onEvent = (event: RunEvent): void => {
    if (event.kind === 'split') isSplit = true;
    if (event.kind !== 'claimed' || event.window.kind !== 'part') return;
    atWork.add(event.window.from);
    // None is answered before.
    if (atWork.size === 4) allAtWork.open();
  };
  const stream = newStream();
  const exporting = { server, source, stream, since: day, pageLength: 5, windowRecords: 10 };
  await runOnce({ ...exporting, concurrency: 4, onEvent });
  expect(await complaints(server, source, stream)).toEqual([]);
});

it('as many work at a time as are wanted, where there is enough to do', async () => {
  let [working, most] = [0, 0];
  let left = 20;
  await startWorkers(5, async (begin) => {
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
