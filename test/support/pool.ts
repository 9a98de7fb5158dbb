/** Pools of tests, whose connections may be ended by the server at any time, also while they are being ended here. */
import pg from 'pg';

/**
 * A pool of a test. `pool.end()` does not wait for its connections: a database that is dropped behind it ends them, and
 * an error of a connection that nobody listens to ends the run.
 * @param max how many connections it may have.
 */
export function openPool(url: string, max: number, more: pg.PoolConfig = {}): pg.Pool {
  const pool = new pg.Pool({ ...more, connectionString: url, max });
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/** The `query` of a test database: the rows of one statement on any connection of the pool. */
export const rowsFrom =
  (pool: pg.Pool) =>
  async <Row extends pg.QueryResultRow>(
    statement: string,
    values: readonly unknown[] = [],
  ): Promise<Row[]> =>
    (await pool.query<Row>(statement, [...values])).rows;
