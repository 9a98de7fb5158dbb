/** What the bytes of a body tell, with `JSON.parse` as the oracle; and that too much is refused before anything parses it. */
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { TooLargeError } from '../../src/errors.ts';
import { refuseManyValues } from '../../src/source/body.ts';
import { countValues, frameOf } from '../../src/source/body-scan.ts';
import { findContract } from '../../src/source/find-contract.ts';
import { open } from './open.ts';
import { answer, scriptedServer } from './scripted-server.ts';

const MIB = 1024 * 1024;
const jsonOf = (body: Buffer): unknown => {
  const frame = frameOf(body);
  return 'json' in frame ? JSON.parse(frame.json) : frame.why;
};

/** What of a document is in its frame. */
function framed(value: unknown): unknown {
  if (Array.isArray(value))
    return value.map((one) =>
      typeof one === 'object' && one !== null && !Array.isArray(one) ? {} : 0,
    );
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, framed(one)]));
}

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
  (text) => Buffer.from(`\ufeff${text}`, 'utf16le'),
  (text) => Buffer.from(`\ufeff${text}`, 'utf16le').swap16(),
);

test('values are counted as JSON.parse finds them, whatever is in strings', () => {
  fc.assert(
    fc.property(value, encodings, (document, encode) => {
      expect(countValues(encode(JSON.stringify(document)))).toEqual(counted(document));
    }),
    { numRuns: 1_000 },
  );
});

describe('the frame', () => {
  test('is the document without what is in its lists', () => {
    fc.assert(
      fc.property(value, encodings, fc.constantFrom(undefined, 1), (document, encode, indent) => {
        const body = encode(JSON.stringify(document, null, indent));
        expect(jsonOf(body)).toEqual(framed(JSON.parse(JSON.stringify(document))));
      }),
      { numRuns: 1_000 },
    );
  });

  test('shows 10,000 elements, and behind them whether a list holds objects only', () => {
    const list = (count: number, last: string) => `[${'{},'.repeat(count - 1)}${last}]`;
    expect(jsonOf(Buffer.from(list(10_000, '{}')))).toHaveLength(10_000);
    expect(jsonOf(Buffer.from(list(20_000, '{}')))).toHaveLength(10_000);
    expect((jsonOf(Buffer.from(list(20_000, '1'))) as unknown[]).at(-1)).toBe(0);
    expect(
      jsonOf(Buffer.from(`{"a":${list(10_000, '{}')},"b":${list(3, '1')},"c":[],"d":[1,2]}`)),
    ).toMatchObject({ b: [{}, 0], c: [], d: [0] });
  });

  test('is refused where it is larger than any, before it is parsed', () => {
    const wide = `{${Array.from({ length: 200_000 }, (_, i) => `"${i}":1`).join()}}`;
    expect(jsonOf(Buffer.from(wide))).toBe('more than 1048576 bytes');
    expect(jsonOf(Buffer.from(`{"data":[],"more":${wide}}`))).toBe('more than 1048576 bytes');
    expect(jsonOf(Buffer.from(`{"more":${wide},"data":[]}`))).toBe('more than 1048576 bytes');
    expect(jsonOf(Buffer.from(`${'{"a":'.repeat(100)}1${'}'.repeat(100)}`))).toBeTypeOf('object');
    expect(jsonOf(Buffer.from(`${'{"a":'.repeat(101)}1${'}'.repeat(101)}`))).toBe(
      'objects in more than 100 levels',
    );
  });

  test('does not grow with what is in the lists', () => {
    const records = `{"x":${'['.repeat(100_000)}${']'.repeat(100_000)}},`.repeat(50);
    const body = Buffer.from(`{"data":[${records}{}],"total":51}`);
    expect(frameOf(body)).toEqual({ json: `{"data":[${'{},'.repeat(50)}{}],"total":51}` });
    expect(findContract(body)).toMatchObject({ recordsPath: ['data'], totalPath: ['total'] });
  });
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
