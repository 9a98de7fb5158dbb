/** Windows of many records: split by time before they are walked, where the source tells a total that can be aimed by. */
import { describe, expect, it } from 'vitest';
import type { TestDatabase } from '../support/database.ts';
import { freshStore } from '../support/store.ts';
import { closedDays, complaints, newStream, readResults, runOnce } from './exporting.ts';
import { type Habits, ImaginedSource } from './imagined-source.ts';

const RECORDS = 60;
const MOST = 20;
const PAGE = 5;
const list = Array.from({ length: RECORDS }, (_, id) => `{"id": ${id}}`);

let server: TestDatabase;
const days = closedDays(2);
const [, day = ''] = days;

freshStore((store) => {
  ({ server } = store);
});

async function exported(habits: Habits, since = day) {
  const source = new ImaginedSource(Object.fromEntries(days.map((one) => [one, list])), habits);
  const stream = newStream();
  await runOnce({ server, source, stream, since, pageLength: PAGE, windowRecords: MOST });
  expect(await complaints(server, source, stream)).toEqual([]);
  return { source, results: await readResults(server, stream) };
}

const deepest = (source: ImaginedSource) => Math.max(...source.asked.map(({ start }) => start));
describe('a window whose total is large', () => {
  it('is split, so that no page lies deeper than a part is large, and each record is there once', async () => {
    const { source, results } = await exported({ totals: 'exact' });
    expect(results.get(day)).toMatchObject({ state: 'complete', published: list.toSorted() });
    expect(results.get(day)?.windows).toBeGreaterThan(RECORDS / MOST);
    expect(deepest(source)).toBeLessThanOrEqual(MOST);
    // Beside the pages: an end and a cut for each part, halves for the largest, and once how far a cut must reach.
    expect(source.asked.length).toBeLessThan(
      RECORDS / (PAGE - 1) + 5 * (results.get(day)?.windows ?? 0) + 40,
    );
  });

  it('tells why it was split', async () => {
    await exported({ totals: 'exact' });
    expect(
      await server.query(
        `select split_by, split_reason, split_total::int as total from daywalk.windows where kind = 'day'`,
      ),
    ).toEqual([
      {
        split_by: 'time',
        split_reason: 'the total says 60: more than 20 records are walked in parts',
        total: RECORDS,
      },
    ]);
  });

  it('is not, where the total is the same for each of its halves: it counts something else, and the reason says so', async () => {
    const wrap = (records: readonly string[]) =>
      `{"total":${RECORDS},"data":[${records.join(',')}]}`;
    const { results } = await exported({ wrap });
    expect(results.get(day)).toMatchObject({ state: 'failed', windows: 1 });
    expect(results.get(day)?.lastError).toContain('total_path');
  });

  it('is walked whole without a total, and with one that is a lower bound', async () => {
    expect((await exported({})).results.get(day)?.state).toBe('complete');
    const wrap = (records: readonly string[], total: number | null) => {
      const told = Math.min(total ?? 0, 40);
      const relation = told === total ? 'eq' : 'gte';
      return `{"hits":{"total":{"value":${told},"relation":"${relation}"},"hits":[${records.join(',')}]}}`;
    };
    const { results } = await exported({ wrap, totals: 'exact' });
    expect(results.get(day)).toMatchObject({ state: 'complete' });
  });

  it('is split down to a second that holds them all, and that second is walked whole', async () => {
    const { source, results } = await exported({ totals: 'exact', at: () => 45_296 });
    expect(results.get(day)).toMatchObject({ state: 'complete', published: list.toSorted() });
    expect(deepest(source)).toBeGreaterThan(MOST);
    expect(source.asked.length).toBeLessThan(400);
  });
});
