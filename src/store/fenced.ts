/** Functions of daywalk that do something to a window for the holder of its lease only (I2). */
import { leaseLost } from '../errors.ts';
import type { Database, SqlValues } from './database.ts';
import type { Lease } from './leases.ts';

/**
 * Calls one; it may be repeated.
 * @param sql its arguments $1 and $2 are the window and the lease, the others `values`; its one value says what came of it.
 * @throws {LeaseLostError} where another worker holds the window.
 */
export async function callFenced(
  database: Database,
  { windowId, leaseId }: Lease,
  sql: string,
  values: SqlValues,
): Promise<string> {
  const outcome = await database.value<string>(sql, [windowId, leaseId, ...values]);
  if (outcome === 'lost') throw leaseLost(windowId);
  return outcome;
}
