/** Bodies that `jsonb` refuses: what is changed in them, how that is told, and that large ones take little time. */
import { describe, expect, test } from 'vitest';
import { repair } from '../../src/store/bodies/body-repair.ts';
import { jsonbTaster } from '../support/jsonb-taster.ts';
import { expectDeepTaken, expectWithin, largeBodies } from './large-bodies.ts';

const { taken } = jsonbTaster();

const run = (text: string | Buffer, limits = {}) => {
  const { body, changes, changeCount } = repair(Buffer.from(text), limits);
  return { text: body.toString(), changes, changeCount, whats: changes.map(({ what }) => what) };
};
describe('numbers', () => {
  test('that would fill a table with digits become strings, together or not at all', async () => {
    const page = (count: number) => `[${Array(count).fill('1e131071').join()},7,1e20]`;
    expect(run(page(7)).changeCount).toBe(0);
    const bombs = run(page(8_201));
    expect(bombs.changeCount).toBe(8_201);
    expect(bombs.changes).toHaveLength(1_000);
    expect(bombs.text.slice(-24)).toBe('"1e131071","1e131071",7,1e20]'.slice(-24));
    expect(await taken([Buffer.from(bombs.text)])).toEqual([true]);
  });

  test('of many digits that are written out are no bombs', () => {
    expect(run(`[${Array(20).fill('7'.repeat(100_000)).join()}]`).changeCount).toBe(0);
  });

  test('that grow much become strings where all together grow too much; the others stay', () => {
    const text = '[1e30,1e20,1e10,-1.5E+40,123]';
    expect(run(text, { growth: 84 }).changeCount).toBe(0);
    expect(run(text, { growth: 83 }).text).toBe('["1e30",1e20,1e10,"-1.5E+40",123]');
  });
});

describe('keys', () => {
  test('that were renamed are told by their new name, in paths below them too', () => {
    const { text, changes } = run('[{"\\u0000":["\\u0000"],"\\ufffd":0}]');
    const [name] = Object.keys(JSON.parse(text)[0]);
    expect(name).toMatch(/^\ufffd\ufffd[0-9a-f]{8}$/);
    expect(text).toBe(`[{"\\ufffd${name?.slice(1)}":["\\ufffd"],"\\ufffd":0}]`);
    expect(changes.map(({ path }) => path)).toEqual([`/0/${name}`, `/0/${name}/0`]);
  });

  test('around the record list have no digest in paths either', () => {
    const { changes } = run('{"a\\u0000":["\\u0000"]}');
    expect(changes.map(({ path }) => path)).toEqual(['/a\ufffd', '/a\ufffd/0']);
  });

  test('around the record list only lose what jsonb refuses, so that list and total are where they were', () => {
    const body = Buffer.concat([
      Buffer.from('{"donn'),
      Buffer.from([0xe9]),
      Buffer.from('es":[{"a":1}],"total\\u0000":1}'),
    ]);
    expect(run(body).text).toBe('{"donn\ufffdes":[{"a":1}],"total\\ufffd":1}');
  });
});

describe('what is too deep', () => {
  test('is a string with its beginning', () => {
    const { text, changes } = run('{"data":[{"a":{"b":["x\\n",{"c":1}]}}]}', { depth: 4 });
    expect(text).toBe(`{"data":[{"a":{"b":${JSON.stringify('["x\\n",{"c":1}]')}}}]}`);
    expect(changes).toEqual([
      { path: '/data/0/a/b', offset: 19, what: 'depth', found: '["x\\n",{"c":1}]' },
    ]);
  });

  test('is cut after 1,000 bytes, between characters, which it says', () => {
    const long = `[["${'é'.repeat(2_000)}"]]`;
    const [cut] = JSON.parse(run(long, { depth: 1 }).text);
    expect(cut).toBe(`["${'é'.repeat(499)}… (cut by daywalk, 4004 bytes)`);
  });

  test('loses bad bytes, and nothing in it is told', () => {
    const body = Buffer.concat([
      Buffer.from('[["\\u0000'),
      Buffer.from([0xff]),
      Buffer.from('"]]'),
    ]);
    const { text, whats } = run(body, { depth: 1 });
    expect(text).toBe(`[${JSON.stringify('["\\u0000\ufffd"]')}]`);
    expect(whats).toEqual(['depth']);
  });

  test.each([500, 501])('at the real limit: %d levels', async (levels) => {
    const text = `${'['.repeat(levels)}${']'.repeat(levels)}`;
    expect(run(text).whats).toEqual(levels === 500 ? [] : ['depth']);
    expect(await taken([Buffer.from(run(text).text)])).toEqual([true]);
  });

  test('may be five hundred thousand levels deep', () => expectDeepTaken(5e5));
});

test.each([
  ['little', (bytes: Buffer) => bytes],
  ['big', (bytes: Buffer) => bytes.swap16()],
])('UTF-16 becomes UTF-8, %s end first', (_, ordered) => {
  const text = '{"data":[{"name":"é😀","nul":"\\u0000"}]}';
  const { body, changes } = repair(ordered(Buffer.from(`\ufeff${text}`, 'utf16le')));
  expect(body.toString()).toBe(text.replace('\\u0000', '\\ufffd'));
  expect(changes).toMatchObject([
    { path: '', what: 'utf16' },
    { path: '/data/0/nul', what: 'nul' },
  ]);
});

describe('what is told', () => {
  test('is the place in the received body, behind a mark too', () => {
    const { changes } = run('\ufeff{"é":[true,{},null,"😀\\u0000"]}');
    expect(changes.at(-1)).toMatchObject({ path: '/é/3', offset: 23 });
  });

  test('is short and on one line, whatever was there', () => {
    const key = `${'\u001b\u202e\u2028'.replace('\u001b', '\\u001b')}${'k'.repeat(5_000)}`;
    const body = `{"${key}":{"~/\\n":${`[1e${'9'.repeat(5_000)},`.repeat(200)}1${']'.repeat(200)}}}`;
    const { changes } = run(body);
    expect(changes).toHaveLength(200);
    for (const { path, found } of changes) {
      expect(path.length).toBeLessThanOrEqual(256);
      expect(found.length).toBeLessThanOrEqual(80);
      expect(`${path}${found}`).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u);
    }
    expect(run('{"~/\\n":1e999999}').changes[0]?.path).toBe('/~0~1\\u000a');
  });

  test('is a thousand changes at most; all are counted', () => {
    const { changes, changeCount } = run(`\ufeff[${Array(5_000).fill('"a\\u0000"').join()}]`);
    expect(changes).toHaveLength(1_000);
    expect(changeCount).toBe(5_001);
  });

  test('of what is no JSON is nothing that could be a key', () => {
    expect(() => run('{"a":1,"b": s3cret-of-the-api}')).toThrow(/^not JSON: 30 bytes$/);
  });

  test('of what has NaN in it, as Python writes it, is none either, and says so', () => {
    const said = expect.objectContaining({ hint: expect.stringMatching(/NaN$/) });
    expect(() => run('{"data":[{"score":NaN}]}')).toThrow(said);
  });
});

describe('time', () => {
  // What takes hours for ten megabytes takes minutes for two; the bound for ten is in the night.
  test.each(largeBodies(2))('2 MB take seconds: %s', (_, body) => expectWithin(6, body));
});
