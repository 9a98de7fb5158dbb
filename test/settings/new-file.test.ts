/** A new settings file says what was set, holds no secret, and is what program and editor take; so is the schema itself. */
import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { fileSchema } from '../../src/settings/file/file-schema.ts';
import { newFile, unkept } from '../../src/settings/file/new-file.ts';
import { loadSettings } from '../../src/settings/load.ts';
import { ROWS } from '../../src/settings/table/table.ts';
import { formatJsonPath } from '../../src/settings/values/paths.ts';

const fits = new Ajv({ strict: true, allowUnionTypes: true }).compile(fileSchema());
const missing = () => {
  throw Object.assign(new Error('missing'), { code: 'ENOENT' });
};
const settingsOf = (
  flags: Record<string, unknown>,
  environment: Record<string, string> = {},
  readFile: (path: string) => Uint8Array = missing,
) => loadSettings({ flags, environment, cwd: '/srv/daywalk', readFile });
const readAgain = (text: string) =>
  settingsOf({}, {}, (path) => {
    if (path === '/srv/daywalk/daywalk.yaml') return Buffer.from(text);
    if (path.endsWith('key')) return Buffer.from('the-key-itself');
    return missing();
  });

/** A value of each kind that is not the default. */
const SET = {
  apiUrl: 'https://soc.example/tenant',
  apiAllowHttp: 'yes',
  apiGzip: 'no',
  schedule: '* * * * *',
  timezone: 'Europe/Berlin',
  since: '2026-01-01',
  settle: '90m',
  recordsPath: 'data.rows',
  totalPath: 'none',
  pageLength: '250',
  keepBytes: 'always',
  bodyLimit: '10MB',
  directory: 'data/own',
  logLevel: 'debug',
};

describe('a new file', () => {
  it('says the same as the flags and the environment that it was made of', () => {
    const environment = { DAYWALK_API_KEY_FILE: 'secrets/key', DAYWALK_STREAMS: 'smart-event' };
    const read = () => Buffer.from('the-key-itself');
    const settings = settingsOf(SET, environment, (path) =>
      path.endsWith('key') ? read() : missing(),
    );
    const text = newFile(settings, '/srv/daywalk');
    expect(text).toContain('\n  key_file: secrets/key\n');
    const { origins: _, config: __, ...again } = readAgain(text);
    const { origins: ___, config: ____, ...before } = settings;
    expect(again).toEqual(before);
    expect(fits(parse(text)), JSON.stringify(fits.errors)).toBe(true);
  });

  it.each([
    `${'a'.repeat(50)} ${'b'.repeat(50)}`,
    'two\nlines',
    '# no comment',
    'a: b',
    'null',
    '7',
  ])('says what identifies the events of all streams, and of one: %j', (key) => {
    const settings = settingsOf({
      streams: 'events,smart-event',
      idPath: formatJsonPath([key, 'all']),
    });
    const [first, ...others] = settings.streams;
    if (first === undefined) throw new Error('no stream');
    const streams = [{ ...first, idPath: [key, 'id'] }, ...others];
    const origins = { ...settings.origins, streams: { source: 'file', place: 'here' } as const };
    const again = readAgain(newFile({ ...settings, streams, origins }, '/srv/daywalk'));
    expect(again).toMatchObject({ streams, idPath: [key, 'all'] });
  });

  it('of nothing is all comments and empty parts, and means the defaults', () => {
    const text = newFile(settingsOf({}), '/srv/daywalk');
    const { origins: _, config: __, ...again } = readAgain(text);
    const { origins: ___, config: ____, ...before } = settingsOf({});
    expect(again).toEqual(before);
    expect(fits(parse(text)), JSON.stringify(fits.errors)).toBe(true);
    for (const row of ROWS.filter(({ inFile }) => inFile))
      expect(text).toMatch(new RegExp(`^ *# ${row.name.split('.').at(-1)}:`, 'm'));
  });

  it('names the variable of a secret, and never the secret', () => {
    const environment = {
      DAYWALK_API_KEY: 'the-key-itself',
      DATABASE_URL: 'postgres://daywalk:hidden@db.example/soc',
      HTTPS_PROXY: 'http://me:hidden@proxy.example:3128',
    };
    const text = newFile(settingsOf({}, environment), '/srv/daywalk');
    expect(text).not.toMatch(/the-key-itself|hidden/);
    for (const name of Object.keys(environment))
      expect(text).toMatch(
        new RegExp(`^ *# \\S+: read from the environment variable ${name}$`, 'm'),
      );
  });

  it('tells of each variable that it does not hold, and of the file that may', () => {
    const environment = {
      DAYWALK_API_KEY: 'one',
      DAYWALK_WEBHOOK_URL: 'https://hooks.example/one',
      HTTPS_PROXY: 'http://proxy.example:3128',
    };
    expect(unkept(settingsOf({}, environment)).sort()).toEqual([
      'DAYWALK_API_KEY is not kept: set it in each shell, or name a file that holds it in api.key_file.',
      'DAYWALK_WEBHOOK_URL is not kept: set it in each shell, or name a file that holds it in webhook.url_file.',
      'HTTPS_PROXY is not kept: set it in each shell.',
    ]);
  });

  it('writes every comment so that it can be uncommented', () => {
    const text = newFile(settingsOf({}), '/srv/daywalk');
    const bare = text.replace(/^( *)# ((?: *)[a-z_-]+:(?: .*)?)$/gm, '$1$2');
    const tree = parse(bare) as Record<string, Record<string, unknown>>;
    expect(tree.log).toEqual({ level: 'info', format: 'auto' });
    expect(tree.streams).toEqual({
      events: null,
      'smart-event': null,
      severe: { resource: 'events', filters: { rule_level_from: 12 } },
    });
  });
});

describe('the schema', () => {
  it('is the one in docs; `npm run docs` writes it', () => {
    const file = new URL('../../docs/daywalk.schema.json', import.meta.url);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(fileSchema());
  });

  it('takes the example file, and refuses what the program refuses', () => {
    const example = readFileSync(new URL('../../daywalk.example.yaml', import.meta.url), 'utf8');
    expect(fits(parse(example)), JSON.stringify(fits.errors)).toBe(true);
    for (const wrong of [
      'page_lenght: 5',
      'api: {key: mine}',
      'api: {gzip: perhaps}',
      'keep_bytes: never',
      'tables: {a: {stream: events, columns: {b: {type: float}}}}',
      'streams: {a: {filter: {}}}',
      'streams: {a: {resource: logs}}',
      'streams: {a: {resource: events, filters: {start: 1}}}',
      'streams: [events]',
    ]) {
      expect(fits(parse(wrong)), wrong).toBe(false);
      expect(() => readAgain(wrong), wrong).toThrow();
    }
  });

  it('takes every default of the table', () => {
    for (const row of ROWS.filter(({ inFile, default: value }) => inFile && value !== null)) {
      const [first = '', second] = row.name.split('.');
      const text =
        second === undefined
          ? `${first}: ${row.default}`
          : `${first}:\n  ${second}: ${row.default}`;
      expect(fits(parse(text)), `${text}: ${JSON.stringify(fits.errors)}`).toBe(true);
    }
  });
});
