/** The key: read again once when it was refused, refused when no header can carry it, and shown nowhere. */

import { describe, expect, test } from 'vitest';
import { EnvelopeError, RefusedError, SettingsError } from '../../src/errors.ts';
import { openRedactor, type Redactor } from '../../src/redactor.ts';
import { Credentials } from '../../src/source/credentials.ts';
import { openSource } from '../../src/source/source.ts';
import { SOURCE } from '../support/source-options.ts';
import { fakeClock } from './fake-clock.ts';
import { CANARY, everythingOf, open } from './open.ts';
import { answer, emptyPage, type Step, scriptedServer } from './scripted-server.ts';

const NEW = 'new-key-4711-CANARY';
function opened(key: string, read: () => Promise<string>, redactor: Redactor) {
  const credentials = new Credentials<string>(redactor, read, (one) => [one]);
  credentials.take(key);
  return credentials;
}
const onlyWith =
  (key: string, status = 401): Step =>
  (asked) =>
    (asked.head.includes(`X-API-Key: ${key}\r\n`)
      ? emptyPage
      : answer(`no: ${CANARY} ${NEW}`, { status }))(asked);

describe('a rotated key', () => {
  // Gateways answer 403 to a key that they do not know.
  test.each([401, 403])('is read again after a %i, and used from then on', async (status) => {
    const server = await scriptedServer([onlyWith(NEW, status)]);
    let reads = 0;
    const { fetch } = open(server.url, {
      refreshKey: async () => {
        reads++;
        return NEW;
      },
    });
    expect(await fetch()).toMatchObject({ requests: 2 });
    expect(await fetch()).toMatchObject({ requests: 1 });
    expect(reads).toBe(1);
  });

  test('that other windows found already is used without reading it again', async () => {
    let reads = 0;
    const redactor = openRedactor(['a-password']);
    const refresh = async () => {
      reads++;
      return NEW;
    };
    const credentials = opened('old-key', refresh, redactor);
    expect(await credentials.renew('old-key')).toBe(true);
    expect(await credentials.renew('old-key')).toBe(true);
    expect(reads).toBe(1);
    expect(await credentials.current()).toBe(NEW);
    expect(credentials.newest()).toEqual(['old-key', NEW]);
    expect(redactor.secrets()).toEqual(['a-password', 'old-key', NEW]);
  });

  test('hundreds of them: the last four are looked for in answers, the others are forgotten', async () => {
    let reads = 0;
    const redactor = openRedactor(['a-password']);
    const credentials = opened('key-0', async () => `key-${++reads}`, redactor);
    for (let hour = 0; hour < 300; hour += 1) await credentials.renew(`key-${hour}`);
    const last = ['key-297', 'key-298', 'key-299', 'key-300'];
    expect(credentials.newest()).toEqual(last);
    expect(redactor.secrets()).toEqual(['a-password', ...last]);
  });

  test('the same one again after another is no new one', async () => {
    const turns = ['two', 'one', 'two'];
    const redactor = openRedactor();
    const credentials = opened('one', async () => turns.shift() ?? '', redactor);
    for (const refused of ['one', 'two', 'one']) await credentials.renew(refused);
    expect(credentials.newest()).toEqual(['one', 'two']);
    expect(redactor.secrets()).toEqual(['one', 'two']);
  });

  test.each([
    ['is the same', async () => CANARY],
    ['is gone', async () => undefined],
    ['cannot be read', async () => Promise.reject(new Error('ENOENT'))],
    ['is no key', async () => 'a\nb'],
  ])('that %s leaves the refusal, after one request', async (_, refreshKey) => {
    const server = await scriptedServer([onlyWith(NEW)]);
    const error = await open(server.url, { refreshKey }).fails();
    expect(error).toBeInstanceOf(RefusedError);
    expect(server.heads).toHaveLength(1);
  });

  test('that is refused as well ends it after two requests, and neither is shown', async () => {
    const server = await scriptedServer([onlyWith('another')]);
    const error = await open(server.url, { refreshKey: async () => NEW }).fails();
    expect(error).toBeInstanceOf(RefusedError);
    expect(server.heads).toHaveLength(2);
    expect(error.message).toContain('no: *** ***');
    expect(everythingOf(error)).not.toMatch(/CANARY/);
  });

  test('is looked for once for each page, even if there is always another', async () => {
    const server = await scriptedServer([onlyWith('another')]);
    let reads = 0;
    const refreshKey = async () => `new-key-${++reads}`;
    expect(await open(server.url, { refreshKey }).fails()).toBeInstanceOf(RefusedError);
    expect(server.heads).toHaveLength(2);
  });
});

describe('a key that is refused while others want to ask', () => {
  const many = (fetch: () => Promise<unknown>) =>
    Promise.allSettled(Array.from({ length: 12 }, () => fetch()));

  test.each([401, 403])('is not tried by them (%i)', async (status) => {
    const server = await scriptedServer([answer('', { status })]);
    const { fetch, clock } = open(server.url, { connections: 3, refreshKey: async () => CANARY });
    for (const { status: outcome, ...rest } of await many(() => fetch())) {
      expect(outcome).toBe('rejected');
      expect(rest).toMatchObject({ reason: expect.any(RefusedError) });
    }
    expect(server.heads).toHaveLength(3);
    // Who asks later does try: it may be right again.
    await clock.sleep(10_000);
    await fetch().catch(() => {});
    expect(server.heads).toHaveLength(4);
  });

  test('is tried again ten seconds after it was sent, however often somebody asked meanwhile', async () => {
    const server = await scriptedServer([answer('', { status: 401 })]);
    const { fetch, clock } = open(server.url, { refreshKey: async () => CANARY });
    for (let second = 0; second <= 10; second += 5) {
      await fetch().catch(() => {});
      await clock.sleep(5_000);
    }
    expect(server.heads).toHaveLength(2);
  });

  test('is replaced before any of them goes', async () => {
    const server = await scriptedServer([onlyWith(NEW)]);
    const refreshKey = () => new Promise<string>((resolve) => setImmediate(resolve, NEW));
    const { fetch } = open(server.url, { connections: 3, refreshKey });
    for (const { status } of await many(() => fetch())) expect(status).toBe('fulfilled');
    expect(server.heads.filter((head) => head.includes(CANARY.concat('\r\n')))).toHaveLength(3);
  });
});

test.each(['', 'a b', 'line\nbreak-secret', 'schlüssel', 'tab\tsecret'])(
  'a key that no header can carry is refused without being shown: %j',
  (key) => {
    const openIt = () =>
      openSource({ ...SOURCE, baseUrl: 'https://soc.example', key, clock: fakeClock() });
    expect(openIt).toThrow(SettingsError);
    expect(openIt).toThrow(/^((?!secret|schl).)*$/);
  },
);

test('what a source says of a body has the key struck out', async () => {
  const { source } = open('https://soc.example');
  const look = () => source.findContract(Buffer.from(`{"error":"bad ${CANARY}","${CANARY}":[]}`));
  expect(look).toThrow(EnvelopeError);
  expect(look).not.toThrow(CANARY);
  expect(look).toThrow('an object with error, ***. Lists: *** is an empty list');
  expect(source.excerpt(`{"error":"bad ${CANARY}"}`)).toBe('{"error":"bad ***"}');
});

describe('the base URL', () => {
  test.each(['http://soc.example', 'http://10.0.0.1:8080'])('%s is refused', (baseUrl) => {
    const openIt = () => openSource({ ...SOURCE, baseUrl, key: CANARY, clock: fakeClock() });
    expect(openIt).toThrow(SettingsError);
  });

  test.each([
    ['http://localhost:8080', false],
    ['http://127.0.0.1', false],
    ['http://[::1]:80/x', false],
    ['http://10.0.0.1:8080', true],
    ['https://soc.example/tenant-7/', false],
  ])('%s is taken (plain HTTP allowed: %s)', async (baseUrl, allowHttp) => {
    const source = openSource({ ...SOURCE, baseUrl, key: CANARY, clock: fakeClock(), allowHttp });
    await source.close();
  });
});
