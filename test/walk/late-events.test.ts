/** Late events, and what the answer to a look says of them. */
import { describe, expect, it } from 'vitest';
import type { TestDatabase } from '../support/database.ts';
import { letTimePass } from '../support/pass-time.ts';
import { freshStore, records } from '../support/store.ts';
import { shuffle } from './any-source.ts';
import { closedDays, type Exporting, newStream, readResults, runOnce, teach } from './exporting.ts';
import { type Habits, ImaginedSource } from './imagined-source.ts';

let server: TestDatabase;
const [first = '', second = ''] = closedDays(2);
freshStore((store) => {
  ({ server } = store);
});

const pass = (interval: string) => letTimePass(server, interval);
const body = (list: readonly string[], total: number | null, more = '') =>
  `{${total === null ? '' : `"total":${total},`}${more}"data":[${list.join(',')}]}`;

/** Exports two days, lets a late record come to the second, and looks so often, a day apart. */
async function late(
  lists: readonly [readonly string[], readonly string[]],
  habits: Habits,
  came: string,
  {
    looks = 3,
    onLook = () => {},
    ...change
  }: Partial<Exporting> & { looks?: number; onLook?: () => void } = {},
) {
  const source = new ImaginedSource({ [first]: lists[0], [second]: lists[1] }, habits);
  const exporting: Exporting = {
    ...{
      server,
      source,
      stream: newStream(),
      since: first,
      pageLength: 50,
      recheckDays: 7,
      ...change,
    },
  };
  await runOnce(exporting);
  const before = (await readResults(server, exporting.stream)).get(second);
  expect(before).toMatchObject({ state: 'complete', published: [...lists[1]].sort() });
  source.lists.set(`${second} 00:00:00`, [...lists[1], came]);
  onLook();
  for (let look = 0; look < looks; look += 1) {
    await pass('25 hours');
    await runOnce(exporting);
  }
  const asked = source.asked.length;
  return { ...(await readResults(server, exporting.stream)).get(second), asked };
}

describe('a late record behind the last one, which comes alone', () => {
  it('as pages hold one record', async () => {
    const { published, state } = await late(
      [records(100, 5), records(200, 4)],
      { clamp: 1 },
      '{"id": 204}',
    );
    expect({ state, published: published?.length }).toEqual({ state: 'complete', published: 5 });
  });

  it.each([
    ['on its second page', [200, 201, 202], [50, 6_000, 6_000]],
    ['alone, where another day has shown such records', [200], [9_990]],
  ])('as pages hold so many bytes, %s', async (_, ids, bytes) => {
    const record = (id: number, bytes: number) => `{"id": ${id}, "raw": "${'x'.repeat(bytes)}"}`;
    const wrap: Habits['wrap'] = (list) => {
      const fits = list.findIndex((_, n) => list.slice(0, n + 1).join('').length > 10_000);
      return body(list.slice(0, fits === -1 ? list.length : Math.max(1, fits)), null);
    };
    const day = ids.map((id, index) => record(id, bytes[index] ?? 0));
    const other = [record(99, 50), record(100, 50), record(101, 9_990), record(102, 9_990)];
    const { published, state } = await late([other, day], { wrap }, record(203, 6_000));
    const all = day.length + 1;
    expect({ state, published: published?.length }).toEqual({ state: 'complete', published: all });
  });
});

describe('a late record of an empty day', () => {
  it.each([null, 'exact'])('as pages that are too long come empty, total %s', async (told) => {
    const wrap: Habits['wrap'] = (list, total, { length }) =>
      body(length > 20 ? [] : list, told === null ? null : total);
    const { published, state } = await late(
      [records(100, 15), []],
      { wrap, ...(told === null ? {} : { totals: 'exact' }) },
      '{"id": 204}',
    );
    expect({ state, published: published?.length }).toEqual({ state: 'complete', published: 1 });
  });
});

it('a look that is answered with a part, and says so, finds nothing as it is stored', async () => {
  let looks = false;
  const wrap: Habits['wrap'] = (list, _, { from, to }) => {
    const isPart = looks && from.startsWith(second) && to.startsWith(second);
    return isPart
      ? body(
          list.filter((record) => record !== '{"id": 204}'),
          null,
          '"partial":true,',
        )
      : body(list, null);
  };
  const { published, state } = await late(
    [records(100, 5), records(200, 4)],
    { wrap },
    '{"id": 204}',
    {
      looks: 1,
      recheckDays: 0,
      onLook: () => {
        looks = true;
      },
    },
  );
  expect({ state, published: published?.length }).not.toEqual({ state: 'complete', published: 4 });
});

it('a look at a day that single pages have proven hears the total', async () => {
  let looks = false;
  const source: ImaginedSource = new ImaginedSource(
    { [first]: records(100, 9), [second]: records(200, 6) },
    {
      totals: 'exact',
      arrange: shuffle,
      wrap: (list, total, { from, to }) =>
        body(
          looks && from.startsWith(second) && to.startsWith(second)
            ? list.filter((record) => record !== '{"id": 209}')
            : list,
          total,
        ),
    },
  );
  const exporting: Exporting = {
    server,
    source,
    stream: newStream(),
    since: first,
    pageLength: 30,
    recheckDays: 7,
  };
  await teach(exporting, { restless: true, calibrated: 50 });
  await runOnce(exporting);
  expect((await readResults(server, exporting.stream)).get(second)).toMatchObject({
    state: 'complete',
    proof: { kind: 'union' },
  });
  source.lists.set(`${second} 00:00:00`, [...records(200, 6), '{"id": 209}']);
  looks = true;
  await pass('25 hours');
  await runOnce(exporting);
  expect((await readResults(server, exporting.stream)).get(second)?.state).not.toBe('complete');
});
