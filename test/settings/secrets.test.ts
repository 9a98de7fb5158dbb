/** Secrets: whatever is set, right or wrong, none appears in a message, a description or a printed object. */
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { describeSettings, settingsSecrets } from '../../src/settings/describe.ts';
import { MASK, Secret } from '../../src/settings/values/secret.ts';
import { load, loadYaml, problemsOf } from './loading.ts';
import { noSecretIsPrinted } from './printed-secrets.ts';

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

describe('no secret is printed', () => noSecretIsPrinted(150));

test('what the log must blank out', () => {
  const settings = load({
    environment: {
      DAYWALK_API_KEY: 'a"key\\1',
      DATABASE_URL: 'postgres://u:p%23w@db/x?sslpassword=s3cret',
      HTTPS_PROXY: 'http://pu:pp@proxy:1',
    },
  });
  const secrets = settingsSecrets(settings);
  for (const text of ['a"key\\1', 'p%23w', 'p#w', 's3cret', 'pp', btoa('pu:pp')])
    expect(secrets).toContain(text);
  expect(secrets).not.toContain('');
  expect(settingsSecrets(load())).toEqual([]);
  const lines = Object.fromEntries(
    describeSettings(settings).map((line) => [line.name, line.value]),
  );
  expect(lines).toMatchObject({
    'api.key': MASK,
    'database.url': `postgres://u:${MASK}@db/x?${MASK}`,
    'proxy.https': `http://${MASK}:${MASK}@proxy:1`,
  });
});

test.each([
  ['DAYWALK_API_KEY_FILE', 'sk-4711-zqxjv'],
  ['DAYWALK_API_KEY_FILE', 'c2stNDcx/zqxjv+MS=='],
  ['DAYWALK_API_KEY_FILE', `eyJ${'zqxjv'.repeat(60)}`],
  ['DAYWALK_API_KEY_FILE', `${'zqxjv'.repeat(60)}/MS==`],
  ['DATABASE_URL_FILE', 'postgres://daywalk:zqxjv@db/daywalk'],
  ['DAYWALK_PING_URL_FILE', 'https://hc-ping.com/zqxjv'],
])('%s that holds the secret itself does not show it: %s', (name, secret) => {
  const [line = ''] = problemsOf(() => load({ environment: { [name]: secret } }));
  expect(line).toMatch(`environment ${name}: what it names (not shown, as it may be the secret`);
  expect(line).toMatch(/does not exist$/);
  expect(line).not.toContain('zqxjv');
});

test('a path that is one is shown where there is no such file', () => {
  const folders = { '/srv/secrets': 'a folder, as far as is looked' };
  const told = (path: string) =>
    problemsOf(() => loadYaml(`api: { key_file: ${path} }`, { files: folders }))[0];
  const place = 'daywalk.yaml:1:8 (api.key_file)';
  expect(told('/run/secrets/api_key')).toBe(`${place}: /run/secrets/api_key does not exist`);
  expect(told('secrets/api_key')).toBe(`${place}: /srv/secrets/api_key does not exist`);
});

test('of a database with several hosts the hosts are shown, and the secrets are struck out', () => {
  const settings = load({
    environment: { DATABASE_URL: 'postgres://u:p%23w,x@db1:5432,db2,[::1]:5433/x?sslpassword=s3' },
  });
  expect(settingsSecrets(settings)).toEqual(expect.arrayContaining(['p%23w,x', 'p#w,x', 's3']));
  const shown = describeSettings(settings).find(({ name }) => name === 'database.url');
  expect(shown?.value).toBe(`postgres://u:${MASK}@db1:5432,db2,[::1]:5433/x?${MASK}`);
});
