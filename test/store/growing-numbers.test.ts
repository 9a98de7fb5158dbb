/** Numbers of a few bytes that Postgres writes out in thousands: stored exactly while the table stays readable, else marked beside their bytes. */
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { mayGrow } from '../../src/store/bodies/body-repair.ts';
import { storePage } from '../../src/store/pages.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { jsonbTaster } from '../support/jsonb-taster.ts';
import {
  beginWalk,
  CONTRACT,
  openDatabase,
  pageOf,
  pageOfBody,
  planDays,
  storing,
} from '../support/store.ts';

const { asText } = jsonbTaster();
let server: TestDatabase;
let streams = 0;

beforeAll(async () => {
  server = await createTestDatabase();
});

/** Stores a page with these records; what the row then holds. */
async function stored(records: readonly string[]) {
  const database = openDatabase(server.url);
  streams += 1;
  const streamId = await planDays(database, ['2026-03-05'], { name: `bombs-${streams}` });
  const begun = await beginWalk(database, streamId);
  const page = pageOf(0, records);
  const facts = await storePage(storing(database, begun.window), begun.checkpoint, page, CONTRACT);
  const [row] = await server.query<{ text: string; bytes: Buffer | null; changes: number | null }>(
    `select body::text as text, bytes, jsonb_array_length(changes) as changes
       from daywalk.pages where walk_id = $1`,
    [begun.checkpoint.walkId],
  );
  return { facts, page, row };
}

describe('a page of numbers', () => {
  it('such as 1e131071, a few of them: stored exactly, and written out', async () => {
    const { facts, row } = await stored(['{"n": 1e131071}', '{"n": -2.50e20}']);
    expect(facts).toMatchObject({ stored: true, records: 2 });
    expect(row?.text).toContain(`1${'0'.repeat(131_071)}}`);
    expect(row?.text).toContain('-250000000000000000000');
    expect(row).toMatchObject({ bytes: null, changes: null });
  });

  it('behind a byte order mark, which is taken off: the rest is stored exactly', async () => {
    const database = openDatabase(server.url);
    const streamId = await planDays(database, ['2026-03-05'], { name: 'bombs-mark' });
    const begun = await beginWalk(database, streamId);
    const page = pageOfBody(0, '\ufeff{"data":[{"n":1e131071}],"total":1}');
    expect(
      await storePage(storing(database, begun.window), begun.checkpoint, page, CONTRACT),
    ).toMatchObject({ stored: true, records: 1 });
  });

  it('such as 1e131071, so many that the row could not be read or dumped: marked strings, beside the exact bytes', async () => {
    const bombs = Array.from({ length: 8_201 }, () => '{"n": 1e131071}');
    const { facts, page, row } = await stored([...bombs, '{"n": 1.10}']);
    expect(facts).toMatchObject({ stored: true, records: 8_202 });
    expect(row?.text).toContain('{"n": "1e131071"}');
    expect(row?.text).toContain('{"n": 1.10}');
    expect(row?.text.length).toBeLessThan(2 * page.body.length);
    expect(row?.bytes?.equals(page.body)).toBe(true);
    // The first 1,000, and how many more there are.
    expect(row?.changes).toBe(1_001);
  });
});

describe('the quick look', () => {
  const number = fc
    .tuple(
      fc.constantFrom('', '-'),
      fc.constantFrom('0', '1', '7', '123', '1.5', '0.000', '0.0001', '9.99'),
      fc.constantFrom('', 'e', 'E', 'e+', 'E-', 'e-', 'e00', 'e+0'),
      fc.integer({ min: 0, max: 400 }),
    )
    .map(([sign, digits, e, power]) => `${sign}${digits}${e === '' ? '' : `${e}${power}`}`);
  const space = fc.constantFrom('', ' ', '\n', '\t', '\r\n');
  const body = fc
    .array(fc.tuple(fc.oneof(number, fc.json({ maxDepth: 2 })), space), {
      minLength: 1,
      maxLength: 5,
    })
    .map((values) =>
      Buffer.from(`[${values.map(([value, gap]) => `${gap}${value}${gap}`).join(',')}]`),
    );

  it('never overlooks a body that Postgres writes out four times as long', async () => {
    await fc.assert(
      fc.asyncProperty(body, async (bytes) => {
        const written = await asText(bytes).catch(() => '');
        // Postgres puts a blank behind each comma and colon.
        const longer = written.replaceAll(/[,:] /g, '').length > 4 * bytes.length;
        if (longer) expect(mayGrow(bytes)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    '{"sha":"9e12345678"}',
    '{"a":"x1e99"}',
    '["size: 1e99"]',
    '{"id":"23e45b99-1e43-4e12-9e99-12e456789012"}',
    '[1e5,2E-7,1e05]',
    '[12345678901234567890]',
    '',
  ])('passes %s', (text) => expect(mayGrow(Buffer.from(text))).toBe(false));
  it.each([
    '1e99',
    '[1E+10]',
    '[-1.5e-10]',
    '{"a":1e0099}',
    '[\n1e400]',
    '["size: 1e99 or so"]',
    '{"id":"{12e45678}"}',
    `[${'1'.repeat(3_000)}e99]`,
  ])('stops at %s', (text) => expect(mayGrow(Buffer.from(text))).toBe(true));

  it('says what an expression over the text says', () => {
    const expression = /[0-9][eE][+-]?0*[1-9][0-9]+(?:[\],} \t\r\n]|$)/;
    const part = fc.constantFrom(...'0123456789.eE+-:,[]{} \t\r\n"ax', '1e10', 'E+99', '000');
    const text = fc.array(part, { maxLength: 40 }).map((parts) => parts.join(''));
    let yes = 0;
    fc.assert(
      fc.property(text, (bytes) => {
        const expected = expression.test(bytes);
        yes += Number(expected);
        expect(mayGrow(Buffer.from(bytes))).toBe(expected);
      }),
      { numRuns: 20_000 },
    );
    expect(yes).toBeGreaterThan(1_000);
  });

  it.each(['1e99', '-1.5E+10', `${'1'.repeat(2_000)}e99`, `1e${'0'.repeat(100)}10`])(
    'stops at %s wherever it stands in a large body',
    (number) => {
      for (let blanks = 65_536 - number.length - 60; blanks < 65_536 + 60; blanks++)
        expect(mayGrow(Buffer.from(`[${' '.repeat(blanks)}${number}]`)), `${blanks}`).toBe(true);
    },
  );
});
