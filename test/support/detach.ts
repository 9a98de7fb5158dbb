/** A month of pages that somebody detaches. */
import type { Database } from '../../src/store/database.ts';
import { until } from './condition.ts';
import type { TestDatabase } from './database.ts';

/** Of the month of the tests. */
export const DETACH = 'alter table daywalk.pages detach partition daywalk.pages_2026_03';

/** Somebody detaches it beside a reader, and is cancelled while waiting for the end of that. */
export const detachHalf = (server: TestDatabase, database: Database): Promise<void> =>
  database.transaction(async (query) => {
    await query('select from daywalk.pages', []);
    const detaching = server.query(`${DETACH} concurrently`).catch(() => null);
    await until('it waits', async () => {
      const waiting = await server.query(
        `select pg_cancel_backend(pid) from pg_stat_activity
          where datname = current_database() and query ~ 'concurrently$' and wait_event_type = 'Lock'`,
      );
      return waiting.length > 0;
    });
    if ((await detaching) !== null) throw new Error('it was not cancelled');
  });
