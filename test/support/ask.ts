/** One statement on a connection of its own, of whichever server answers there. */
import pg from 'pg';

/** The rows of the statement. @throws what `pg` throws, also where nobody answers within `limitMs`. */
export async function ask(
  url: string,
  statement: string,
  limitMs = 5_000,
): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: limitMs });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query(statement)).rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}
