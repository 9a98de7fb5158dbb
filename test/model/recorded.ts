/** The statements of the store as they are sent, caught before they go out: so that a test can deliver them when it likes. */
import { systemClock } from '../../src/clock.ts';
import { silentLogger } from '../../src/log.ts';
import { Database, type SqlValues } from '../../src/store/database.ts';

/** One statement with its values. */
export interface Recorded {
  readonly sql: string;
  readonly values: SqlValues;
}

/** Ends the function whose statement was caught. */
class Caught extends Error {}

class RecordingDatabase extends Database {
  caught: Recorded | undefined;
  override query<Row extends Record<string, unknown>>(
    sql: string,
    values: SqlValues = [],
  ): Promise<Row[]> {
    this.caught = { sql, values };
    return Promise.reject(new Caught('caught'));
  }
}

/** The first statement that `send` would have executed. */
export async function record(send: (database: Database) => Promise<unknown>): Promise<Recorded> {
  const database = new RecordingDatabase({
    url: 'postgres://nobody@127.0.0.1:1/nothing',
    connections: 1,
    statementTimeoutMs: 1_000,
    patienceMs: 0,
    clock: systemClock,
    log: silentLogger,
  });
  await send(database).catch((error: unknown) => {
    if (!(error instanceof Caught)) throw error;
  });
  await database.close();
  if (database.caught === undefined) throw new Error('nothing was sent');
  return database.caught;
}
