/** Two streams of one API: what is wrong with one of them alone keeps nothing of the other. */
import { expect, it } from 'vitest';
import { UnavailableError } from '../../src/errors.ts';
import { catchUp } from '../../src/walk/run.ts';
import type { TestDatabase } from '../support/database.ts';
import { exporterParts, OPTIONS } from '../support/exporter.ts';
import { freshStore, hastyClock, records } from '../support/store.ts';
import { closedDays, newStream, readResults, SETTLE_MS, sharedDatabase } from './exporting.ts';
import { ImaginedSource } from './imagined-source.ts';

let server: TestDatabase;

freshStore((store) => {
  ({ server } = store);
});

/** Both streams have the same days; `away` are those resources that are not answered. */
function exportOfTwo(windows: number) {
  const days = closedDays(6);
  const away = new Set<string>();
  const lists = Object.fromEntries(days.map((day, n) => [day, records(1_000 * (n + 1), 3 + n)]));
  const source = new ImaginedSource(lists, {
    totals: 'exact',
    before: (_, { resource }) => {
      if (away.has(resource)) throw new UnavailableError('api', `${resource} answered 504`);
    },
  });
  const streams = [newStream(), newStream({ resource: 'smart-event' })] as const;
  const run = () =>
    catchUp(
      exporterParts({ database: sharedDatabase(server), source, clock: hastyClock }),
      { ...OPTIONS, streams, since: days[0] ?? '', settleMs: SETTLE_MS, windows },
      'hand',
      new AbortController().signal,
    );
  const states = async () => {
    const results = streams.map((stream) => readResults(server, stream));
    return (await Promise.all(results)).map((days) => [...days.values()].map((one) => one.state));
  };
  return { source, away, run, states, streams };
}

const ALL = Array(6).fill('complete');

it.each([1, 12])(
  'a stream that is not answered does not keep the other one from being exported, with %i windows at a time',
  async (windows) => {
    const { source, away, run, states, streams } = exportOfTwo(windows);
    away.add('smart-event');
    const { stopped } = await run();
    expect(stopped).toEqual([{ stream: streams[1].name, reason: 'smart-event answered 504' }]);
    expect((await states())[0]).toEqual(ALL);
    // Three for each window; those that waited for the first one are given back.
    const asked = source.asked.filter(({ resource }) => resource === 'smart-event');
    expect(asked.length).toBeLessThan(18);
    away.clear();
    expect((await run()).stopped).toEqual([]);
    expect(await states()).toEqual([ALL, ALL]);
  },
);

it('where no stream is answered the API is away', async () => {
  const { source, away, run, states } = exportOfTwo(12);
  for (const resource of ['events', 'smart-event']) away.add(resource);
  await expect(run()).rejects.toThrow(UnavailableError);
  expect(source.asked.length).toBeLessThan(30);
  away.clear();
  await run();
  expect(await states()).toEqual([ALL, ALL]);
});
