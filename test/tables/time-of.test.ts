/** Times in records: what is understood becomes the instant it says, and all else null; never an error, never a guess. */
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { Wrong } from '../../src/settings/problems.ts';
import { parseTimeFormat } from '../../src/settings/values/time.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let server: TestDatabase;
beforeAll(async () => {
  server = await createTestDatabase();
});

/** As Postgres shows them in UTC, to the microsecond; null: not understood. */
async function timesOf(
  values: readonly string[],
  zone = 'UTC',
  format: string | null = null,
): Promise<(string | null)[]> {
  const parsed = format === null ? null : parseTimeFormat(format);
  if (parsed instanceof Wrong) throw new Error(parsed.why);
  const rows = await server.query<{ time: string | null }>(
    `select to_char(daywalk.time_of(v::jsonb, $2, $3::text[]) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US') as time
       from unnest($1::text[]) with ordinality as given (v, place) order by place`,
    [values, zone, parsed === null ? null : [parsed.pattern, parsed.replacement]],
  );
  return rows.map(({ time }) => time);
}

describe('a time', () => {
  it.each([
    ['"2026-03-01T10:20:30Z"', '2026-03-01T10:20:30.000000'],
    ['"2026-03-01T10:20:30.123456Z"', '2026-03-01T10:20:30.123456'],
    ['"2026-03-01T10:20:30.5+0200"', '2026-03-01T08:20:30.500000'],
    ['"2026-03-01 10:20:30,25 +02:00"', '2026-03-01T08:20:30.250000'],
    ['"2026-03-01t10:20:30-03"', '2026-03-01T13:20:30.000000'],
    ['"2026-03-01T10:20"', '2026-03-01T10:20:00.000000'],
    ['"2026-03-01"', '2026-03-01T00:00:00.000000'],
    // Not rounded up into the next day.
    ['"2026-03-01T23:59:59.9999999Z"', '2026-03-01T23:59:59.999999'],
    // As ISO 8601 has it: the end of a day, and a leap second.
    ['"2026-03-01T24:00:00Z"', '2026-03-02T00:00:00.000000'],
    ['"2016-12-31T23:59:60Z"', '2017-01-01T00:00:00.000000'],
    ['"2024-02-29T00:00:00Z"', '2024-02-29T00:00:00.000000'],
    ['"2000-02-29T00:00:00Z"', '2000-02-29T00:00:00.000000'],
    ['1772360430', '2026-03-01T10:20:30.000000'],
    ['1772360430.25', '2026-03-01T10:20:30.250000'],
    ['1772360430123', '2026-03-01T10:20:30.123000'],
    ['"1772360430123456"', '2026-03-01T10:20:30.123456'],
    ['1772360430123456789', '2026-03-01T10:20:30.123456'],
    ['999999999', '2001-09-09T01:46:39.000000'],
  ])('%s is %s', async (value, time) => {
    expect(await timesOf([value])).toEqual([time]);
  });

  it.each([
    ...['"01/02/2026"', '"2026-02-30"', '"2025-02-29T00:00:00Z"', '"1900-02-29"', '"2026-13-01"'],
    ...['"2026-03-01T24:00:01Z"', '"2026-03-01T10:60:00Z"', '"0000-01-01"', '"now"', '"today"'],
    ...['"infinity"', '"epoch"', '""', '" "', '"2026-03-01T10:20:30 CET"', 'null', 'true', '[]'],
    ...['{"a":1}', '17723604301', '1e300', '-1', '"2026-03-01T10:20:30+16:00"', '12345678'],
    ...['"20260301T102030Z"', '"2026-3-1"', '"２０２６-03-01"', '99999999999999999999999'],
  ])('%s is none', async (value) => {
    expect(await timesOf([value])).toEqual([null]);
  });

  it('without an offset is of the time zone of the source', async () => {
    expect(await timesOf(['"2026-07-01T00:00:00"', '"2026-07-01"'], 'Europe/Berlin')).toEqual([
      '2026-06-30T22:00:00.000000',
      '2026-06-30T22:00:00.000000',
    ]);
  });

  it('has a format where a person says so', async () => {
    const apache = 'DD/Mon/YYYY:HH:MI:SS TZ';
    expect(await timesOf(['"01/Mar/2026:10:20:30 +0100"'], 'UTC', apache)).toEqual([
      '2026-03-01T09:20:30.000000',
    ]);
    const values = ['"01/Foo/2026:10:20:30 +0100"', '"31/Feb/2026:10:20:30 +0100"', '1772360430'];
    expect(await timesOf(values, 'UTC', apache)).toEqual([null, null, null]);
    expect(await timesOf(['"2026.03.01 10:20:30.5"'], 'UTC', 'YYYY.MM.DD HH:MI:SS.F')).toEqual([
      '2026-03-01T10:20:30.500000',
    ]);
  });

  it.each([
    'YYYY',
    'DD/MM HH:MI',
    'YYYY-MM-DD HH:MI:SS AM',
    'YYYY-MM-DD DD HH:MI',
    '',
    'YYYY-MM-DD HH:MI.F',
  ])('has no format %j', (format) => {
    expect(parseTimeFormat(format)).toBeInstanceOf(Wrong);
  });

  it('of any instant, in any spelling, is that instant', async () => {
    const instant = fc.date({
      min: new Date('1971-01-01T00:00:00Z'),
      max: new Date('2200-01-01T00:00:00Z'),
      noInvalidDate: true,
    });
    await fc.assert(
      fc.asyncProperty(fc.array(instant, { minLength: 1, maxLength: 200 }), async (dates) => {
        const spelled = dates.flatMap((date) => {
          const iso = date.toISOString();
          return [`"${iso}"`, `"${iso.replace('T', ' ').replace('Z', '+0000')}"`];
        });
        const expected = dates.flatMap((date) => {
          const time = date.toISOString().replace('Z', '000');
          return [time, time];
        });
        expect(await timesOf(spelled, 'Asia/Kathmandu')).toEqual(expected);
      }),
      { numRuns: 20 },
    );
  });

  it('of any text at all is no error', async () => {
    const text = fc.oneof(
      fc.string(),
      fc.stringMatching(/^[0-9:T.+\- Zz]{1,30}$/),
      fc.stringMatching(
        /^2[0-9]{3}-[0-1][0-9]-[0-3][0-9][T ][0-2][0-9]:[0-6][0-9](:[0-6][0-9])?(Z|[+-][0-1][0-9]:?[0-9]{2})?$/,
      ),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(text, { minLength: 1, maxLength: 300 }), async (texts) => {
        const values = texts.map((said) => JSON.stringify(said.replaceAll('\0', '')));
        expect(await timesOf(values)).toHaveLength(values.length);
      }),
      { numRuns: 30 },
    );
  });
});
