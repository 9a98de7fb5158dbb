/** What the server is, and what about it a doctor would mention. */
import type { Database } from './database.ts';

/** Reads version, durability and encoding: the server, and each concern with what to do about it. */
export async function readServerFacts(database: Database) {
  const row = await database.one<{
    version: string;
    fsync: string;
    synchronous_commit: string;
    encoding: string;
    isolation: string;
    recovering: boolean;
    read_only: string;
  }>(
    `select current_setting('server_version') as version,
            current_setting('fsync') as fsync,
            current_setting('synchronous_commit') as synchronous_commit,
            current_setting('server_encoding') as encoding,
            current_setting('default_transaction_isolation') as isolation,
            current_setting('default_transaction_read_only') as read_only,
            pg_is_in_recovery() as recovering`,
  );
  const concerns = [];
  if (row.recovering)
    concerns.push({
      found: 'this server is a standby',
      remedy: 'Point DATABASE_URL at the primary.',
    });
  if (row.read_only === 'on')
    concerns.push({
      found: 'transactions are read-only by default',
      remedy: 'Set default_transaction_read_only off for this role or database.',
    });
  if (row.fsync === 'off')
    concerns.push({
      found: 'fsync is off: a crash of the machine may lose the database',
      remedy: 'Switch fsync on in postgresql.conf.',
    });
  if (row.synchronous_commit === 'off')
    concerns.push({
      found:
        'synchronous_commit is off: a crash may take back the last pages; they are fetched again',
      remedy: 'Switch synchronous_commit on where the source does not keep its events for long.',
    });
  if (row.encoding !== 'UTF8')
    concerns.push({
      found: `the database's encoding is ${row.encoding}: most events cannot be stored`,
      remedy: 'Create the database with encoding UTF8.',
    });
  if (row.isolation !== 'read committed')
    concerns.push({
      found: `the default isolation is ${row.isolation}: statements are repeated more often`,
      remedy: 'Set default_transaction_isolation to read committed for this role.',
    });
  return { version: row.version.split(' ')[0] ?? row.version, concerns };
}
