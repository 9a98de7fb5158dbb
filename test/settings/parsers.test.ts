/** The parsers of single values: what they take, what they refuse, and that they read back what they write. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Wrong } from '../../src/settings/problems.ts';
import { formatJsonPath, parseJsonPath, parseTotalPath } from '../../src/settings/values/paths.ts';
import {
  formatRate,
  formatSize,
  parseDuration,
  parseInteger,
  parseRate,
  parseSize,
  writeDuration,
} from '../../src/settings/values/quantity.ts';
import { Secret } from '../../src/settings/values/secret.ts';
import { parseCron, parseDay, parseTimezone } from '../../src/settings/values/time.ts';
import {
  parseApiUrl,
  parseDatabaseUrl,
  parseProxyUrl,
  skipsCertificateCheck,
} from '../../src/settings/values/url.ts';

const why = (found: unknown) => (found instanceof Wrong ? found.why : `taken: ${String(found)}`);

describe('quantities', () => {
  test('a duration reads back what it writes', () => {
    fc.assert(
      fc.property(fc.nat(10 ** 11), (ms) => {
        expect(parseDuration(writeDuration(ms), { min: 0, max: 10 ** 12 })).toBe(ms);
      }),
    );
  });
  test('a size reads back what it writes', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.nat(),
          fc.nat(5000).map((n) => n * 1024 ** 2),
        ),
        (bytes) => {
          expect(parseSize(formatSize(bytes), { min: 0, max: 10 ** 12 })).toBe(bytes);
        },
      ),
    );
  });
  test.each([
    ['90s', 90_000],
    ['15m', 900_000],
    ['1h', 3_600_000],
    ['2d', 172_800_000],
    ['250ms', 250],
    ['0', 0],
  ])('%s is %d ms', (text, ms) => expect(parseDuration(text, { min: 0, max: 10 ** 9 })).toBe(ms));
  test.each(['', '90', '-1s', '1.5h', '1e3s', '1h30m', '1y', 's', '1٣s', 'Infinitys'])(
    '%j is not a duration',
    (text) => expect(parseDuration(text, { min: 0, max: 10 ** 9 })).toBeInstanceOf(Wrong),
  );
  test('out of range names the range', () => {
    expect(why(parseDuration('1s', { min: 5_000, max: 60_000 }))).toBe(
      'is not a duration from 5s to 1m',
    );
    expect(why(parseSize('1GiB', { min: 1024, max: 1024 ** 2 }))).toBe(
      'is not a size from 1KiB to 1MiB',
    );
  });
  test('0, 10MB and 64MiB', () => {
    expect(parseSize('0', { min: 0, max: 10 ** 9 })).toBe(0);
    expect(parseSize('10MB', { min: 0, max: 10 ** 9 })).toBe(10_000_000);
    expect(parseSize('64MiB', { min: 0, max: 10 ** 9 })).toBe(67_108_864);
  });
  test.each([
    ['20', 20, '20/s'],
    ['20/s', 20, '20/s'],
    ['0.5', 0.5, '30/m'],
    ['2.5/s', 2.5, '150/m'],
    ['600/m', 10, '10/s'],
    ['600 / M', 10, '10/s'],
    ['100/h', 1 / 36, '100/h'],
  ])('%s is %d requests a second, written %s', (text, value, written) => {
    expect(parseRate(text, { min: 0, max: 1e9 })).toBeCloseTo(value, 9);
    expect(formatRate(value)).toBe(written);
    expect(parseRate(formatRate(value), { min: 0, max: 1e9 })).toBeCloseTo(value, 9);
  });
  test.each(['', '/s', '20/d', '-1/s', '1e3/s', '20 per s', '1/2/s', '.5', 'Infinity'])(
    '%j is not a rate',
    (text) => expect(parseRate(text, { min: 0, max: 10 ** 9 })).toBeInstanceOf(Wrong),
  );
  test('a rate out of range names the range', () =>
    expect(why(parseRate('0', { min: 1 / 3600, max: 10_000 }))).toBe(
      'is not a rate from 1/h to 10000/s',
    ));
  test.each(['', '0x10', '1e3', '-1', '+1', '1.0', ' 1', '1_000', '9'.repeat(30)])(
    '%j is not an integer',
    (text) => expect(parseInteger(text, { min: 0, max: 10 ** 9 })).toBeInstanceOf(Wrong),
  );
});

describe('days', () => {
  test.each(['2024-02-29', '1970-01-01', '2000-02-29', '9999-12-31'])('%s is a day', (text) =>
    expect(parseDay(text)).toBe(text),
  );
  test.each([
    ['2024-02-30', 'is not a day of the calendar'],
    ['2023-02-29', 'is not a day of the calendar'],
    ['1900-02-29', 'is not a day of the calendar'],
    ['2024-13-01', 'is not a day of the calendar'],
    ['2024-00-10', 'is not a day of the calendar'],
    ['0024-01-01', 'is before 1970-01-01'],
    ['2024-1-1', 'is not a date such as 2024-01-31'],
    ['31.01.2024', 'is not a date such as 2024-01-31'],
    ['2024-01-01T00:00', 'is not a date such as 2024-01-31'],
    ['yesterday', 'is not a date such as 2024-01-31'],
  ])('%s %s', (text, expected) => expect(why(parseDay(text))).toBe(expected));
});

describe('time zones', () => {
  test.each([
    ['UTC', 'UTC'],
    ['europe/berlin', 'Europe/Berlin'],
    ['America/Argentina/Buenos_Aires', 'America/Argentina/Buenos_Aires'],
    ['Asia/Calcutta', 'Asia/Calcutta'],
    ['Etc/GMT-5', 'Etc/GMT-5'],
  ])('%s', (text, zone) => expect(parseTimezone(text)).toBe(zone));
  test.each([
    ['Europe/Berln', 'did you mean Europe/Berlin?'],
    ['Berlin', 'did you mean Europe/Berlin?'],
    ['America/New York', 'did you mean America/New_York?'],
    ['new york', 'did you mean America/New_York?'],
    ['Berln', 'did you mean Europe/Berlin?'],
    ['+05:00', 'Etc/GMT-5 for five hours east'],
    ['+05:30', 'Etc/GMT-5 for five hours east'],
    ['2024-01-01[UTC]', 'is not a time zone'],
    ['Mars/Phobos', 'is not a time zone'],
    ['', 'is not a time zone'],
    ['../../etc/passwd', 'is not a time zone'],
  ])('%j: %s', (text, expected) => expect(why(parseTimezone(text))).toContain(expected));
});

describe('schedules', () => {
  test.each(['15 * * * *', '*/5 0-6,20 * jan-jun MON-FRI', '0  0\t1,29 2 0-7'])('%s', (text) =>
    expect(parseCron(text)).toBe(text.split(/\s+/).join(' ')),
  );
  test.each([
    ['@hourly', 'one field'],
    ['0 15 * * * *', '6 fields'],
    ['60 * * * *', 'is no schedule (not possible for minute): minute (0-59)'],
    ['0 24 * * *', 'for hour'],
    ['0 0 0 * *', 'for day of month'],
    ['0 0 * 13 *', 'for month'],
    ['0 0 * * 8', 'for week day'],
    ['*/0 * * * *', 'for minute'],
    ['5/10 * * * *', 'for minute'],
    ['0 0 31 4,6 *', 'impossible day of month'],
    ['0 0 L * *', 'numbers, ranges, lists and steps only'],
    ['0 0 * * 1#2', 'numbers, ranges, lists and steps only'],
    ['0 0 * * 5L', 'numbers, ranges, lists and steps only'],
    ['1,,2 * * * *', 'for minute'],
  ])('%s: %s', (text, expected) => expect(why(parseCron(text))).toContain(expected));
});

describe('paths in a page', () => {
  test.each([
    ['$', []],
    ['data.items', ['data', 'items']],
    ['$.data', ['data']],
    ['a\\.b.c', ['a.b', 'c']],
    ['a\\\\', ['a\\']],
    ['$.none', ['none']],
  ])('%s', (text, path) => expect(parseJsonPath(text)).toEqual(path));
  test.each(['', '.', 'a..b', '.a', 'a.', '$.', 'a\\'])('%j is none', (text) =>
    expect(parseJsonPath(text)).toBeInstanceOf(Wrong),
  );
  test('a total may be none, but not the whole page', () => {
    expect(parseTotalPath('none')).toBeNull();
    expect(parseTotalPath('$')).toBeInstanceOf(Wrong);
  });
  test('every path reads back as it was written', () => {
    const key = fc.oneof(
      fc.string({ minLength: 1 }),
      fc.constantFrom('$', 'none', '.', '\\', '$.a'),
    );
    fc.assert(
      fc.property(fc.array(key, { maxLength: 4 }), (path) => {
        expect(parseJsonPath(formatJsonPath(path))).toEqual(path);
        if (path.length > 0) expect(parseTotalPath(formatJsonPath(path))).toEqual(path);
      }),
    );
  });
});

describe('URLs', () => {
  test.each([
    ['https://api.example.com', 'https://api.example.com'],
    ['https://API.example.com:443/v1/', 'https://api.example.com/v1'],
    ['http://localhost:8080/a/b//', 'http://localhost:8080/a/b'],
  ])('API %s', (text, url) => expect(parseApiUrl(text)).toBe(url));
  test.each([
    ['https://user:pw@api.example.com', 'user or password'],
    ['https://api.example.com/?key=1', 'query or fragment'],
    ['https://api.example.com?', 'query or fragment'],
    ['https://api.example.com/#x', 'query or fragment'],
    ['api.example.com', 'is not a URL like https://'],
    ['ftp://api.example.com', 'is not a URL like https://'],
    ['https:api.example.com', 'is not a URL like https://'],
    ['https://', 'is not a URL like https://'],
    ['https://a b', 'white space'],
    ['https://api.example.com/api/events', 'leave out /api/events'],
  ])('API %s: %s', (text, expected) => expect(why(parseApiUrl(text))).toContain(expected));
  test.each([
    ['stays on this machine', 'postgres://u:p@localhost/x', ''],
    ['stays on this machine', 'postgres://127.0.0.1:5433/x', ''],
    ['stays on this machine', 'postgres://[::1]/x?application_name=a', ''],
    ['stays on this machine', 'postgres://%2Frun%2Fpostgresql/x', ''],
    ['stays on this machine', 'postgres://u@db/x?host=/run/postgresql', ''],
    ['says so', 'postgres://db/x?sslmode=disable', ''],
    ['says so', 'postgres://db/x?sslmode=no-verify', ''],
    ['goes to another machine', 'postgres://u:p%23@db/x', '?sslmode=verify-full'],
    ['goes to another machine', 'postgresql://db', '?sslmode=verify-full'],
    ['goes to another machine', 'postgres://db/x?a=1', '&sslmode=verify-full'],
    ['goes to another machine', 'postgres://localhost/x?host=db', '&sslmode=verify-full'],
    ['goes to another machine', 'postgres://db/x?host=', '&sslmode=verify-full'],
    ['goes to another machine', 'postgres://db/x?ssl=0', '&sslmode=verify-full'],
    ['goes to another machine', 'postgres://db/x?sslmode=', '&sslmode=verify-full'],
    ['goes to another machine', 'postgres://db?sslmode=disable&sslmode=', '&sslmode=verify-full'],
    ['stays on this machine', 'postgres://u:a,b@localhost:1,[::1]:2/x', ''],
    ['goes to several machines', 'postgres://u:p%23@a:1,b:2,c/x', '?sslmode=verify-full'],
    ['goes to several machines', 'postgres://a,b/x?port=6432', '&sslmode=verify-full'],
    ['goes to another machine, too', 'postgres://localhost,b/x', '?sslmode=verify-full'],
    ['is to take writes', 'postgres://localhost/x?target_session_attrs=read-write', ''],
    ['is to take writes', 'postgres://a,b/x?sslmode=disable&target_session_attrs=primary', ''],
  ])('database that %s: %s', (_, text, more) => {
    const found = parseDatabaseUrl(text);
    expect(found instanceof Wrong ? found.why : found.reveal()).toBe(text + more);
  });
  test.each([
    ['sslmode=no-verify', true],
    ['sslmode=verify-full', false],
    ['sslmode=verify-full&sslmode=no-verify', true],
    ['sslmode=no-verify&sslmode=verify-full', false],
    ['uselibpqcompat=true&sslmode=require', true],
    ['uselibpqcompat=true&sslmode=verify-full&sslmode=require', true],
  ])('%s switches the check of the certificate off: %j', (parameters, off) => {
    const url = parseDatabaseUrl(`postgres://db/x?${parameters}`);
    expect(url instanceof Secret && skipsCertificateCheck(url)).toBe(off);
  });
  test.each([
    ['postgres:///x', 'postgres://localhost/x'],
    ['postgres://u@/x', 'postgres://u@localhost/x'],
    ['postgres://?host=/run/postgresql', 'postgres://localhost?host=/run/postgresql'],
    ['postgres://db/x?sslmode=require', 'postgres://db/x?sslmode=verify-full'],
  ])('database %s is %s, whatever the environment says', (text, url) => {
    const found = parseDatabaseUrl(text);
    expect(found instanceof Wrong ? found.why : found.reveal()).toBe(url);
  });
  test.each([
    'mysql://db/x',
    'postgres:x',
    'postgres://u:p#w@db/x',
    'postgres://u:1#w@db/x',
    'postgres://u:1/w@db/x',
    'postgres://u:%zz@db/x',
    'postgres://db/x\n',
    'postgres://a,,b/x',
    'postgres://a,/x',
    'postgres://a,:5433/x',
    'postgres://a:1,b:x/x',
    'postgres://u:1,2/w@a,b/x',
    'postgres://a,b/x?host=c',
    'postgres://db/x?host=a,b',
    'postgres://a,b/x?port=1,2',
    'postgres://a,b/x?target_session_attrs=any',
    'postgres://db/x?target_session_attrs=standby',
  ])('not a database: %j, and it is not repeated', (text) => {
    const found = parseDatabaseUrl(text);
    expect(found).toBeInstanceOf(Wrong);
    expect((found as Wrong).about(text)).not.toContain(text.slice(text.indexOf('//')));
  });
  test('a port that none is named', () => {
    const about = (text: string) => why(parseDatabaseUrl(text));
    expect(about('postgres://u:p@db:99999/x')).toBe('has a port above 65535');
    expect(about('postgres://u:99999/w@db/x')).toContain('special characters in user and password');
  });
  test('a proxy needs no scheme, and is never a SOCKS proxy', () => {
    const href = (text: string) => {
      const found = parseProxyUrl(text);
      return found instanceof Wrong ? found.why : found.reveal();
    };
    expect(href('proxy.example.com:3128')).toBe('http://proxy.example.com:3128/');
    expect(href('https://u:p@proxy')).toBe('https://u:p@proxy/');
    expect(href('socks5://proxy:1080')).toContain('is not a URL like http://');
    expect(href('http://proxy/path')).toContain('a proxy has none');
  });
});
