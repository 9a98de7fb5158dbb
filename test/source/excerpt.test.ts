/** An excerpt is short, one line, printable, and holds no secret, however it is spelled. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { excerpt, redact } from '../../src/source/excerpt.ts';
import { CANARY } from './open.ts';

const KEY = CANARY;

describe('an excerpt', () => {
  test('is one line without control characters', () => {
    expect(excerpt('a\r\nb\u0000c\u001b[31md\u2028e\u202ef  g\ufeff', [])).toBe(
      'a b c [31md e f g',
    );
  });

  test('is cut at its limit', () => {
    expect(excerpt('x'.repeat(500), [])).toHaveLength(200);
  });

  test.each([
    ['as it is', KEY],
    ['in another letter case', KEY.toLowerCase()],
    ['in a URL', encodeURIComponent(KEY)],
    ["in PHP's JSON", KEY.replaceAll('/', '\\/')],
    ['in HTML', KEY.replaceAll('/', '&#47;').replaceAll('=', '&#x3d;')],
    ['as unicode escapes', Array.from(KEY, (c) => `\\u00${c.charCodeAt(0).toString(16)}`).join('')],
    ['in base64', Buffer.from(KEY).toString('base64')],
    ['in base64url', Buffer.from(KEY).toString('base64url')],
  ])('strikes the key out %s', (_, echoed) => {
    const text = excerpt(`bad key "${echoed}" given`, [KEY]);
    expect(text).toMatch(/^bad key "\*\*\*=*" given$/);
  });

  test('does not show the first half of a key at the cut', () => {
    const padded = '\u0001'.repeat(8192 - 10) + KEY;
    expect(excerpt(padded, [KEY])).not.toContain('CANARY');
    expect(excerpt(Buffer.from(padded), [KEY])).not.toContain('CANARY');
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

test('redaction gives up the text rather than the secret', () => {
  expect(redact('a ****** b', ['****'])).not.toContain('****');
  expect(redact('plain', ['', 'zzzz'])).toBe('plain');
});
