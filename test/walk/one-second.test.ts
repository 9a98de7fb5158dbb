/** Days of which all records stand in one second and level: no smaller question tells whether their lists are cut short (docs/completeness.md C6). */
import { expect, it } from 'vitest';
import { addDays } from '../../src/plan/days.ts';
import type { TestDatabase } from '../support/database.ts';
import { andAtNight } from '../support/night.ts';
import { freshStore, records } from '../support/store.ts';
import { closedDays, exported, newStream, teach } from './exporting.ts';
import { type Habits, ImaginedSource, idOf } from './imagined-source.ts';

let server: TestDatabase;
const [first = '', second = '', third = ''] = closedDays(3);
const LEVELS = 17;
const MOST = 37;

freshStore((store) => {
  ({ server } = store);
});

/** A nightly batch of so many records, all of one level. */
const batch = (night: number, count: number) =>
  Array.from({ length: count }, (_, n) => `{"id": ${LEVELS * (100 * night + n)}}`);

const nights = (...counts: readonly number[]) =>
  Object.fromEntries(
    [first, second, third].map((day, night) => [day, batch(night, counts[night] ?? 0)]),
  );

async function statesOf(
  lists: Readonly<Record<string, readonly string[]>>,
  habits: Habits,
  facts: Readonly<Record<string, unknown>> = {},
) {
  const source = new ImaginedSource(lists, { at: () => 7_200, ...habits });
  const exporting = { server, source, stream: newStream(), since: first, pageLength: 50 };
  await teach(exporting, facts);
  const results = await exported(exporting);
  expect(source.asked.length).toBeLessThan(500);
  return [...results.values()].map(({ state }) => state);
}

/** Pages are counted by number. */
const byNumber: Habits['arrange'] = (list, _, { start, length }) =>
  startingAt(start, list.slice(Math.floor(start / length) * length));

/** A list that is shown from a start on. */
const startingAt = (start: number, list: readonly string[]): readonly string[] => [
  ...Array.from({ length: start }, () => ''),
  ...list,
];

it.each(
  andAtNight<[string, Record<string, readonly string[]>, Habits]>(
    [
      ['as many each, without totals', nights(MOST, MOST, MOST), {}],
      ['ever more', nights(23, 29, MOST), {}],
    ],
    [
      ['as many each, with totals', nights(MOST, MOST, MOST), { totals: 'exact' }],
      ['as many each, by number', nights(MOST, MOST, MOST), { arrange: byNumber }],
      ['ever fewer', nights(MOST, 29, 23), {}],
      ['one a week', { [third]: batch(2, MOST), [addDays(third, -7)]: batch(1, MOST) }, {}],
    ],
  ),
)(
  'batches of one second are complete where two of them show more: %s',
  async (_, lists, habits) => {
    expect(await statesOf(lists, habits)).toEqual(['complete', 'complete', 'complete']);
  },
);

const capped =
  (
    behind: (list: readonly string[], start: number) => readonly string[],
  ): NonNullable<Habits['arrange']> =>
  (list, _, { start }) => {
    const most = list.slice(0, MOST);
    return start < MOST ? most : startingAt(start, most.length < MOST ? [] : behind(most, start));
  };

it.each(
  andAtNight<[string, Record<string, readonly string[]>, Habits, object?]>(
    [
      ['lists end there', nights(50, MOST, 50), { arrange: capped(() => []) }],
      ['a round number may be a cap for each day', nights(40, 40, 40), {}],
    ],
    [
      ['lists begin anew there', nights(50, MOST, 50), { arrange: capped((list) => list) }],
      [
        'the last one comes again there',
        nights(50, MOST, 50),
        { arrange: capped((list) => list.slice(-1)) },
      ],
      ['lists are cut otherwise', nights(MOST, MOST, MOST), {}, { cut_otherwise: true }],
    ],
  ),
)('batches of one second fail where %s', async (_, lists, habits, facts) => {
  expect(await statesOf(lists, habits, { ...facts })).toEqual(['failed', 'failed', 'failed']);
});

it('a batch beside a midnight is told of by its cut, too', async () => {
  expect(await statesOf(nights(MOST, MOST, MOST), { at: () => 60 })).toEqual([
    'complete',
    'complete',
    'complete',
  ]);
});

it.each(andAtNight([2], [3]))(
  'a record at which both edges of its second end is not shown by both cuts beside it (%i)',
  async (base) => {
    const [day = ''] = closedDays(1);
    const midnight = Date.parse(`${day}T00:00:00Z`) / 1_000;
    const secondsOf = (time: string) => Date.parse(`${time.replace(' ', 'T')}Z`) / 1_000 - midnight;
    // One at a full second, the others in the middle of those beside it.
    const at = (record: string) => 40_000 + base + ((idOf(record) % 3) - 1) / 2;
    const source = new ImaginedSource(
      { [day]: records(1_000, 3) },
      {
        at,
        // Both edges are left out, and ranges but those around cuts show something else each time, besides.
        arrange: (list, number, { from, to }) => {
          const within = list.filter(
            (record) => at(record) > secondsOf(from) && at(record) < secondsOf(to),
          );
          const isSteady = [0, 1, 3].includes(secondsOf(to) - secondsOf(from));
          return isSteady || within.length === 0
            ? within
            : [...within, `{"id": ${5_000 + number}}`];
        },
      },
    );
    const exporting = { server, source, stream: newStream(), since: day, pageLength: 50 };
    await teach(exporting, { restless: true, reach: 1 });
    const results = await exported(exporting);
    expect(results.get(day)?.state).toBe(base === 2 ? 'failed' : 'complete');
  },
);
