/** What the bytes of a body tell, with `JSON.parse` as the oracle; and that too much is refused before anything parses it. */
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { TooLargeError } from '../../src/errors.ts';
import { refuseManyValues } from '../../src/source/body.ts';
import { countValues } from '../../src/source/body-scan.ts';
import { open } from './open.ts';
import { answer, scriptedServer } from './scripted-server.ts';

const MIB = 1024 * 1024;
function counted(value: unknown): { values: number; containers: number } {
  if (typeof value !== 'object' || value === null) return { values: 1, containers: 0 };
  return Object.values(value)
    .map(counted)
    .reduce(
      (all, one) => ({
        values: all.values + one.values,
        containers: all.containers + one.containers,
      }),
      { values: 1, containers: 1 },
    );
}

const value = fc.jsonValue({
  maxDepth: 5,
  stringUnit: fc.constantFrom('a', '"', '\\', '[', '}', ',', 'é', '😀'),
});
const encodings = fc.constantFrom<(text: string) => Buffer>(
  (text) => Buffer.from(text),
  (text) => Buffer.from(`\ufeff${text}`),
);

test('values are counted as JSON.parse finds them, whatever is in strings', () => {
  fc.assert(
    fc.property(value, encodings, (document, encode) => {
      expect(countValues(encode(JSON.stringify(document)))).toEqual(counted(document));
    }),
    { numRuns: 1_000 },
  );
});

describe('too many values', () => {
  const refused = (body: string, limit: number): unknown => {
    try {
      refuseManyValues(Buffer.from(body), limit, 'the page');
      return null;
    } catch (error) {
      return error;
    }
  };

  test('are refused with their number, the limit, and what to do', () => {
    expect(refused(`[${'{},'.repeat(1022)}{}]`, 64 * 1024)).toBeNull();
    expect(refused(`[${'{},'.repeat(1023)}{}]`, 64 * 1024)).toMatchObject({
      message: 'the page answered with 1025 objects and lists in 3073 bytes, more than 1024',
      hint: 'ask for fewer records per page (page_length), or raise the limit (body_limit), which allows one for every 64 bytes',
    });
    expect(refused(`[${'1,'.repeat(4094)}1]`, 64 * 1024)).toBeNull();
    expect(refused(`[${'1,'.repeat(4095)}1]`, 64 * 1024)).toMatchObject({
      message: 'the page answered with 4097 values in 8193 bytes, more than 4096',
    });
    expect(refused(`["${'[{,'.repeat(40_000)}"]`, 64 * 1024)).toBeNull();
  });

  test.each([
    ['objects in objects', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
    ['an error of many objects', `{"error":[${'{},'.repeat(300_000)}{}]}`],
  ])(
    'in a small compressed answer are refused before anything parses them: %s',
    async (_, body) => {
      const wire = gzipSync(body);
      expect(wire.length).toBeLessThan(body.length / 100);
      const server = await scriptedServer([
        answer(wire, { headers: { 'Content-Encoding': 'gzip' } }),
      ]);
      const error = await open(server.url, { bodyLimitBytes: MIB }).fails();
      expect(error).toBeInstanceOf(TooLargeError);
      expect(error.message).toMatch(/\d+ objects and lists in \d+ bytes, more than 16384$/);
    },
  );
});
