/** Statements that now and then take longer than a statement may: all that is stored of a stream may have to be read for them. */
import { TransientError, UnavailableError } from '../errors.ts';
import type { Database, SqlValues } from './database.ts';

/**
 * The value of a statement that does no harm when it runs twice. Where it did not end in time it is begun once more, for as long as it takes.
 * @throws as {@link Database.persist}.
 */
export async function unhurried<T>(database: Database, sql: string, values: SqlValues): Promise<T> {
  try {
    return await database.value<T>(sql, values);
  } catch (error) {
    const late =
      error instanceof UnavailableError &&
      error.cause instanceof TransientError &&
      error.cause.timedOut;
    if (!late) throw error;
    return database.retry(() =>
      database.withClient(async (client) => {
        const { rows } = await client.query({ text: sql, values: [...values], rowMode: 'array' });
        return rows[0]?.[0] as T;
      }),
    );
  }
}
