/** Locks that end with their holder: advisory locks of a transaction, for {@link Database.alone}. */
import type { Query } from './database.ts';

/** Takes a thing of this kind, so that one process has it at a time; false: another one has it. */
export const advisoryLock =
  (kind: string, name: string) =>
  async (query: Query): Promise<boolean> => {
    const [row] = await query<{ mine: boolean }>(
      'select pg_try_advisory_xact_lock(hashtext($1), hashtext($2)) as mine',
      [kind, name],
    );
    return row?.mine === true;
  };
