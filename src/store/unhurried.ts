/** Statements that now and then take longer than a statement may: all that is stored of a stream may have to be read for them. */
import { TransientError } from '../errors.ts';
import { LockedError } from './connection/sqlstate.ts';
import type { Database, SqlValues } from './database.ts';

/**
 * The value of a statement that does no harm when it runs twice. Where it does not end in time it is begun once more, under the deadline of
 * {@link Database.patiently}.
 * @throws as {@link Database.persist}.
 */
export async function unhurried<T>(database: Database, sql: string, values: SqlValues): Promise<T> {
  const [row] = await database.retry(() =>
    database.query<Record<string, T>>(sql, values).catch((error: unknown) => {
      if (!(error instanceof TransientError && isLate(error))) throw error;
      // With patience of its own: that of the outer one is over by now.
      return database.retry(() => database.patiently<Record<string, T>>(sql, values));
    }),
  );
  return Object.values(row ?? {})[0] as T;
}

const isLate = (error: TransientError): boolean => error.timedOut || error instanceof LockedError;
