/** A pool whose connections may be ended by the server at any time, also while they are being ended here. */
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
