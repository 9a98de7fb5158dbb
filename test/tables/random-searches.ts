/** Whatever records are shown, and whichever filters there are: a search finds exactly those that hold the value. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Database } from '../../src/store/database.ts';
import { makeFilters } from '../../src/tables/page-filter-rows.ts';
import { type StreamHit, search } from '../../src/tables/search.ts';
import type { TestDatabase } from '../support/database.ts';
import { letHoursPass, proveCutOf, proveTexts, windowOf } from '../support/publishing.ts';
import { clear, DAY, freshStore, planDays } from '../support/store.ts';
import { anyTree, holds, NUMBERS, respelled, STRINGS, type Tree, written } from './json-trees.ts';

let server: TestDatabase;
let database: Database;

/** Which pages of those shown get a filter after a walk. */
type Filters = 'none' | 'one' | 'all';

interface Walked {
  /** Which of the trees it shows, in which order, with two on each page. */
  readonly shows: readonly number[];
  readonly filters: Filters;
}

async function filter(streamId: number, filters: Filters): Promise<void> {
  if (filters === 'one')
    await server.query(`select daywalk.make_filters($1, $2, 1)`, [streamId, DAY]);
  if (filters === 'all') while (((await makeFilters(database, streamId, DAY)) ?? 0) > 0);
}

/** A record with its own number, by which it is known again. */
const textOf = (tree: Tree, id: number) => `{"#": ${1000 + id}, "of": ${written(tree)}}`;

/** Walks the day again and again, and asks what lies across its end; the numbers of the records that are shown. */
async function play(
  trees: readonly Tree[],
  walks: readonly Walked[],
  across: readonly number[],
): Promise<Map<number, boolean>> {
  await clear(server);
  const streamId = await planDays(database);
  const window = await windowOf(database, streamId, DAY);
  for (const { shows, filters } of walks) {
    await letHoursPass(database, 2);
    const texts = shows.map((id) => textOf(trees[id] as Tree, id));
    const pages = Array.from({ length: Math.max(1, Math.ceil(texts.length / 2)) }, (_, page) =>
      texts.slice(page * 2, page * 2 + 2),
    );
    await proveTexts(database, window, pages);
    await filter(streamId, filters);
  }
  if (across.length > 0) {
    const texts = across.map((id) => textOf(trees[id] as Tree, id));
    await proveCutOf(
      database,
      await windowOf(database, streamId, DAY, 'cut'),
      { across: texts, before: [], after: [] },
      { records: texts.length, removed: 0 },
    );
    await filter(streamId, walks.at(-1)?.filters ?? 'none');
  }
  const rows = await server.query<{ id: number; gone: boolean }>(
    `select (record ->> '#')::integer as id, gone_since is not null as gone from daywalk.shown_records`,
  );
  expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
  return new Map(rows.map(({ id, gone }) => [id - 1000, gone]));
}

/** What the SQL function and the verb find, as the number of the record and whether it is gone. */
async function found(value: string): Promise<{ sql: string[]; verb: string[] }> {
  const rows = await server.query<{ id: number; gone: boolean; paths: string[]; record: unknown }>(
    `select (record ->> '#')::integer as id, gone_since is not null as gone, paths,
            (select bool_and(record @? path::jsonpath) from unnest(paths) as path) as there
       from daywalk.search($1)`,
    [value],
  );
  for (const row of rows) {
    expect(row.paths.length).toBeGreaterThan(0);
    expect(row).toMatchObject({ there: true });
  }
  const hits: StreamHit[] = [];
  const request = { value, streams: ['events'], from: null, to: null, limit: null, moved: null };
  await search(database, request, (more) => hits.push(...more), new AbortController().signal);
  const said = (id: number, gone: boolean) => `${id}${gone ? ' gone' : ''}`;
  return {
    sql: rows.map(({ id, gone }) => said(id, gone)).sort(),
    verb: hits
      .map(({ record, goneSince }) =>
        said(Number(/"#": (\d+)/.exec(record)?.[1]), goneSince !== null),
      )
      .sort(),
  };
}

const walked = fc.record<Walked>({
  shows: fc.shuffledSubarray([0, 1, 2, 3, 4]),
  filters: fc.constantFrom<Filters>('none', 'one', 'all'),
});
const anyValue = fc.oneof(
  fc.constantFrom(
    ...STRINGS.filter((text) => text !== ''),
    ...NUMBERS,
    'false',
    'key',
    '1003',
    '#',
  ),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 6 }),
);

/** A search finds what looking at every record finds, in so many random stores. */
export function searchFindsAll(runs: number): void {
  freshStore((store) => {
    ({ server, database } = store);
  });

  it('finds what looking at every record finds', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyTree, { minLength: 6, maxLength: 6 }),
        fc.array(walked, { minLength: 1, maxLength: 3 }),
        fc.constantFrom([], [5]),
        fc.array(anyValue, { minLength: 1, maxLength: 8 }),
        async (trees, walks, across, values) => {
          const shown = await play(trees, walks, across);
          for (const value of new Set([...values, ...trees.flatMap(respelled).slice(0, 6)])) {
            const expected = [...shown]
              .filter(([id]) => holds(trees[id] as Tree, value) || value === String(1000 + id))
              .map(([id, gone]) => `${1000 + id}${gone ? ' gone' : ''}`)
              .sort();
            expect(await found(value), JSON.stringify(value)).toEqual({
              sql: expected,
              verb: expected,
            });
          }
        },
      ),
      { numRuns: runs },
    );
  }, 240_000);
}
