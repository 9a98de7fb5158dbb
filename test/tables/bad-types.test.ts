/**
 * Records whose fields are of every wrong type: each value of the table is what it must be, or null and listed. A small
 * part here; `TABLES_RECORDS=1000000 npx vitest run test/tables/bad-types.test.ts` is a million of them, and prints what it took.
 */
import { expect, test } from 'vitest';
import { readTables } from '../../src/days/coverage-rows.ts';
import type { Column } from '../../src/model.ts';
import { addDays } from '../../src/plan/days.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { dice } from '../support/dice.ts';
import { proveTexts, windowOf } from '../support/publishing.ts';
import { openDatabase, planBareDays } from '../support/store.ts';
import { type Cell, cellOf, valueFor } from './bad-values.ts';
import { apply, column, sync, tableOf } from './tables-stage.ts';

const RECORDS = Number(process.env.TABLES_RECORDS ?? 3_000);
const LARGE = RECORDS > 100_000;
const [PER_PAGE, PER_DAY] = LARGE ? [1_000, 50_000] : [250, 1_500];
const SEED = 20_261_122;
const FIRST = '2026-01-01';
const HOUR_MS = 3_600_000;

const COLUMNS: readonly Column[] = [
  column('t', 'text'),
  column('name', 'text', { index: true }),
  column('flag', 'boolean'),
  column('small', 'smallint'),
  column('whole', 'integer', { index: true }),
  column('big', 'bigint'),
  column('n', 'numeric'),
  column('at', 'timestamptz', { index: true }),
  column('on', 'date'),
  column('ip', 'inet'),
  column('uid', 'uuid'),
  column('more', 'jsonb'),
  column('deep', 'bigint', { path: ['deep', 'in', 'it'] }),
];

/** A record, and what the table must hold of it. */
interface Made {
  readonly json: string;
  readonly cells: readonly Cell[];
}

/** The records of a page, always the same. */
function pageOf(day: number, page: number): Made[] {
  const chance = dice(SEED + day * 100_000 + page);
  return Array.from({ length: PER_PAGE }, () => {
    const given = COLUMNS.map(({ type, index }) => {
      for (;;) {
        // A page with a value that jsonb refuses is stored as a copy of it; most are not.
        const value = valueFor(chance, type, page % 10 === 3);
        const cell = cellOf(value, type, index);
        // Days on which every value fits are taken in by another statement.
        if (!cell.faulty || day % 2 === 0) return { value, cell };
      }
    });
    const fields = COLUMNS.flatMap(({ name, path }, at) => {
      const json = given[at]?.value?.json;
      if (path.length === 1) return json === undefined ? [] : [`${JSON.stringify(name)}: ${json}`];
      if (json !== undefined) return [`"deep": {"in": {"it": ${json}}}`];
      // The path ends early, in something else.
      const ends = ['5', '"in"', '[{"in": 1}]', 'null', '{"in": [1]}', '{"it": 1}', '{"in": {}}'];
      return [`"deep": ${ends[Math.floor(chance() * ends.length)]}`];
    });
    return { json: `{${fields.join(', ')}}`, cells: given.map(({ cell }) => cell) };
  });
}

/** A value as the oracle tells it. */
const told = ({ name, type }: Column): string => {
  const quoted = `"${name}"`;
  if (type === 'timestamptz') return `(extract(epoch from ${quoted}) * 1000000)::bigint::text`;
  return type === 'inet' ? `abbrev(${quoted})` : `${quoted}::text`;
};

/** What differs from the oracle on a day; the beginning of it. */
async function wrongOn(server: TestDatabase, day: string, made: readonly Made[]) {
  const rows = await server.query<{ place: string; cells: (string | null)[] }>(
    `select page_no || '/' || place as place, array[${COLUMNS.map(told).join(', ')}] as cells
       from daywalk.alerts where day = $1::date order by page_no, daywalk.alerts.place`,
    [day],
  );
  const listed = await server.query<{ place: string; columns: string[] }>(
    `select page_no || '/' || place as place, array_agg("column") as columns from daywalk.table_faults
      where "table" = 'alerts' and day = $1::date and found <> '' and reason <> '' group by page_no, table_faults.place`,
    [day],
  );
  const faulty = new Map(listed.map(({ place, columns }) => [place, columns]));
  expect(rows).toHaveLength(made.length);
  let faults = 0;
  const wrong: string[] = [];
  for (const [index, { place, cells }] of rows.entries()) {
    const nulls = faulty.get(place) ?? [];
    faults += nulls.length;
    for (const [at, { name }] of COLUMNS.entries()) {
      const wanted = made[index]?.cells[at];
      const isListed = nulls.includes(name);
      if (cells[at] === wanted?.value && isListed === wanted?.faulty) continue;
      const found = `${cells[at]}${isListed ? ', listed' : ''}`.slice(0, 60);
      wrong.push(
        `${day} ${index}: ${name} is ${found}, not ${wanted?.value?.slice(0, 60)} of ${made[index]?.json.slice(0, 2_000)}`,
      );
    }
  }
  expect(wrong.slice(0, 5)).toEqual([]);
  return faults;
}

test(
  `${RECORDS.toLocaleString('en-US')} records with values of every kind are right or listed`,
  async () => {
    const server = await createTestDatabase();
    const database = openDatabase(server.url, { statementTimeoutMs: HOUR_MS });
    const days = Array.from({ length: Math.ceil(RECORDS / PER_DAY) }, (_, day) =>
      addDays(FIRST, day),
    );
    const pagesOf = (day: number) =>
      Array.from({ length: PER_DAY / PER_PAGE }, (_, page) => pageOf(day, page));
    const streamId = await planBareDays(database, days);
    for (const [at, day] of days.entries()) {
      const pages = pagesOf(at).map((page) => page.map(({ json }) => json));
      await proveTexts(database, await windowOf(database, streamId, day), pages);
    }
    await apply(database, tableOf(COLUMNS));
    const since = performance.now();
    await sync(database);
    const seconds = (performance.now() - since) / 1_000;
    let faults = 0;
    for (const [at, day] of days.entries())
      faults += await wrongOn(server, day, pagesOf(at).flat());
    expect(faults).toBeGreaterThan(RECORDS);
    const records = days.length * PER_DAY;
    expect(await readTables(database)).toMatchObject([{ records, faults, behind: 0 }]);
    if (LARGE)
      console.info(
        `${records} rows, ${faults} faults, all as they must be; taken in in ${Math.round(seconds)} s`,
      );
  },
  LARGE ? HOUR_MS : 120_000,
);
