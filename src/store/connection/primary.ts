/** Of the hosts of a database one takes writes; after a failover it is another one. */
import type pg from 'pg';
import { type DaywalkError, SettingsError, TransientError } from '../../errors.ts';

/** A server that takes no writes: in a failover that passes. */
export class NoWritesError extends TransientError {}

/** Why a host was not taken. */
export interface RefusedHost {
  readonly name: string;
  readonly error: DaywalkError;
}

/**
 * Makes sure that the server at the other end takes writes: it is no standby, and its transactions are not read-only.
 * @throws {NoWritesError} if not.
 */
export async function requireWrites(client: pg.ClientBase, limitMs: number): Promise<void> {
  // A server says so when a session begins, too; PgBouncer repeats there what another server once said.
  const query: pg.QueryConfig & { query_timeout: number } = {
    text: `select pg_is_in_recovery() as recovering, current_setting('transaction_read_only') as read_only`,
    query_timeout: limitMs,
  };
  const { rows } = await client.query<{ recovering: boolean; read_only: string }>(query);
  const hint = 'In a failover that passes; otherwise name the primary in DATABASE_URL.';
  if (rows[0]?.recovering) throw new NoWritesError('it is a standby', { hint });
  if (rows[0]?.read_only !== 'off')
    throw new NoWritesError('its transactions are read-only', { hint });
}

/** The reasons of all hosts in one line. */
export const describeRefusals = (refusals: readonly RefusedHost[]): string =>
  refusals.map(({ name, error }) => `${name}: ${error.message}`).join('; ');

/** Says of each host why it was refused: it may pass, unless none of them can be used before the settings are mended. */
export function noneTakesWrites(refusals: readonly RefusedHost[]): DaywalkError {
  const message = `no host of DATABASE_URL takes writes (${describeRefusals(refusals)})`;
  const hints = new Set(refusals.flatMap(({ error }) => error.hint ?? []));
  const details = { hint: [...hints].join('\n'), cause: refusals[0]?.error };
  return refusals.every(({ error }) => error instanceof SettingsError)
    ? new SettingsError(message, details)
    : new TransientError(message, details);
}
