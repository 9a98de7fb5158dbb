/** Asks a real Postgres of many bodies at once whether `jsonb` takes them. */
import { beforeAll } from 'vitest';
import { createTestDatabase, type TestDatabase } from './database.ts';

/** Gives the test file a database to ask; called at the top of it. */
export function jsonbTaster() {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
    // PostgreSQL 16 has pg_input_is_valid; this works in 14.
    await database.query(
      `create function takes(body bytea) returns boolean language plpgsql as $$
       begin
         perform convert_from(body, 'UTF8')::jsonb;
         return true;
       exception when others then
         return false;
       end $$`,
    );
  });
  const hex = (bodies: readonly Buffer[]) => [bodies.map((body) => body.toString('hex'))];
  return {
    /** For each body, whether Postgres takes it as `jsonb`. */
    async taken(bodies: readonly Buffer[]): Promise<boolean[]> {
      const rows = await database.query<{ takes: boolean }>(
        `select takes(decode(body, 'hex'))
           from unnest($1::text[]) with ordinality as b (body, n) order by n`,
        hex(bodies),
      );
      return rows.map(({ takes }) => takes);
    },
    /** For each body, all of which it takes, the number of records in `data`. */
    async records(bodies: readonly Buffer[]): Promise<number[]> {
      const rows = await database.query<{ records: number }>(
        `select jsonb_array_length(convert_from(decode(body, 'hex'), 'UTF8')::jsonb -> 'data') as records
           from unnest($1::text[]) with ordinality as b (body, n) order by n`,
        hex(bodies),
      );
      return rows.map((row) => row.records);
    },
    /** The body as `jsonb` as text, sent in binary as the store sends it; throws what Postgres says. */
    async asText(body: Buffer): Promise<string> {
      const [row] = await database.query<{ text: string }>('select $1::jsonb::text as text', [
        Buffer.concat([Buffer.from([1]), body]),
      ]);
      return row?.text ?? '';
    },
  };
}
