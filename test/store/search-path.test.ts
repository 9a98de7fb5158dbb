/** Functions of the schema find what they call in pg_catalog and nowhere else, whatever somebody planted in public. */
import { beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { letHoursPass, proveTexts, publishNext, textsOf, windowOf } from '../support/publishing.ts';
import { DAY, openDatabase, planDays } from '../support/store.ts';

let server: TestDatabase;

beforeAll(async () => {
  server = await createTestDatabase();
});

describe('every function', () => {
  it('has a fixed search path', async () => {
    const loose = await server.query<{ name: string }>(
      `select p.oid::regprocedure::text as name from pg_proc p
        where p.pronamespace = 'daywalk'::regnamespace
          and not coalesce(p.proconfig @> array['search_path=pg_catalog, pg_temp'], false)
          -- A body in standard SQL was resolved when the function was made.
          and p.prosqlbody is null`,
    );
    expect(loose.map(({ name }) => name)).toEqual([]);
  });

  it('has a comment where readers, auditors and owners call it', async () => {
    const called = await server.query<{ name: string }>(
      `select p.proname as name from pg_proc p
        where p.pronamespace = 'daywalk'::regnamespace and obj_description(p.oid, 'pg_proc') <> '' order by 1`,
    );
    expect(called.map(({ name }) => name)).toEqual([
      'check_pages',
      'check_shared',
      'check_walk',
      'let_audit',
      'let_move',
      'let_read',
      'let_work',
      'require_complete',
      'search',
      'time_of',
    ]);
  });
});

describe('functions that somebody planted in public', () => {
  /** They fit the arguments of the program better than the ones that it means, so that they would be called instead. */
  const planted = [
    'hash_array_extended(bigint[], integer) returns bigint',
    'cardinality(bigint[]) returns integer',
    'array_remove(bigint[], bigint) returns bigint[]',
    'jsonb_build_array(bigint, integer) returns jsonb',
    'array_position(text[], text) returns integer',
  ];

  it('are not called by storing, proving, showing and sealing', async () => {
    for (const signature of planted)
      await server.query(
        `create function public.${signature} language plpgsql as $$ begin raise exception 'planted'; end $$`,
      );
    const database = openDatabase(server.url);
    const streamId = await planDays(database);
    await publishNext(database, streamId, [[1, 2], [3]]);
    await letHoursPass(database, 2);
    await proveTexts(database, await windowOf(database, streamId, DAY), [textsOf([1, 4])]);
    const [{ entry } = { entry: null }] = await server.query<{ entry: string }>(
      'select daywalk.append_to_ledger($1, $2) as entry',
      [streamId, DAY],
    );
    expect(entry).toBe('1');
    const [row] = await server.query('select count(*)::int as records from daywalk.events');
    expect(row).toEqual({ records: 4 });
  });
});
