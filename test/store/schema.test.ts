/** migrations/schema.sql is what the migrations make; `npm run schema` writes it. Every table and column says what it means. */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { dumpSchema, majorOf } from '../support/schema-dump.ts';

const file = fileURLToPath(new URL('../../migrations/schema.sql', import.meta.url));
let server: TestDatabase;

beforeAll(async () => {
  server = await createTestDatabase();
});

describe('migrations/schema.sql', () => {
  it('is the schema that the migrations make', async ({ skip }) => {
    const dump = await dumpSchema(server);
    const written = existsSync(file) ? majorOf(readFileSync(file, 'utf8')) : undefined;
    // Each major tells some definitions in other words. To move to another one, delete the file and write it anew.
    skip(
      written !== undefined && written !== majorOf(dump),
      `written on PostgreSQL ${written}, this server is ${majorOf(dump)}`,
    );
    await expect(dump).toMatchFileSnapshot(file);
  });

  it('is the same again, and with a partition more', async () => {
    const before = await dumpSchema(server);
    await server.query(`select daywalk.ensure_partition('2026-03-01')`);
    expect(await dumpSchema(server)).toBe(before);
  });
});

describe('comments', () => {
  it('stand at every table, view and column, and at the schema', async () => {
    const silent = await server.query<{ name: string }>(
      `select format('%s.%s', c.relname, a.attname) as name
         from pg_class c
         left join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
        where c.relnamespace = 'daywalk'::regnamespace and c.relkind in ('r', 'p', 'v', 'm') and not c.relispartition and c.relname <> 'migrations'
          and (coalesce(col_description(c.oid, a.attnum), '') = '' or coalesce(obj_description(c.oid, 'pg_class'), '') = '')
        order by 1`,
    );
    expect(silent.map((row) => row.name)).toEqual([]);
    expect(
      await server.query(
        `select from pg_namespace where nspname = 'daywalk' and obj_description(oid, 'pg_namespace') <> ''`,
      ),
    ).toHaveLength(1);
  });

  it('are sentences', async () => {
    const odd = await server.query<{ description: string }>(
      `select d.description from pg_description d join pg_class c on c.oid = d.objoid and d.classoid = 'pg_class'::regclass
        where c.relnamespace = 'daywalk'::regnamespace and d.description !~ '\\.$'`,
    );
    expect(odd.map((row) => row.description)).toEqual([]);
  });
});
