/** A large last value goes to Postgres as every other one does; its errors and a lost connection too. */
import { createHash, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { endsLarge } from '../../src/store/large-value.ts';
import { OutcomeUnknownError } from '../../src/store/sqlstate.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { openDatabase } from '../support/store.ts';

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
let server: TestDatabase;

beforeAll(async () => {
  server = await createTestDatabase();
});

describe('a large last value', () => {
  it('is told by its size, and by its place', () => {
    expect(endsLarge([Buffer.alloc(16_384)])).toBe(true);
    expect(endsLarge([Buffer.alloc(16_383)])).toBe(false);
    expect(endsLarge([Buffer.alloc(16_384), 1])).toBe(false);
    expect(endsLarge(['x'.repeat(100_000)])).toBe(false);
    expect(endsLarge([])).toBe(false);
  });

  it('arrives byte for byte, whatever stands before it', async () => {
    const database = openDatabase(server.url);
    const value = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null));
    await fc.assert(
      fc.asyncProperty(
        fc.array(value, { maxLength: 4 }),
        fc.constantFrom(16_384, 16_385, 65_535, 65_536, 1_000_003, 5_000_000),
        async (before, size) => {
          const bytes = randomBytes(size);
          const texts = before.map((_, index) => `$${index + 1}::text as v${index}`);
          const [row] = await database.query<Record<string, unknown>>(
            `select ${[...texts, `encode(sha256($${before.length + 1}::bytea), 'hex') as hash`].join(', ')}`,
            // A NUL is nothing that a text of Postgres can hold.
            [
              ...before.map((one) => (typeof one === 'string' ? one.replaceAll('\0', '') : one)),
              bytes,
            ],
          );
          expect(row?.hash).toBe(sha256(bytes));
          for (const [index, one] of before.entries())
            expect(row?.[`v${index}`]).toBe(one === null ? null : String(one).replaceAll('\0', ''));
        },
      ),
      { numRuns: 30 },
    );
  });

  it('in a statement that Postgres refuses leaves the connection as it was', async () => {
    const database = openDatabase(server.url, { connections: 1 });
    const pid = () => database.query<{ pid: number }>('select pg_backend_pid() as pid');
    const before = await pid();
    const bytes = Buffer.alloc(100_000, '{');
    await expect(database.query('select $1::jsonb', [bytes])).rejects.toThrow();
    await expect(database.query('selekt $1::bytea', [bytes])).rejects.toThrow(/selekt/);
    await expect(database.query('select 1/$1::int, $2::bytea', [0, bytes])).rejects.toThrow();
    expect(await pid()).toEqual(before);
  });

  it('on a connection that is lost meanwhile is an error that may pass', async () => {
    const database = openDatabase(server.url);
    const bytes = Buffer.alloc(1_000_000, 'x');
    await expect(
      database.query('select pg_terminate_backend(pg_backend_pid()), $1::bytea', [bytes]),
    ).rejects.toThrow(OutcomeUnknownError);
    const [row] = await database.query<{ length: number }>('select length($1::bytea) as length', [
      bytes,
    ]);
    expect(row?.length).toBe(1_000_000);
  });
});
