/** Looks at a source that does not change: they find nothing, and end. */
import { expect, it } from 'vitest';
import { RequestError } from '../../src/errors.ts';
import type { TestDatabase } from '../support/database.ts';
import { atNight } from '../support/night.ts';
import { letTimePass } from '../support/pass-time.ts';
import { freshStore, records } from '../support/store.ts';
import { closedDays, type Exporting, newStream, readResults, runOnce } from './exporting.ts';
import {
  type Habits,
  ImaginedSource,
  idOf,
  pagesByNumber,
  pagesInstead,
  secondOf,
} from './imagined-source.ts';

let server: TestDatabase;
const [one = '', two = '', three = ''] = closedDays(3);
freshStore((store) => {
  ({ server } = store);
});
const pass = (interval: string) => letTimePass(server, interval);

/** Events 190 to 199 stand in the last fraction of the second day. */
const at = (record: string) => (Math.floor(idOf(record) / 10) === 19 ? 86_399.5 : secondOf(record));
const LISTS = {
  [one]: records(300, 5),
  [two]: [...records(100, 4), ...records(190, 2)],
  [three]: records(400, 5),
};

async function rounds(
  habits: Habits,
  change: Partial<Exporting> = {},
  lists: Readonly<Record<string, readonly string[]>> = LISTS,
) {
  const source: ImaginedSource = new ImaginedSource(lists, { at, ...habits });
  const exporting: Exporting = {
    server,
    source,
    stream: newStream(),
    since: one,
    pageLength: 30,
    recheckDays: 7,
    ...change,
  };
  await runOnce(exporting);
  const asked = [];
  for (let round = 0; round < 8; round += 1) {
    await pass('90 minutes');
    const before = source.asked.length;
    await runOnce(exporting);
    asked.push(source.asked.length - before);
  }
  const states = [...(await readResults(server, exporting.stream)).values()].map(
    ({ state, lastError }) => lastError ?? state,
  );
  return { states, asked };
}

const QUIET = {
  states: ['complete', 'complete', 'complete'],
  asked: [expect.any(Number), 0, 0, 0, 0, 0, 0, 0],
};

it('pages by offset', async () => {
  expect(await rounds({})).toEqual(QUIET);
});

it('has nothing but what stands between two days', async () => {
  const lists = { [one]: [], [two]: records(190, 2), [three]: [] };
  expect(await rounds({}, {}, lists)).toEqual(QUIET);
});

it('refuses to begin behind the last record', async () => {
  let source: ImaginedSource;
  const before: Habits['before'] = (own, request) => {
    source = own;
    if (request.start > 0 && request.start >= source.within(request).length)
      throw new RequestError(400, 'start is too large');
  };
  expect(await rounds({ before })).toEqual(QUIET);
});

atNight('counts pages by number, and refuses those behind the last one', async () => {
  const before: Habits['before'] = (own, request) => {
    if (request.start > 0 && request.start >= own.within(request).length)
      throw new RequestError(404, 'no such page');
  };
  expect(await rounds({ before, arrange: pagesByNumber }, { pageLength: 3 })).toEqual(QUIET);
});

atNight(
  'counts pages by number, and answers with the last one for all that is behind it',
  async () => {
    let source: ImaginedSource | null = null;
    const before: Habits['before'] = (own) => {
      source = own;
    };
    const wrap = pagesInstead(() => source as ImaginedSource, Math.min);
    expect(await rounds({ totals: 'exact', before, wrap }, { pageLength: 3 })).toEqual(QUIET);
  },
);

it('counts pages by number', async () => {
  expect(await rounds({ arrange: pagesByNumber }, { pageLength: 3 })).toEqual(QUIET);
});
