/** Loading: precedence, origins, everything wrong at once, files and what is missing. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EXIT, exitCodeOf, SettingsError } from '../../src/errors.ts';
import { describeSettings } from '../../src/settings/describe.ts';
import { loadSettings } from '../../src/settings/load.ts';
import type { SettingKey } from '../../src/settings/table/table.ts';
import { ROWS } from '../../src/settings/table/table.ts';
import { load, loadYaml, problemsOf } from './loading.ts';

const API = { DAYWALK_API_URL: 'https://api.example.com', DAYWALK_API_KEY: 'k-123456' };

describe('precedence', () => {
  const samples: Partial<Record<SettingKey, readonly [string, string, string]>> = {
    pageLength: ['11', '12', '13'],
    settle: ['11m', '12m', '13m'],
    bodyLimit: ['11MiB', '12MiB', '13MiB'],
    timezone: ['Europe/Berlin', 'Asia/Tokyo', 'America/Lima'],
    since: ['2024-01-01', '2024-01-02', '2024-01-03'],
    schedule: ['1 * * * *', '2 * * * *', '3 * * * *'],
    apiUrl: ['https://a.example', 'https://b.example', 'https://c.example'],
    logLevel: ['debug', 'warn', 'error'],
    apiGzip: ['no', 'yes', 'no'],
    recordsPath: ['a.b', 'c', '$'],
    directory: ['/a', '/b', '/c'],
  };
  test('flag over environment over file over default, for any of them', () => {
    const given = fc.record({
      key: fc.constantFrom(...(Object.keys(samples) as SettingKey[])),
      flag: fc.boolean(),
      env: fc.boolean(),
      file: fc.boolean(),
    });
    fc.assert(
      fc.property(given, ({ key, flag, env, file }) => {
        const [f, e, y] = samples[key] ?? ['', '', ''];
        const row = ROWS.find((row) => row.key === key);
        if (!row) throw new Error(key);
        const settings = load({
          flags: flag ? { [key]: f } : {},
          environment: env ? { [row.env[0]]: e } : { [row.env[0]]: '' },
          files: file ? { '/srv/daywalk.yaml': yamlOf(row.name, y) } : {},
        });
        const line = describeSettings(settings).find((line) => line.name === row.name);
        const expected = flag
          ? [f, `flag ${row.flag}`]
          : env
            ? [e, `environment ${row.env[0]}`]
            : file
              ? [y, `daywalk.yaml:${row.name.includes('.') ? '2:3' : '1:1'}`]
              : [row.key === 'directory' ? '/srv/.daywalk' : row.default, 'default'];
        expect([line?.value, line?.place]).toEqual(expected);
      }),
    );
  });
  test('what a stream does not say itself comes from where it is said for all', () => {
    const settings = loadYaml(
      'id_path: id\nstreams: { audit: { resource: events }, own: { resource: events, id_path: key } }',
    );
    const lines = describeSettings(settings).map(({ name, value, place }) => [name, value, place]);
    expect(lines).toContainEqual(['streams.audit.id_path', 'id', 'daywalk.yaml:1:1']);
    const there = expect.stringMatching(/^daywalk\.yaml:2:/);
    expect(lines).toContainEqual(['streams.own.id_path', 'key', there]);
  });
  test('a wrong value is an error even where it is overridden', () => {
    const problems = problemsOf(() => loadYaml('page_length: x', { flags: { pageLength: '5' } }));
    expect(problems).toEqual([
      'daywalk.yaml:1:1 (page_length): "x" is not a whole number from 1 to 100000',
    ]);
  });
  test('empty and blank variables and values are unset', () => {
    const settings = loadYaml('page_length:\napi:\n  url:\nlog:\n', {
      environment: { DAYWALK_SINCE: ' ', DAYWALK_API_KEY: '', DAYWALK_FOO: '' },
    });
    expect(settings).toMatchObject({ pageLength: 1000, since: undefined, apiKey: undefined });
  });
  test('flags of the command itself are not looked at', () => {
    expect(load({ flags: { from: 'x', json: true, apiKey: 'x' } }).apiKey).toBeUndefined();
  });
  test('relative paths are relative to who names them', () => {
    const settings = load({
      flags: { config: 'etc/d.yaml' },
      environment: { DAYWALK_DIRECTORY: 'data' },
      files: {
        '/srv/etc/d.yaml': 'database: { url_file: db.url }',
        '/srv/etc/db.url': 'postgres://localhost/x\n',
      },
    });
    expect(settings.directory).toBe('/srv/data');
    expect(settings.databaseUrlFile).toBe('/srv/etc/db.url');
    expect(settings.databaseUrl?.reveal()).toBe('postgres://localhost/x');
    expect(settings.origins['database.url']?.place).toBe('/srv/etc/db.url (etc/d.yaml:1:13)');
    expect(settings.config).toBe('/srv/etc/d.yaml');
  });
});

test('ten wrong settings are ten lines, each with its place, and exit code 2', () => {
  const run = () =>
    loadYaml(
      'page_lenght: 10\nconcurrency: 0\nsettle: soon\nstreams:\n  audit: { resource: events, filters: { rule_levl: 3 } }\n',
      {
        flags: { since: '2024-02-30', pageLength: '1e3' },
        environment: {
          DAYWALK_TIMEZONE: 'Europe/Berln',
          DAYWALK_SETLE: '1h',
          DAYWALK_SCHEDULE: '* * *',
          DAYWALK_BODY_LIMIT: 'big',
        },
        require: ['api'],
      },
    );
  expect(problemsOf(run)).toEqual([
    'flag --since: "2024-02-30" is not a day of the calendar',
    'flag --page-length: "1e3" is not a whole number from 1 to 100000',
    'environment DAYWALK_SCHEDULE: "* * *" has 3 fields, not five: minute (0-59) hour (0-23) day (1-31) month (1-12) weekday (0-7), such as 15 * * * *',
    'environment DAYWALK_TIMEZONE: "Europe/Berln" is not a time zone such as Europe/Berlin, or Etc/GMT-5 for five hours east; did you mean Europe/Berlin?',
    'environment DAYWALK_BODY_LIMIT: "big" is not a size such as 64MiB or 10MB',
    'environment DAYWALK_SETLE: there is no such setting; did you mean DAYWALK_SETTLE?',
    'daywalk.yaml:1:1 (page_lenght): there is no such setting; did you mean page_length?',
    'daywalk.yaml:2:1 (concurrency): "0" is not a whole number from 1 to 64',
    'daywalk.yaml:3:1 (settle): "soon" is not a duration such as 90s, 15m, 1h or 2d',
    'daywalk.yaml:5:41 (streams.audit.filters.rule_levl): the API has no such filter; did you mean rule_level?',
    'api.url: is not set; give --api-url, or DAYWALK_API_URL in the environment, or api.url in daywalk.yaml',
    'api.key: is not set; give DAYWALK_API_KEY or DAYWALK_API_KEY_FILE in the environment, or api.key_file in daywalk.yaml',
  ]);
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(SettingsError);
    expect(exitCodeOf(error)).toBe(EXIT.settings);
  }
});

describe('the API', () => {
  test('is only missed where it is needed', () => {
    expect(load().apiUrl).toBeUndefined();
    expect(problemsOf(() => load({ require: ['api'] }))).toHaveLength(2);
    expect(load({ environment: API, require: ['api'] }).apiKey?.reveal()).toBe('k-123456');
  });
  test('is not missing as well where the file cannot be read, or its part api is none', () => {
    const told = (files: Record<string, string>, flags = {}) =>
      problemsOf(() => load({ files, flags: { streams: 'audit', ...flags }, require: ['api'] }));
    expect(told({}, { config: 'x.yaml' })).toHaveLength(1);
    expect(told({ '/srv/daywalk.yml': '' })).toHaveLength(1);
    expect(told({ '/srv/daywalk.yaml': 'api: {' })).toHaveLength(1);
    expect(told({ '/srv/daywalk.yaml': 'api: https://api.example.com' })).toEqual([
      expect.stringContaining('daywalk.yaml:1:1 (api): expected a mapping of url, '),
    ]);
  });
  test('a wrong URL is not missing as well', () => {
    const environment = { ...API, DAYWALK_API_URL: 'localhost:80' };
    expect(problemsOf(() => load({ environment, require: ['api'] }))).toEqual([
      'environment DAYWALK_API_URL: "localhost:80" is not a URL like https://api.example.com',
    ]);
  });
  test.each(['http://localhost:1', 'http://127.9.9.9', 'http://[::1]:80', 'http://2130706433'])(
    '%s is this machine',
    (apiUrl) => expect(load({ flags: { apiUrl } }).apiUrl).toMatch(/^http:/),
  );
  test('the key goes unencrypted to another machine only when allowed', () => {
    const flags = { apiUrl: 'http://127.0.0.1.example.com' };
    expect(problemsOf(() => load({ flags }))[0]).toContain('api.allow_http');
    expect(load({ flags: { ...flags, apiAllowHttp: 'yes' } }).apiAllowHttp).toBe(true);
  });
  test('certificate and key go together, and can be read', () => {
    const files = { '/c': 'a certificate', '/k': 'a key' };
    const flags = { apiClientCertFile: '/c', apiClientKeyFile: '/k' };
    expect(load({ flags, files }).apiClientKeyFile).toBe('/k');
    expect(problemsOf(() => load({ flags: { apiClientCertFile: '/c' }, files }))[0]).toContain(
      'set both or none',
    );
    expect(problemsOf(() => load({ flags: { apiCaFile: '/x' }, files }))[0]).toContain(
      'does not exist',
    );
  });
  test('proxies: small letters count, as everywhere', () => {
    const settings = load({
      environment: { HTTPS_PROXY: 'a:1', https_proxy: 'b:2', NO_PROXY: 'x,y' },
    });
    expect(settings.httpsProxy?.reveal()).toBe('http://b:2/');
    expect(settings.noProxy).toBe('x,y');
  });
});

describe('the environment', () => {
  test('unknown names are refused, what Kubernetes puts there is not', () => {
    const environment = {
      DAYWALK_SERVICE_HOST: '10.0.0.1',
      DAYWALK_SERVICE_PORT_HTTP: '80',
      DAYWALK_PORT: 'tcp://10.0.0.1:80',
      DAYWALK_PORT_80_TCP_ADDR: '10.0.0.1',
      DAYWALK_POSTGRES_SERVICE_HOST: '10.0.0.2',
      DAYWALK_POSTGRES_SERVICE_PORT: '5432',
      DAYWALK_POSTGRES_PORT: 'tcp://10.0.0.2:5432',
      DAYWALK_POSTGRES_PORT_5432_TCP_PROTO: 'tcp',
    };
    expect(load({ environment }).pageLength).toBe(1000);
    expect(
      problemsOf(() =>
        load({
          environment: {
            DAYWALK_DATABASE_URL: 'x',
            daywalk_since: 'x',
            DAYWALK_SINCE_FILE: 'x',
            DAYWALK_QQQQQQQ: 'x',
            DAYWALK_QQQQQQQ_PORT: '8642',
          },
        }),
      ),
    ).toEqual([
      'environment DAYWALK_DATABASE_URL: there is no such setting; did you mean DATABASE_URL?',
      'environment daywalk_since: there is no such setting; did you mean DAYWALK_SINCE?',
      'environment DAYWALK_SINCE_FILE: there is no such setting: DAYWALK_SINCE cannot come from a file',
      'environment DAYWALK_QQQQQQQ: there is no such setting',
      'environment DAYWALK_QQQQQQQ_PORT: there is no such setting',
    ]);
  });
  test('certificates are checked', () => {
    expect(
      problemsOf(() => load({ environment: { NODE_TLS_REJECT_UNAUTHORIZED: '0' } })),
    ).toHaveLength(1);
  });
});

describe('files', () => {
  const place = 'environment DAYWALK_API_KEY_FILE';
  const environment = { DAYWALK_API_KEY_FILE: '/k' };
  test.each([
    [{}, `${place}: /k does not exist`],
    [{ '/k': '' }, `${place}: /k is empty`],
    [{ '/k': '\n' }, `${place}: /k is empty`],
    [
      { '/k': 'ab\ncd\n' },
      `/k (${place}): the value holds a space, a line break or another character that no key has`,
    ],
    [{ '/k': 'x'.repeat(4097) }, `/k (${place}): the value is longer than 4096 characters`],
    [
      { '/k': 'X-API-Key:key' },
      `/k (${place}): the value begins with a word of the header; give the key alone`,
    ],
    [{ '/k': Buffer.from([0xff, 0xfe]) }, `${place}: /k is not UTF-8 text`],
  ])('secret file %#', (files, expected) => {
    expect(problemsOf(() => load({ environment, files }))).toEqual([expected]);
  });
  test.each(['apikey-of-mine', 'Basic-key', 'x'.repeat(4096)])('a key that is taken: %#', (key) => {
    expect(load({ environment, files: { '/k': key } }).apiKey?.reveal()).toBe(key);
  });
  test('one line break at the end is not part of the key', () => {
    expect(load({ environment, files: { '/k': 'key\r\n' } }).apiKey?.reveal()).toBe('key');
  });
  test('key and key file in the same place are refused, in different ones the higher counts', () => {
    const files = { '/k': 'file-key' };
    expect(
      problemsOf(() => load({ environment: { ...environment, DAYWALK_API_KEY: 'k' }, files })),
    ).toEqual([`${place}: set together with DAYWALK_API_KEY; remove one of the two`]);
    const settings = loadYaml('api: { key_file: /gone }', {
      environment: { DAYWALK_API_KEY: 'k' },
    });
    expect(settings).toMatchObject({ apiKeyFile: undefined });
    expect(settings.apiKey?.reveal()).toBe('k');
  });
  test('a named settings file must be there, the default one need not', () => {
    expect(problemsOf(() => load({ flags: { config: 'x.yaml' } }))).toEqual([
      'flag --config: x.yaml does not exist',
    ]);
    expect(problemsOf(() => load({ environment: { DAYWALK_CONFIG: '/x' } }))).toEqual([
      'environment DAYWALK_CONFIG: /x does not exist',
    ]);
    expect(problemsOf(() => load({ files: { '/srv/daywalk.yml': '' } }))[0]).toContain('rename it');
  });
  test('real files: a folder, a device without end, a path through a file', () => {
    const cwd = mkdtempSync(join(tmpdir(), 'daywalk-config-'));
    try {
      writeFileSync(join(cwd, 'daywalk.yaml'), 'page_length: 7\n');
      const real = (flags: Record<string, string>) => loadSettings({ flags, environment: {}, cwd });
      expect(real({}).pageLength).toBe(7);
      expect(problemsOf(() => real({ config: '.' }))).toEqual([
        'flag --config: . is a folder, not a file',
      ]);
      expect(problemsOf(() => real({ config: '/dev/zero' }))[0]).toContain('is larger than');
      expect(problemsOf(() => real({ apiCaFile: 'daywalk.yaml/x' }))[0]).toContain(
        'part of its path',
      );
    } finally {
      rmSync(cwd, { recursive: true });
    }
  });
});

function yamlOf(name: string, value: string): string {
  const quoted = JSON.stringify(value);
  const [level, key] = name.split('.');
  return key === undefined ? `${name}: ${quoted}` : `${level}:\n  ${key}: ${quoted}`;
}
