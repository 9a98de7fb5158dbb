/** The query of docs/tier.md over days that moved and days that are here, as ClickHouse runs it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import type { Database } from '../../src/store/database.ts';
import { EVENTS_FOLDER } from '../../src/tier/day-objects.ts';
import { openFolderStore } from '../../src/tier/folder-store.ts';
import { askClickHouse, testWithClickHouse } from '../support/clickhouse.ts';
import type { TestDatabase } from '../support/database.ts';
import { temporaryFolder } from '../support/program.ts';
import { freshStore } from '../support/store.ts';
import { DAYS, makeDays, moveAll, partsOf } from './moving-scene.ts';

let server: TestDatabase;
let database: Database;
freshStore((fresh) => {
  ({ server, database } = fresh);
});

/** The query of the page, with the places of this test. */
function queryOf(root: string): string {
  const page = readFileSync(new URL('../../docs/tier.md', import.meta.url), 'utf8');
  const sql =
    page.split('```').find((block) => block.startsWith('sql\n') && block.includes('postgresql(')) ??
    '';
  const { hostname, port, pathname, username, password } = new URL(server.url);
  return sql
    .slice('sql\n'.length)
    .replace(/;\s*$/, '')
    .replaceAll(/deltaLake\([^)]*\)/g, `deltaLakeLocal('${join(root, EVENTS_FOLDER)}')`)
    .replaceAll("'postgres:5432', 'daywalk',", `'${hostname}:${port}', '${pathname.slice(1)}',`)
    .replaceAll("'reader', 'password'", `'${username}', '${password}'`);
}

testWithClickHouse('old days and new ones are one list', async () => {
  await makeDays(database);
  const records =
    'select day::text, record::text as record from daywalk.shown_records where stream = $1 order by 1, 2';
  const before = await server.query(records, ['events']);
  const root = temporaryFolder();
  await moveAll(
    partsOf(database, openFolderStore(root, systemClock)),
    ['events'],
    DAYS.slice(0, 2),
  );
  expect((await server.query(records, ['events'])).length).toBeLessThan(before.length);
  const sql = queryOf(root);
  expect(sql).toMatch(/deltaLakeLocal.*postgresql/s);
  const rows = await askClickHouse(
    root,
    `select toString(day), record from (${sql}) where stream = 'events' order by 1, 2`,
  );
  expect(rows.map(([day, record]) => ({ day, record }))).toEqual(before);
});
