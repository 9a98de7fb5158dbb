/** Sources that refuse pages below some length, or of any length but a few, and are asked for longer ones. */
import { expect, it } from 'vitest';
import { RequestError } from '../../src/errors.ts';
import { lengtheningPages } from '../../src/source/short-pages.ts';
import type { TestDatabase } from '../support/database.ts';
import { andAtNight } from '../support/night.ts';
import { letTimePass } from '../support/pass-time.ts';
import { freshStore, records } from '../support/store.ts';
import { closedDays, newStream, readResults, runOnce, SETTLE_MS } from '../walk/exporting.ts';
import { ImaginedSource } from '../walk/imagined-source.ts';

/** Counts its pages by number. */
class ByNumber extends ImaginedSource {
  override answer(request: Parameters<ImaginedSource['answer']>[0], number: number): string {
    const { start, length } = request;
    return super.answer({ ...request, start: start - (start % length) }, number);
  }
}

let server: TestDatabase;
freshStore((store) => {
  ({ server } = store);
});
const [first = '', second = '', third = ''] = closedDays(3);

/** Exports three days with pages of 20 from a source that takes pages of such lengths only. */
async function exportedFrom(
  isTaken: (length: number) => boolean,
  totals: 'none' | 'exact',
  Source = ImaginedSource,
) {
  const lists = { [first]: records(1_000, 37), [second]: [], [third]: records(3_000, 1) };
  const source = new Source(lists, {
    totals,
    before: (_, { length }) => {
      if (!isTaken(length)) throw new RequestError(400, `no pages of ${length}`);
    },
  });
  const stream = newStream();
  const run = async () => {
    const lengthening = Object.assign(Object.create(source) as ImaginedSource, {
      fetchPage: lengtheningPages(source.fetchPage),
    });
    const exporting = { server, source: lengthening, stream, since: first, recheckDays: 3 };
    await runOnce({ ...exporting, pageLength: 20, settleMs: SETTLE_MS });
  };
  await run();
  const requests = source.asked.length;
  // The next process begins with looks, for pages that are short.
  await letTimePass(server, '2 hours');
  await run();
  const results = [...(await readResults(server, stream)).values()];
  return { results, requests, again: source.asked.length - requests };
}

it.each(andAtNight(['none'], ['exact']))(
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

it.each(andAtNight(['exact'], ['none']))(
  'of 10, 20 or 50 records only, totals %s',
  async (totals) => {
    const { results } = await exportedFrom((length) => [10, 20, 50].includes(length), totals);
    expect(results.map(({ state, published }) => [state, published.length])).toEqual([
      ['complete', 37],
      ['complete', 0],
      ['complete', 1],
    ]);
  },
);

it.each(
  andAtNight<[string, 'none' | 'exact', (length: number) => boolean]>(
    [
      ['of five records and more', 'exact', (length) => length >= 5],
      ['of 10, 20 or 50 records', 'none', (length) => [10, 20, 50].includes(length)],
    ],
    [
      ['of five records and more', 'none', (length) => length >= 5],
      ['of 10, 20 or 50 records', 'exact', (length) => [10, 20, 50].includes(length)],
    ],
  ),
)('%s, and counted by number, totals %s', async (_, totals, isTaken) => {
  const { results, requests, again } = await exportedFrom(isTaken, totals, ByNumber);
  expect(results.map(({ state, published }) => [state, published.length])).toEqual([
    ['complete', 37],
    ['complete', 0],
    ['complete', 1],
  ]);
  expect(requests).toBeLessThan(180);
  expect(again).toBeLessThan(40);
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
