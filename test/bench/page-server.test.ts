/** The page server of the benchmarks: what it answers must be what an honest source would, or the numbers mean nothing. */
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { startPageServer } from '../../bench/page-server.ts';
import { makeRecords, textOf } from '../../bench/records.ts';
import { pageFor } from '../../bench/served-days.ts';

const FIRST_DAY = '2026-03-01';
const RECORDS = 5_000;
const days = {
  block: makeRecords({ kind: 'compact', count: 2 * RECORDS }),
  recordsPerDay: RECORDS,
  firstDay: FIRST_DAY,
};
const second = (of: number, day = FIRST_DAY) =>
  `${day} ${new Date(of * 1000).toISOString().slice(11, 19)}`;
const read = (asked: Parameters<typeof pageFor>[1]) => {
  const page = pageFor(days, asked);
  const body = Buffer.concat(page.pieces);
  expect(body.length).toBe(page.bytes);
  return JSON.parse(body.toString()) as { total: number; data: { sequence: string }[] };
};
const sequences = (from: number, to: number, day?: string) =>
  read({
    fromDate: second(from, day),
    toDate: second(to, day),
    start: 0,
    length: RECORDS,
  }).data.map((record) => record.sequence);

test('the records of a day are those of its block, each once, and the next day has others', () => {
  const first = sequences(0, 86_399);
  expect(first).toHaveLength(RECORDS);
  expect(new Set([...first, ...sequences(0, 86_399, '2026-03-02')]).size).toBe(2 * RECORDS);
  expect(sequences(0, 86_399, '2026-03-03')).toEqual(first);
});

test('what is to come has no records, and neither has what was long before', () => {
  const week = 7 * 86_400_000;
  const inAWeek = new Date(Date.now() + week).toISOString().slice(0, 10);
  const tenYearsAgo = new Date(Date.now() - 522 * week).toISOString().slice(0, 10);
  expect([sequences(0, 86_399, inAWeek), sequences(0, 86_399, tenYearsAgo)]).toEqual([[], []]);
});

test('windows that touch cover the day, and share only what lies in their common second', () => {
  const whole = sequences(0, 86_399);
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 86_398 }), (cut) => {
      const [left, right] = [sequences(0, cut), sequences(cut, 86_399)];
      const shared = sequences(cut, cut);
      expect([...left, ...right.slice(shared.length)]).toEqual(whole);
      expect(right.slice(0, shared.length)).toEqual(shared);
    }),
  );
});

test('pages of a window are its records in order, the last one is short, and behind the end is nothing', () => {
  const window = { fromDate: second(0), toDate: second(86_399) };
  const walked: string[] = [];
  for (let start = 0; start < RECORDS; start += 999)
    walked.push(...read({ ...window, start, length: 999 }).data.map(({ sequence }) => sequence));
  expect(walked).toEqual(sequences(0, 86_399));
  expect(read({ ...window, start: RECORDS + 7, length: 10 })).toEqual({ total: RECORDS, data: [] });
});

test('a seam is empty', () => {
  const seam = { fromDate: second(86_399), toDate: second(0, '2026-03-02') };
  expect(read({ ...seam, start: 0, length: 10 })).toEqual({ total: 0, data: [] });
});

test('every kind of record is JSON, and no two are alike', () => {
  for (const kind of ['events', 'compact'] as const) {
    const block = makeRecords({ kind, count: 1_000 });
    const texts = Array.from({ length: 1_000 }, (_, i) => textOf(block, i, i + 1).toString());
    for (const text of texts) JSON.parse(text);
    expect(new Set(texts).size).toBe(1_000);
  }
});

const server = await startPageServer({
  records: { kind: 'compact', count: RECORDS },
  recordsPerDay: RECORDS,
  firstDay: FIRST_DAY,
  latencyMs: 2,
  msPerSkipped: 0.001,
});
afterAll(() => server.close());

test('it counts what it was asked, and waits longer the more records a request skips', async () => {
  const ask = async (start: number) => {
    const times = new URLSearchParams({ fromDate: second(0), toDate: second(86_399) });
    const answer = await fetch(`${server.url}/api/events?${times}&start=${start}&length=50`);
    return ((await answer.json()) as { data: unknown[] }).data.length;
  };
  expect([await ask(0), await ask(3_000)]).toEqual([50, 50]);
  const { requests, waitedMs } = server.served();
  expect({ requests, waitedMs }).toEqual({ requests: 2, waitedMs: 2 + 2 + 3 });
});
