/** Statements of tests that neither foreign keys nor the ledger's triggers see. */
import type pg from 'pg';
import { afterAll } from 'vitest';
import type { TestDatabase } from './database.ts';
import { inEveryFile } from './hooks.ts';
import { openPool } from './pool.ts';

const pools = new Map<TestDatabase, pg.Pool>();
inEveryFile(() =>
  afterAll(async () => {
    for (const pool of pools.values()) await pool.end();
    pools.clear();
  }),
);

/**
 * One statement that nothing guards against, on a connection of its own: one that changes its role in between plans all of its
 * statements anew.
 */
export async function unguarded(server: TestDatabase, statement: string): Promise<void> {
  const pool = pools.get(server) ?? open(server);
  pools.set(server, pool);
  await pool.query(statement);
}

function open({ pool }: TestDatabase): pg.Pool {
  const url = new URL(String(pool.options.connectionString));
  url.searchParams.set('options', '-c session_replication_role=replica');
  return openPool(url.href, 1, { idleTimeoutMillis: 0 });
}
