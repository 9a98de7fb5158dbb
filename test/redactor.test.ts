/** The redactor: no secret is left in a text, however it is spelled, and a body with the key in it is found. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { excerpt, holdsSecret, openRedactor, redact, redactJson } from '../src/redactor.ts';
import { IN_BODIES, SPELLINGS } from './support/spellings.ts';

const KEY = 'Qx7vK93/mW+4z=Jt"8-kP2_rT5&n';
const TABLE = Object.entries(SPELLINGS);
describe('a secret is struck out', () => {
  test.each(TABLE)('%s', (_, spell) => {
    const text = `bad key "${spell(KEY)}", given by 4711`;
    expect(redact(text, [KEY])).toMatch(/"[^"]{0,12}\*\*\*[^"]{0,12}", given by 4711$/);
    expect(redact(text, ['another', KEY, KEY.toLowerCase()])).toMatch(/\*\*\*/);
    expect(excerpt(Buffer.from(text, 'latin1'), [KEY])).toMatch(/^bad .*\*\*\*.* by 4711$/);
    const line = JSON.stringify({ msg: text, [text]: [text] });
    const clean = JSON.parse(redactJson(line, openRedactor([KEY]).redact));
    expect(JSON.stringify(clean).match(/\*\*\*/g)).toHaveLength(3);
  });

  test('also a password of letters that no key has', () => {
    const password = 'pä ss"w\\o/rd%+1';
    for (const text of [
      password,
      encodeURIComponent(password),
      JSON.stringify(password),
      new URLSearchParams({ password }).toString(),
      Object.assign(new URL('http://u@h/'), { password }).href,
      Buffer.from(password).toString('base64'),
      'pä\nss\\"w\\\\o/rd%25+1',
    ])
      expect(excerpt(`a ${text} z`, [password])).toMatch(/^a [^ ]*\*\*\*[^ ]* z$/);
  });

  test('wherever it is, with nothing else', () => {
    const [plain, one, two] = ['the 1st of 3: ', KEY, SPELLINGS['as a form']?.(KEY)];
    expect(redact(`${one}${one}${plain}${two} ${one}!`, [KEY])).toBe(
      '******the 1st of 3: *** ***!',
    );
    expect(redact('abcdef abcd x', ['abcd', '', 'abcdef'])).toBe('*** *** x');
  });

  test('unless it is so short that it would strike everything out', () => {
    expect(redact('a key is a key', ['key', ''])).toBe('a key is a key');
  });

  test('and with it the text, where the mark would show it', () => {
    expect(redact('b ***aa', ['***a'])).toBe('***');
    expect(redact('a ****** b', ['****'])).toBe('a *** b');
  });

  test('what it is not stays as it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(redact(text, ['never in it 4711'])).toBe(text);
      }),
    );
  });

  test('no text makes it slow', () => {
    for (const piece of ['\\', '%', '&#0', '%25', 'Qx7', ' ', '\\u', 'Q\0', '&amp;', 'ab:'])
      expect(redact(piece.repeat(20_000), [KEY])).toBe(piece.repeat(20_000));
  }, 20_000);
});

test('a redactor knows what was added later, and forgets nothing', () => {
  const redactor = openRedactor(['first-key']);
  const { redact, secrets } = redactor;
  redactor.add('second-key', 'first-key');
  expect(redact('first-key second-key')).toBe('*** ***');
  expect(secrets()).toEqual(['first-key', 'second-key']);
  expect(secrets()).toBe(secrets());
});

describe('an excerpt', () => {
  test('is one line without control characters', () => {
    expect(excerpt('a\r\nb\u0000c\u001b[31md\u2028e\u202ef  g\ufeff', [])).toBe(
      'a b c [31md e f g',
    );
  });

  test('is cut at its limit', () => {
    expect(excerpt('x'.repeat(500), [])).toHaveLength(200);
    // Also where a secret is as long as tokens are.
    expect(excerpt('x'.repeat(100_000), ['k'.repeat(4096)])).toHaveLength(200);
  });

  test('does not show the first half of a key at the cut', () => {
    const padded = '\u0001'.repeat(8192 + 14 * KEY.length - 10) + KEY;
    expect(excerpt(padded, [KEY])).not.toContain('Qx7');
    expect(excerpt(Buffer.from(padded), [KEY])).not.toContain('Qx7');
  });

  test('does not show most of a key within which it was broken off', () => {
    const bad = (from: number, to: number) => excerpt(`bad ${KEY.slice(from, to)}\n`, [KEY]);
    expect([bad(0, -1), bad(0, 8), bad(0, 7), bad(1, 9)]).toEqual([
      'bad ***',
      'bad ***',
      'bad Qx7vK93',
      'bad x7vK93/m',
    ]);
  });

  test('never holds the key or a control character, and keeps its limit', () => {
    const key = fc.string({
      unit: fc.integer({ min: 0x21, max: 0x7e }).map((c) => String.fromCharCode(c)),
      minLength: 4,
      maxLength: 20,
    });
    const noise = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string(),
      fc.constantFrom('*', '***', '\u0000', '\u200b'),
    );
    fc.assert(
      fc.property(key, fc.array(noise, { maxLength: 6 }), fc.nat(400), (secret, pieces, max) => {
        const text = excerpt(pieces.join(secret), [secret], max + 1);
        expect(text).not.toContain(secret);
        expect(text).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
        expect(text.length).toBeLessThanOrEqual(max + 1);
      }),
      { numRuns: 500 },
    );
  });
});

describe('a body', () => {
  const around = (text: string) =>
    Buffer.concat([
      Buffer.from('{"data":[{"log":"%20 \\u003c \\u00e9 Qx7vK93 '),
      Buffer.from(text, 'latin1'),
      Buffer.from('"}]}'),
    ]);
  const keys = [
    KEY,
    '5f0c1e7a9b3d4f6282c0ffee12345678',
    '8d1f0c52-7a3e-4c1b-9a55-0d6a7f3b2c11',
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N',
  ];

  test.each(IN_BODIES)('with the key %s', (_, spell) => {
    for (const key of keys) {
      expect(holdsSecret(around(spell(key)), [key])).toBe(true);
      expect(holdsSecret(around(spell(key)), ['an-old-one', key])).toBe(true);
    }
  });

  test.each(['utf16le', 'utf-16be'])('in %s with the key', (encoding) => {
    const bytes = Buffer.from(`{"data":["${keys[1]}"]}`, 'utf16le');
    const body = encoding === 'utf16le' ? bytes : bytes.swap16();
    expect(holdsSecret(body, [String(keys[1])])).toBe(true);
  });

  test('wherever in it the key is, also where its beginning stands before', () => {
    for (const key of keys)
      for (let before = 0; before < 40; before += 1) {
        const text = `${'-'.repeat(before)}${key.slice(0, 9).repeat(3)}${key}`;
        expect(holdsSecret(Buffer.from(text), keys)).toBe(true);
        expect(holdsSecret(Buffer.from(text.slice(0, -1)), keys)).toBe(false);
      }
  });

  test('full of beginnings of the key, which are not looked at one by one', () => {
    const body = Buffer.from(String(keys[1]).slice(0, -1).repeat(100_000));
    expect(holdsSecret(body, keys)).toBe(false);
  });

  test('without it', () => {
    for (const key of keys) {
      expect(holdsSecret(around(key.slice(0, -1)), [key])).toBe(false);
      expect(holdsSecret(around(`${key.slice(0, 12)} ${key.slice(12)}`), [key])).toBe(false);
      expect(holdsSecret(Buffer.alloc(0), [key])).toBe(false);
    }
    expect(holdsSecret(around('short'), ['short', ''])).toBe(false);
    expect(holdsSecret(around(''), [])).toBe(false);
  });
});
