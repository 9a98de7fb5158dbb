/** What is in the database is what was sent: every digit, every character, by its bytes (I5). */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../src/store/database.ts';
import { storePage } from '../../src/store/pages.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { tries } from '../support/night.ts';
import {
  type Begun,
  beginWalk,
  CONTRACT,
  openDatabase,
  pageOf,
  pageOfBody,
  planDays,
  storing,
} from '../support/store.ts';

/** Real events lie beside some checkouts; no test needs them. */
const REAL_EVENTS = new URL('../../../shared/data/security-events.ndjson.gz', import.meta.url);

let server: TestDatabase;
let streams = 0;

beforeAll(async () => {
  server = await createTestDatabase();
});

async function begin(
  database = openDatabase(server.url),
): Promise<{ database: Database; begun: Begun }> {
  streams += 1;
  return {
    database,
    begun: await beginWalk(
      database,
      await planDays(database, ['2026-03-05'], { name: `events-${streams}` }),
    ),
  };
}

/** What `jsonb` shows of one record that was stored. */
async function roundTrip(record: string, through?: Database): Promise<string | undefined> {
  const { database, begun } = await begin(through);
  await storePage(storing(database, begun.window), begun.checkpoint, pageOf(0, [record]), CONTRACT);
  const [row] = await server.query<{ record: string }>(
    `select (body #> '{data,0}')::text as record from daywalk.pages where walk_id = $1`,
    [begun.checkpoint.walkId],
  );
  return row?.record;
}

describe('numbers', () => {
  it.each([
    '9007199254740993',
    '-9223372036854775809',
    '123456789012345678901234567890',
    '1.10',
    '0.1000000000000000055511151231257827',
    '3.0',
    `1${'0'.repeat(400)}`,
    '0.30000000000000004',
  ])('keep every digit: %s', async (number) => {
    expect(await roundTrip(`{"id": ${number}}`)).toBe(`{"id": ${number}}`);
  });

  it('keep their value where jsonb writes them otherwise: 1e400, 1E-20', async () => {
    expect(await roundTrip('{"id": 1e400}')).toBe(`{"id": 1${'0'.repeat(400)}}`);
    expect(await roundTrip('{"id": 1E-20}')).toBe('{"id": 0.00000000000000000001}');
  });
});

describe('texts', () => {
  it.each([
    ['letters of every kind', '{"a": "Grüße, 日本語, 🦊, \u2028"}'],
    ['what looks like SQL', `{"a": "'; drop table daywalk.pages; --"}`],
    ['names that JavaScript treats as special', '{"__proto__": {"a": 1}, "constructor": 2}'],
    ['a text that is long', `{"a": "${'x'.repeat(100_000)}"}`],
    ['a backslash before u0000', '{"a": "\\\\u0000"}'],
  ])('are kept: %s', async (_, record) => {
    expect(await roundTrip(record)).toBe(record);
  });

  it('of any kind are kept', { timeout: 60_000 }, async () => {
    // One for all: those of a test stay open to its end, and the server has to serve other tests as well.
    const database = openDatabase(server.url);
    const text = fc
      .string({ unit: 'binary', maxLength: 20 })
      .filter((each) => !each.includes('\0'));
    await fc.assert(
      fc.asyncProperty(fc.array(text, { maxLength: 40 }), async (texts) => {
        const record = `{"id": ${JSON.stringify(texts)}}`;
        expect(JSON.parse((await roundTrip(record, database)) ?? '')).toEqual(JSON.parse(record));
      }),
      { numRuns: 8 },
    );
  });
});

describe('the page beside its body', () => {
  it('carries hash and size of the bytes as they came, and a hash of every record in order', async () => {
    const { database, begun } = await begin();
    const text = '{ "total" : 3 ,\n "data" : [ {"b":1,"a":2} , {"a":2,"b":1} , {"a":2,"b":1.0} ] }';
    const page = pageOfBody(0, text);
    await storePage(storing(database, begun.window), begun.checkpoint, page, CONTRACT);
    const [row] = await server.query(
      `select sha256, byte_count, record_hashes, length, duration_ms, total::int from daywalk.pages where walk_id = $1`,
      [begun.checkpoint.walkId],
    );
    expect(row?.sha256).toEqual(createHash('sha256').update(text).digest());
    expect(row).toMatchObject({
      byte_count: Buffer.byteLength(text),
      length: 100,
      duration_ms: 1,
      total: 3,
    });
    const [one, two, three] = row?.record_hashes ?? [];
    // The order of keys is no difference, a digit that was written is one.
    expect([one === two, two === three]).toEqual([true, false]);
  });

  it.skipIf(!existsSync(REAL_EVENTS))(
    'holds for real events, record by record',
    { timeout: 60_000 },
    async () => {
      const lines = gunzipSync(readFileSync(REAL_EVENTS))
        .toString('utf8')
        .split('\n')
        .filter((line) => line !== '')
        .slice(0, tries(500, 2000));
      const { database, begun } = await begin();
      await storePage(
        storing(database, begun.window),
        begun.checkpoint,
        { ...pageOf(0, lines), length: 2000 },
        CONTRACT,
      );
      const [row] = await server.query(
        `with sent as (select ordinality as n, line::jsonb as record from unnest($2::text[]) with ordinality as l (line, ordinality)),
            kept as (select ordinality as n, record from daywalk.pages p, jsonb_array_elements(p.body -> 'data') with ordinality as r (record, ordinality) where p.walk_id = $1)
       select count(*)::int as equal from sent join kept using (n) where sent.record = kept.record`,
        [begun.checkpoint.walkId, lines],
      );
      expect(row?.equal).toBe(lines.length);
    },
  );
});

describe('what comes back', () => {
  it('is a number where Postgres has a bigint, an instant as Date, a date and a wall time as text (D29, D30)', async () => {
    const database = openDatabase(server.url);
    const [row] = await database.query(
      `select 9007199254740991::bigint as most, '80'::bigint + 40 as sum, date '2024-03-10' as day, timestamp '2024-03-10 02:30:00' as wall, timestamptz '2024-03-10 02:30:00Z' as instant`,
    );
    expect(row).toEqual({
      most: Number.MAX_SAFE_INTEGER,
      sum: 120,
      day: '2024-03-10',
      wall: '2024-03-10 02:30:00',
      instant: new Date('2024-03-10T02:30:00Z'),
    });
  });
});
