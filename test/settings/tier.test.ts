/** The settings of the tier: a folder or a bucket, its keys, and what goes together. */
import { describe, expect, test } from 'vitest';
import { load, loadYaml, problemsOf } from './loading.ts';

const KEYS = { DAYWALK_TIER_KEY: 'access-key-1', DAYWALK_TIER_SECRET: 'secret-key-1' };
const bucket = (more = '') => `tier: { url: s3://soc/daywalk${more} }`;

describe('where days move to', () => {
  test.each([
    ['/archive/daywalk', '/archive/daywalk'],
    ['archive', '/srv/archive'],
    ['s3://soc-archive', 's3://soc-archive'],
    ['s3://soc.archive/a/b=1/', 's3://soc.archive/a/b=1'],
  ])('%s', (url, found) => {
    expect(loadYaml(`tier: { url: "${url}" }`, { environment: KEYS }).tierUrl).toBe(found);
  });

  test.each([
    ['https://soc.example/a', 'is neither a folder nor s3://bucket/prefix'],
    ['s3://', 'names no bucket'],
    ['s3://So', 'names no bucket'],
    ['s3://soc/../other', 'has a prefix with other characters'],
    ['s3://soc/a//b', 'has a prefix with other characters'],
    ['s3://AKIA4711:zqxjv@soc/a', 'the value names no bucket'],
    ['s3://soc/a?secret_access_key=zqxjv', 'the value has a prefix with other characters'],
    ['s3://AKIA4711:zq/xjv@soc/a', 'the value names no bucket'],
    ['https://AKIA4711:zqxjv@soc.example', 'the value is neither a folder nor s3://bucket/prefix'],
  ])('not %s', (url, problem) => {
    const [first] = problemsOf(() => loadYaml(`tier: { url: "${url}" }`, { environment: KEYS }));
    expect(first).toContain(problem);
    expect(first).not.toMatch(/AKIA4711|xjv/);
  });
});

test('a bucket needs its keys, a folder none', () => {
  expect(problemsOf(() => loadYaml(bucket()))).toEqual([
    'tier.key: is not set; give DAYWALK_TIER_KEY or DAYWALK_TIER_KEY_FILE in the environment, or tier.key_file in daywalk.yaml',
    'tier.secret: is not set; give DAYWALK_TIER_SECRET or DAYWALK_TIER_SECRET_FILE in the environment, or tier.secret_file in daywalk.yaml',
  ]);
  expect(loadYaml('tier: { url: /archive }').tierKey).toBeUndefined();
  const files = {
    '/srv/daywalk.yaml': bucket(', key_file: key, secret_file: secret'),
    '/srv/key': 'access-key-2\n',
    '/srv/secret': 'secret-key-2\n',
  };
  const { tierKey, tierSecret, tierSessionToken } = load({ files });
  expect([tierKey?.reveal(), tierSecret?.reveal()]).toEqual(['access-key-2', 'secret-key-2']);
  expect(tierSessionToken).toBeUndefined();
});

test('keys that are lent for a time have a token', () => {
  const files = {
    '/srv/daywalk.yaml': bucket(', session_token_file: token'),
    '/srv/token': 'token-of+a/day==\n',
  };
  expect(load({ files, environment: KEYS }).tierSessionToken?.reveal()).toBe('token-of+a/day==');
  const environment = { ...KEYS, DAYWALK_TIER_SESSION_TOKEN: 'token-1' };
  expect(loadYaml(bucket(), { environment }).tierSessionToken?.reveal()).toBe('token-1');
});

test('events go over plain HTTP to this machine only, unless somebody says so', () => {
  const at = (more: string) => () => loadYaml(bucket(more), { environment: KEYS });
  expect(problemsOf(at(', endpoint: "http://minio.example:9000"'))).toEqual([
    expect.stringContaining('http://minio.example:9000 would send events unencrypted'),
  ]);
  for (const more of [
    ', endpoint: "http://127.0.0.1:9000"',
    ', endpoint: "http://minio.example:9000", allow_http: yes',
  ])
    expect(at(more)().tierEndpoint).toMatch(/^http:/);
});

test('days move by themselves only to a place', () => {
  expect(problemsOf(() => loadYaml('tier: { after: 90d }'))).toEqual([
    expect.stringContaining('tier.url is not set; set both or none'),
  ]);
  expect(loadYaml('tier: { url: /archive, after: 90d }').tierAfter).toBe(90 * 86_400_000);
});
