/** Answers of a hostile source: headers, envelopes, excerpts; a value in its bounds or a named error, in time, and no secret. */
import fc from 'fast-check';
import { expect } from 'vitest';
import { EnvelopeError } from '../../src/errors.ts';
import { excerpt } from '../../src/redactor.ts';
import { findContract } from '../../src/source/find-contract.ts';
import { percentEncode } from '../../src/source/request.ts';
import { httpDateMs, parseRetryAfter } from '../../src/source/retry.ts';
import { printable } from '../../src/text.ts';
import { fuzz } from './fuzzing.ts';

const LIMIT_MS = 900_000;
const wild = fc.string({ unit: 'binary', maxLength: 60 });

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
/** The two obsolete forms of RFC 9110 5.6.7, from the date in the one that is not. */
function obsolete(date: Date): string[] {
  const [, day = '', month = '', year = '', time = ''] = date.toUTCString().split(' ');
  const name = DAYS[date.getUTCDay()] ?? '';
  return [
    `${name}, ${day}-${month}-${year.slice(2)} ${time} GMT`,
    `${name.slice(0, 3)} ${month} ${day.replace(/^0/, ' ')} ${time} ${year}`,
  ];
}

fuzz({
  name: 'HTTP-dates in all three forms are read to the second',
  runs: 1_000,
  // Two digits of a year are of this century up to 2049.
  input: fc.integer({ min: 0, max: 2_524_607_999 }).map((seconds) => new Date(seconds * 1_000)),
  check: (date) => {
    for (const text of [date.toUTCString(), ...obsolete(date)])
      expect(httpDateMs(text)).toBe(date.getTime());
  },
});

fuzz({
  name: 'any Retry-After is a wait from 0 to the limit, or none',
  runs: 1_000,
  input: fc.tuple(
    fc.oneof(
      wild,
      fc
        .array(
          fc.constantFrom('1', '9', '-', '.', 'e', ' ', ',', 'GMT', 'Sun', 'Feb', ':', '99', '٣'),
          { maxLength: 12 },
        )
        .map((all) => all.join('')),
      fc.nat(500).map((length) => '9'.repeat(length)),
      fc
        .date({ noInvalidDate: true, min: new Date(0), max: new Date('9999-12-31') })
        .map((date) => date.toUTCString()),
    ),
    fc.nat(4_102_444_799_000),
  ),
  check: ([text, now]) => {
    const wait = parseRetryAfter(text, now, LIMIT_MS);
    if (wait === undefined) return;
    expect(wait).toBeGreaterThanOrEqual(0);
    expect(wait).toBeLessThanOrEqual(LIMIT_MS);
  },
});

const key = fc.oneof(
  fc.constantFrom(
    'data',
    'hits',
    'items',
    'total',
    'value',
    'relation',
    'error',
    'errors',
    'success',
    '__proto__',
    'constructor',
    'toString',
    'length',
    'count',
    'page',
    '0',
  ),
  fc.string({ maxLength: 4 }),
);
const { document } = fc.letrec((tie) => ({
  document: fc.oneof(
    { maxDepth: 5, depthIdentifier: 'envelope' },
    fc.constantFrom(
      null,
      true,
      false,
      0,
      1,
      -1,
      2,
      10_000,
      Number.POSITIVE_INFINITY,
      '',
      '2',
      '1,234',
      'gte',
      'eq',
    ),
    fc.array(tie('document'), { maxLength: 4, depthIdentifier: 'envelope' }),
    fc
      .array(fc.tuple(key, tie('document')), { maxLength: 5, depthIdentifier: 'envelope' })
      .map((pairs) => new Map(pairs as [string, unknown][])),
  ),
}));
/** JSON in which a key `__proto__` is a key like others. */
function json(value: unknown): string {
  if (value instanceof Map)
    return `{${[...value].map(([name, one]) => `${JSON.stringify(name)}:${json(one)}`).join(',')}}`;
  if (Array.isArray(value)) return `[${value.map(json).join(',')}]`;
  return value === Number.POSITIVE_INFINITY ? '1e400' : JSON.stringify(value);
}
const follow = (body: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (at, name) =>
      at instanceof Object && Object.hasOwn(at, name)
        ? (at as Record<string, unknown>)[name]
        : undefined,
    body,
  );

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const SECRET = 'fuzz-SECRET-4711';
fuzz({
  name: 'an envelope that is found is there, and everything else is an EnvelopeError without the key',
  runs: 1_500,
  input: fc.oneof(
    document.map(json),
    fc
      .tuple(
        document.map(json),
        fc.nat(),
        fc.constantFrom(SECRET, '\u001b[2J', '{', ']', '"', '\\u0000'),
      )
      .map(([text, place, insert]) => {
        const at = place % (text.length + 1);
        return text.slice(0, at) + insert + text.slice(at);
      }),
    fc
      .constantFrom('[', '{"a":', '[[', '{"data":[')
      .chain((piece) => fc.nat(3_000).map((times) => piece.repeat(times))),
    wild,
  ),
  check: (text) => {
    try {
      const { recordsPath, totalPath } = findContract(Buffer.from(text), { secrets: [SECRET] });
      const body = parsed(text.replace(/^\ufeff/, ''));
      // What is no JSON in the lists only is refused when Postgres reads it.
      if (body === undefined) return;
      const list = follow(body, recordsPath);
      expect(Array.isArray(list) || list === null).toBe(true);
      if (totalPath !== null) expect(follow(body, totalPath)).toBeDefined();
    } catch (error) {
      expect(error).toBeInstanceOf(EnvelopeError);
      expect(`${(error as EnvelopeError).message} ${(error as EnvelopeError).hint}`).not.toContain(
        SECRET,
      );
      expect((error as EnvelopeError).message).not.toMatch(/\p{Cc}/u);
    }
    expect(Object.keys(Object.prototype)).toEqual([]);
  },
});

fuzz({
  name: 'an excerpt is short, harmless to a terminal, and without the key in any spelling',
  runs: 1_000,
  input: fc.tuple(
    wild,
    fc.constantFrom(
      (s: string) => s,
      encodeURIComponent,
      (s: string) => JSON.stringify(s),
      (s: string) => Buffer.from(s).toString('base64'),
      (s: string) => s.toUpperCase(),
    ),
    wild,
    fc.nat(9_000),
  ),
  check: ([before, spell, after, length]) => {
    const shown = excerpt(`${before}${'x'.repeat(length)}${spell(SECRET)}${after}`, [SECRET]);
    expect(shown.length).toBeLessThanOrEqual(200);
    expect(shown.toLowerCase()).not.toContain(SECRET.toLowerCase());
    expect(shown).not.toMatch(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u);
  },
});

fuzz({
  name: 'a filter arrives as it is, whatever is in it, and changes no other parameter',
  runs: 1_000,
  input: fc.oneof(
    wild,
    fc.constantFrom(
      "'; drop table x; --",
      '&start=0',
      '%00',
      '#',
      '?',
      '\r\nHost: x',
      '../',
      '\ud800',
    ),
  ),
  check: (text) => {
    const url = new URL(`http://x/api?a=${percentEncode(text)}&b=1`);
    expect([...url.searchParams]).toEqual([
      ['a', Buffer.from(text).toString()],
      ['b', '1'],
    ]);
    expect(url.hash + url.pathname).toBe('/api');
  },
});

fuzz({
  name: 'what is shown can be obeyed by no terminal, and says the same',
  runs: 1_000,
  input: wild,
  check: (text) => {
    const shown = printable(text);
    expect(shown).not.toMatch(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u);
    if (!text.includes('\\')) expect(JSON.parse(`"${shown.replaceAll('"', '\\"')}"`)).toBe(text);
  },
});
