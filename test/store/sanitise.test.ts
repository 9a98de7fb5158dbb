import { describe, expect, test, vi } from 'vitest';
import { EnvelopeError, TooLargeError } from '../../src/errors.ts';
import { type Change, LIMITS, sanitise } from '../../src/store/sanitise.ts';
import { jsonbTaster } from '../support/jsonb-taster.ts';

// Bodies of hundreds of megabytes.
vi.setConfig({ testTimeout: 300_000 });

const { taken, asText } = jsonbTaster();

const run = (text: string | Buffer, limits = {}) => {
  const { body, changes, changeCount } = sanitise(Buffer.from(text), limits);
  return { text: body.toString(), changes, changeCount, whats: changes.map(({ what }) => what) };
};
const brief = ({ path, offset, what }: Change) => ({ path, offset, what });
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

  test('that grow a little, but too many of them, become strings from the largest down', () => {
    const text = '[1e30,1e20,1e10,1e30]';
    expect(run(text, { growth: 78 }).changeCount).toBe(0);
    expect(run(text, { growth: 50 }).text).toBe('["1e30",1e20,1e10,"1e30"]');
    expect(run(text, { growth: 20 }).text).toBe('["1e30","1e20",1e10,"1e30"]');
    expect(run(text, { growth: 0 }).text).toBe('["1e30","1e20","1e10","1e30"]');
  });
});

describe('keys', () => {
  test('that were renamed are told by their new name, in paths below them too', () => {
    const { text, changes } = run('[{"\\u0000":["\\u0000"],"\\ufffd":0}]');
    expect(text).toBe('[{"\\ufffd\ufffd":["\\ufffd"],"\\ufffd":0}]');
    expect(changes.map(({ path }) => path)).toEqual(['/0/\ufffd\ufffd', '/0/\ufffd\ufffd/0']);
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

  test('is cut after 1,000 characters, which it says', () => {
    const long = `[["${'é'.repeat(2_000)}"]]`;
    const [cut] = JSON.parse(run(long, { depth: 1 }).text);
    expect(cut).toBe(`["${'é'.repeat(998)}… (cut by daywalk, 4004 bytes)`);
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

  test('may be five million levels deep', () => {
    const lists = run(`${'['.repeat(5e6)}${']'.repeat(5e6)}`);
    expect(lists.whats).toEqual(['depth']);
    expect(lists.changes[0]?.path.length).toBeLessThanOrEqual(256);
    expect(run(`${'{"":'.repeat(5e6)}1${'}'.repeat(5e6)}`).whats).toEqual(['depth']);
    expect(() => run('['.repeat(5e6))).toThrow(EnvelopeError);
  });
});

describe('what is too large', () => {
  const small = { elements: 3, pairs: 3, stringBytes: 60, excerpt: 5 };

  test('in a record is a string with its beginning; records stay as they are', () => {
    const { text, changes } = run(
      '{"data":[{"a":[1,2,3]},{"a":[1,"\\u0000",[3],4]},{"b":{"c":1,"d":2,"e":3,"f":{}}}],"total":3}',
      small,
    );
    expect(text).toBe(
      '{"data":[{"a":[1,2,3]},{"a":"[1,\\"\\\\… (cut by daywalk, 18 bytes)"},{"b":"{\\"c\\":… (cut by daywalk, 26 bytes)"}],"total":3}',
    );
    expect(changes.map(brief)).toEqual([
      { path: '/data/1/a', offset: 28, what: 'elements' },
      { path: '/data/2/b', offset: 53, what: 'elements' },
    ]);
    expect(run(text, small).changeCount).toBe(0);
  });

  test('in a record leaves nothing behind of what was changed in it before', () => {
    const { text, whats } = run(
      '[{"a":[1e999999,{"\\u0000":1,"\\ufffd":2},3,4],"b":"\\u0000"}]',
      small,
    );
    expect(text).toBe('[{"a":"[1e99… (cut by daywalk, 38 bytes)","b":"\\ufffd"}]');
    expect(whats).toEqual(['elements', 'nul']);
  });

  test.each([
    ['the list', '{"data":[1,2,3,4]}', 'the list at "/data" has more than 3 elements'],
    ['the body', '[1,2,3,4]', 'the list at "" has more than 3 elements'],
    ['a record', '[{},{"a":1,"b":2,"c":3,"d":4}]', 'the object at "/1" has more than 3 keys'],
    ['the envelope', '{"a":1,"b":2,"c":3,"d":[]}', 'the object at "" has more than 3 keys'],
  ])('is an error where it is %s', (_, text, message) => {
    expect(() => run(text, small)).toThrow(TooLargeError);
    expect(() => run(text, small)).toThrow(message);
  });

  test('and is a string or a key is cut between characters', () => {
    const { text, changes } = run(
      `[{"${'k'.repeat(61)}":"ab\\ud83d\\ude00\\u0000é${'x'.repeat(60)}"}]`,
      small,
    );
    expect(JSON.parse(text)).toEqual([
      { 'kkkkk… (cut by daywalk, 63 bytes)': 'ab😀\ufffdé… (cut by daywalk, 84 bytes)' },
    ]);
    expect(changes.map(brief)).toEqual([
      { path: '/0/kkkkk… (cut by daywalk, 63 bytes)', offset: 2, what: 'string-size' },
      { path: '/0/kkkkk… (cut by daywalk, 63 bytes)', offset: 66, what: 'string-size' },
      { path: '/0/kkkkk… (cut by daywalk, 63 bytes)', offset: 81, what: 'nul' },
    ]);
    expect(run(text, small).changeCount).toBe(0);
  });

  test('only by what bad bytes become is cut as well', () => {
    const bad = Buffer.concat([Buffer.from('["'), Buffer.alloc(30, 0xff), Buffer.from('"]')]);
    expect(run(bad, small).whats).toEqual(['string-size', ...Array(5).fill('utf8')]);
  });

  test('for its container by the sum of what it holds', () => {
    const limits = { containerBytes: 100, excerpt: 5 };
    const full = (size: number) => `[{"a":["${'x'.repeat(size)}","y"]}]`;
    expect(run(full(50), limits).changeCount).toBe(0);
    expect(run(full(100), limits).changes.map(brief)).toEqual([
      { path: '/0/a', offset: 6, what: 'elements' },
    ]);
    expect(() => run(`["${'x'.repeat(101)}"]`, limits)).toThrow(TooLargeError);
  });

  test.each([
    ['a list', `[${'1,'.repeat(LIMITS.elements)}1]`],
    ['an object', `{${'"":1,'.repeat(LIMITS.pairs)}"":1}`],
    ['lists together', `{"a":[${'1,'.repeat(12e6)}1],"b":[${'1,'.repeat(12e6)}1]}`],
  ])('at the real limits, by one: %s', async (_, value) => {
    const body = Buffer.from(`{"data":[{"id":1},{"v":${value}}]}`);
    await expect(asText(body)).rejects.toThrow(/invalid memory alloc|total size of jsonb/);
    const { body: after, changes } = sanitise(body);
    expect(changes.map(brief)).toEqual([{ path: '/data/1/v', offset: 23, what: 'elements' }]);
    expect(await taken([after])).toEqual([true]);
  });
});

describe('what is told', () => {
  test('is the place in the received body, behind a mark and in UTF-16 too', () => {
    const text = '{"é":"😀\\u0000"}';
    const at = text.indexOf('\\');
    const place = (body: Buffer) => sanitise(body).changes.at(-1);
    expect(place(Buffer.from(`\ufeff${text}`))).toMatchObject({ path: '/é', offset: 14 });
    expect(place(Buffer.from(`\ufeff${text}`, 'utf16le'))).toMatchObject({ offset: 2 + 2 * at });
    expect(place(Buffer.from(text, 'utf16le').swap16())).toMatchObject({ offset: 2 * at });
    const lone = Buffer.from('["\ud83d"]', 'utf16le');
    const behind = Buffer.from('["\ud83d😀é\\u0000"]', 'utf16le');
    expect(place(behind)).toMatchObject({ offset: 12, what: 'nul' });
    expect(place(lone)).toEqual({ path: '/0', offset: 4, what: 'surrogate', found: '\\x3d\\xd8' });
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
    const { changes, changeCount } = run(`\ufeff["${'\\u0000'.repeat(5_000)}"]`);
    expect(changes).toHaveLength(1_000);
    expect(changeCount).toBe(5_001);
  });

  test('of what is no JSON is the place, and too little to hold a key', () => {
    const message = 'not JSON: "s3cret…" at byte 12, where a value should be';
    expect(() => run('\ufeff{"a": 1,"b":s3cret-of-the-api}')).toThrow('at byte 15');
    expect(() => run('{"a":1,"b": s3cret-of-the-api}')).toThrow(message);
  });
});

describe('time', () => {
  const unit = Buffer.concat([
    Buffer.from(
      '{"id":9007199254740993,"k\\u0000":"\\ud800 text é","n":[1e999999,1.10,[[[]]]],"b":"',
    ),
    Buffer.from([0xff]),
    Buffer.from('"},'),
  ]);
  /** A page of about `megabytes` in which everything is poisoned. */
  const page = (megabytes: number): Buffer =>
    Buffer.concat([
      Buffer.from('{"data":['),
      Buffer.alloc(unit.length * Math.ceil((megabytes * 1e6) / unit.length), unit),
      Buffer.from('{}]}'),
    ]);

  test.each([
    ['poison in every record', page(20)],
    ['nothing but U+0000', Buffer.from(`["${'\\u0000'.repeat(3.3e6)}"]`)],
    ['nothing but bad bytes', Buffer.from(`["${'x'.repeat(1e7)}"]`).fill(0xff, 2, 1e7)],
    [
      'lists that are too deep',
      Buffer.from(`${'['.repeat(500)}[]${',[]'.repeat(6e6)}${']'.repeat(500)}`),
    ],
    [
      'poisoned keys in every level',
      Buffer.from(
        `${`{"\\u0000":0,"\\ufffd":`.repeat(400)}["${'x'.repeat(2e7)}"]${'}'.repeat(400)}`,
      ),
    ],
    ['small bombs', Buffer.from(`[${'1e999,'.repeat(3.3e6)}1]`)],
  ])('20 MB take seconds: %s', (_, body) => {
    // Of work, not of waiting: what takes longer than its size allows takes hours.
    const begin = process.cpuUsage();
    expect(sanitise(body).changeCount).toBeGreaterThan(0);
    const { user, system } = process.cpuUsage(begin);
    expect((user + system) / 1e6).toBeLessThan(15);
  });
});
