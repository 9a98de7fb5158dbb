/** Lets time pass in a database: everything that happened lies further back. */

import type { TestDatabase } from './database.ts';
import { unguarded } from './unguarded.ts';

/**
 * Moves every timestamp of the schema back, as an interval of Postgres says. What the ledger's triggers guard moves too.
 * @param stays tables that stay as they are.
 */
export async function letTimePass(
  server: TestDatabase,
  interval: string,
  stays: readonly string[] = [],
): Promise<void> {
  await unguarded(
    server,
    `do $do$
     declare moved record;
     begin
       for moved in
         select c.relname, string_agg(format('%1$I = %1$I - %2$L::interval', a.attname, ${literal(interval)}), ', ') as sets
           from pg_class c
           join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
                              and a.atttypid = 'timestamptz'::regtype and a.attgenerated = ''
          where c.relnamespace = 'daywalk'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
            and c.relname <> all ('{${stays.join()}}')
          group by c.relname
       loop
         execute format('update daywalk.%I set %s', moved.relname, moved.sets);
       end loop;
     end $do$`,
  );
}

/** A block takes no parameters. */
function literal(text: string): string {
  if (!/^-?[0-9a-z ]+$/.test(text)) throw new Error(`no interval: ${text}`);
  return `'${text}'`;
}
