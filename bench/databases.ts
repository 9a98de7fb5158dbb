/** Databases of the benchmarks: each measurement gets one, and drops it. */
import pg from 'pg';
import { migrate } from '../src/store/migrations.ts';

/** A database with daywalk's schema, or an empty one. */
export interface Scratch {
  readonly url: string;
  /** Runs one statement. */
  query<Row extends pg.QueryResultRow>(sql: string, values?: readonly unknown[]): Promise<Row[]>;
}

/** How pages are compressed. */
export type Compression = 'pglz' | 'lz4';

async function admin(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

/** Works in a database of its own that is dropped afterwards. */
export async function withDatabase<T>(
  adminUrl: string,
  options: { readonly schema: boolean; readonly compression?: Compression },
  work: (scratch: Scratch) => Promise<T>,
): Promise<T> {
  const name = `daywalk_bench_${process.pid}_${Math.random().toString(36).slice(2, 8)}`;
  await admin(adminUrl, `create database ${name} template template0 encoding 'UTF8'`);
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  try {
    if (options.schema) await migrate(url.href);
    if (options.schema && options.compression !== undefined)
      for (const column of ['body', 'bytes'])
        await admin(
          url.href,
          `alter table daywalk.pages alter column ${column} set compression ${options.compression}`,
        );
    // What the measurements before left to write must not slow this one.
    await admin(adminUrl, 'checkpoint').catch(() => {});
    const pool = new pg.Pool({ connectionString: url.href, max: 4 });
    pool.on('error', () => {});
    try {
      return await work({
        url: url.href,
        query: async (sql, values = []) => (await pool.query(sql, [...values])).rows,
      });
    } finally {
      await pool.end();
    }
  } finally {
    await admin(adminUrl, `drop database if exists ${name} with (force)`);
  }
}
