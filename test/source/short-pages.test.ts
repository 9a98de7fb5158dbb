/** Sources that refuse pages below some length, or of any length but a few, and are asked for longer ones. */
import { expect, it } from 'vitest';
import { RequestError } from '../../src/errors.ts';
import { lengtheningPages } from '../../src/source/short-pages.ts';
import type { TestDatabase } from '../support/database.ts';
import { freshStore, records } from '../support/store.ts';
import { closedDays, newStream, readResults, runOnce, SETTLE_MS } from '../walk/exporting.ts';
import { ImaginedSource } from '../walk/imagined-source.ts';

let server: TestDatabase;
freshStore((store) => {
  ({ server } = store);
});
const [first = '', second = '', third = ''] = closedDays(3);

/** Exports three days with pages of 20 from a source that takes pages of such lengths only. */
async function exportedFrom(isTaken: (length: number) => boolean, totals: 'none' | 'exact') {
  const lists = { [first]: records(1_000, 37), [second]: [], [third]: records(3_000, 1) };
  const source = new ImaginedSource(lists, {
    totals,
    before: (_, { length }) => {
      if (!isTaken(length)) throw new RequestError(400, `no pages of ${length}`);
    },
  });
  const lengthening = Object.assign(Object.create(source) as ImaginedSource, {
    fetchPage: lengtheningPages(source.fetchPage),
  });
  const exporting = { server, source: lengthening, stream: newStream(), since: first };
  await runOnce({ ...exporting, pageLength: 20, settleMs: SETTLE_MS });
  const results = [...(await readResults(server, exporting.stream)).values()];
  return { results, requests: source.asked.length };
}

it.each(['none', 'exact'] as const)(
  'of five records and more, as Cloudflare, totals %s',
  async (totals) => {
    const { results, requests } = await exportedFrom((length) => length >= 5, totals);
    expect(results.map(({ state, published }) => [state, published.length])).toEqual([
      ['complete', 37],
      ['complete', 0],
      ['complete', 1],
    ]);
    expect(requests).toBeLessThan(90);
  },
);

it.each(['none', 'exact'] as const)('of 10, 20 or 50 records only, totals %s', async (totals) => {
  const { results } = await exportedFrom((length) => [10, 20, 50].includes(length), totals);
  expect(results.map(({ state, published }) => [state, published.length])).toEqual([
    ['complete', 37],
    ['complete', 0],
    ['complete', 1],
  ]);
});

it('what is refused for something else is refused, and asked for no more often once a shorter page was answered', async () => {
  const asked: number[] = [];
  const source = new ImaginedSource({}, {});
  const fetch = lengtheningPages<{ signal: AbortSignal }>(async (request, options) => {
    asked.push(request.length);
    if (request.start > 100) throw new RequestError(400, 'too deep');
    return source.fetchPage(request, options);
  });
  const signal = new AbortController().signal;
  const at = (start: number, length: number) =>
    fetch(
      {
        resource: 'events',
        filters: {},
        from: `${first} 00:00:00`,
        to: `${first} 23:59:59`,
        start,
        length,
      },
      { signal },
    );
  await at(0, 20);
  await expect(at(200, 2)).rejects.toThrow('too deep');
  await at(0, 2);
  await expect(at(200, 2)).rejects.toThrow('too deep');
  await expect(at(200, 5)).rejects.toThrow('too deep');
  expect(asked).toEqual([20, 2, 20, 2, 2, 5]);
});
