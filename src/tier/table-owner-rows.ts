/** Whose table of events it is: it bears the key of a publication, by which another database is told from one that was put back. */
import type { Clock } from '../clock.ts';
import type { Database } from '../store/database.ts';
import type { TableOwner } from './delta/delta-log.ts';
import { keepKnown } from './rows.ts';

/** A table that begins gets the oldest key that the database has, so that every backup knows it. */
export const ownedBy = (database: Database, clock: Clock): TableOwner => ({
  newId: async () => {
    const [row] = await database.persist<{ key: string }>(
      'select p.key from daywalk.publications p order by p.published_at, p.key limit 1',
      [],
    );
    return row?.key ?? clock.uuid();
  },
  owns: async (id) => (await keepKnown(database, [id])).has(id),
});
