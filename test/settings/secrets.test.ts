/** Secrets: whatever is set, right or wrong, none appears in a message, a description or a printed object. */
import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { describeSettings, secretsOf } from '../../src/settings/describe.ts';
import { MASK, Secret } from '../../src/settings/values/secret.ts';
import { load, loadYaml } from './loading.ts';

test('a secret shows itself only when asked', () => {
  const secret = new Secret('hunter22');
  const shown = [
    `${secret}`,
    String(secret),
    JSON.stringify({ secret }),
    inspect({ secret }, { showHidden: true, depth: 9 }),
  ];
  expect(shown.join()).not.toContain('hunter22');
  expect(shown.join()).toContain(MASK);
  expect(Object.keys(secret)).toEqual([]);
  expect(secret.reveal()).toBe('hunter22');
});

/** What a place prints about settings, whether it takes them or not. */
function printed(run: () => ReturnType<typeof load>): string {
  try {
    const settings = run();
    return [
      inspect(settings, { depth: 9, showHidden: true }),
      JSON.stringify(settings),
      JSON.stringify(describeSettings(settings)),
    ].join('\n');
  } catch (error) {
    return inspect(error, { depth: 9, showHidden: true });
  }
}

describe('no secret is printed', () => {
  const alphabet = [...'abcXYZ019!#$%&*+-./:;=?@^_{|}~"\'\\ \n\té€'];
  // It begins and ends in words that no message has, so that a part of it is found, too.
  const secret = fc
    .string({ unit: fc.constantFrom(...alphabet), maxLength: 80, size: 'max' })
    .map((middle) => `zqxjv${middle}wkqzx`);
  const wrongPlace = fc.constantFrom(
    'DAYWALK_PAGE_LENGTH',
    'DAYWALK_TIMEZONE',
    'DAYWALK_STREAMS',
    'DAYWALK_API_URL',
    'DAYWALK_UNKNOWN',
    'DAYWALK_LOG_LEVEL',
  );
  const clean = (text: string) => {
    expect(text).not.toContain('zqxjv');
    expect(text).not.toContain('wkqzx');
  };
  test('the key: in its variable, its file, in YAML, and in a wrong place besides', () => {
    fc.assert(
      fc.property(secret, wrongPlace, fc.integer({ min: 0, max: 3 }), (key, place, where) => {
        const environment = { [place]: key };
        clean(
          printed(() => {
            if (where === 0) return load({ environment: { DAYWALK_API_KEY: key } });
            if (where === 1) return load({ environment: { ...environment, DAYWALK_API_KEY: key } });
            if (where === 2)
              return load({
                environment: { ...environment, DAYWALK_API_KEY_FILE: '/k' },
                files: { '/k': `${key}\n` },
              });
            return loadYaml(
              `api: { key: ${JSON.stringify(key)} }\ntimezone: ${JSON.stringify(key)}`,
            );
          }),
        );
      }),
      { numRuns: 1_000 },
    );
  });
  test('the key as a name in the file', () => {
    const environment = { DAYWALK_API_KEY: 'zqxjv-wkqzx' };
    const text = printed(() => loadYaml('api: { zqxjv-wkqzx: 1 }', { environment }));
    clean(text);
    expect(text).toContain(`(api.***): there is no such setting`);
  });
  test('passwords in URLs, encoded or not', () => {
    const name = fc.constantFrom('DATABASE_URL', 'HTTPS_PROXY', 'http_proxy', 'DAYWALK_API_URL');
    const scheme = fc.constantFrom('postgres://', 'http://', 'https://', 'socks5://', '');
    fc.assert(
      fc.property(secret, fc.boolean(), name, scheme, (password, encode, name, scheme) => {
        const written = encode ? encodeURIComponent(password) : password;
        clean(printed(() => load({ environment: { [name]: `${scheme}user:${written}@host/db` } })));
        clean(
          printed(() => load({ environment: { [name]: `${scheme}host/db?password=${written}` } })),
        );
      }),
      { numRuns: 1_000 },
    );
  });
});

test('what the log must blank out', () => {
  const settings = load({
    environment: {
      DAYWALK_API_KEY: 'a"key\\1',
      DATABASE_URL: 'postgres://u:p%23w@db/x?sslpassword=s3cret',
      HTTPS_PROXY: 'http://pu:pp@proxy:1',
    },
  });
  const secrets = secretsOf(settings);
  for (const text of ['a"key\\1', 'p%23w', 'p#w', 's3cret', 'pp', btoa('pu:pp')])
    expect(secrets).toContain(text);
  expect(secrets).not.toContain('');
  expect(secretsOf(load())).toEqual([]);
  const lines = Object.fromEntries(
    describeSettings(settings).map((line) => [line.name, line.value]),
  );
  expect(lines).toMatchObject({
    'api.key': MASK,
    'database.url': `postgres://u:${MASK}@db/x?${MASK}`,
    'proxy.https': `http://${MASK}:${MASK}@proxy:1`,
  });
});

test('of a database with several hosts the hosts are shown, and the secrets are struck out', () => {
  const settings = load({
    environment: { DATABASE_URL: 'postgres://u:p%23w,x@db1:5432,db2,[::1]:5433/x?sslpassword=s3' },
  });
  expect(secretsOf(settings)).toEqual(expect.arrayContaining(['p%23w,x', 'p#w,x', 's3']));
  const shown = describeSettings(settings).find(({ name }) => name === 'database.url');
  expect(shown?.value).toBe(`postgres://u:${MASK}@db1:5432,db2,[::1]:5433/x?${MASK}`);
});
