/** Where to listen: what is taken, what is refused, and who can reach it. */
import { describe, expect, test } from 'vitest';
import { isLoopbackHost } from '../../src/hosts.ts';
import { Wrong } from '../../src/settings/problems.ts';
import { formatListen, parseListen } from '../../src/settings/values/listen.ts';
import { load, problemsOf } from './loading.ts';

describe('an address and a port', () => {
  test.each(['127.0.0.1:8642', '0.0.0.0:80', 'localhost:0', '[::1]:8642', '[::]:65535', 'off'])(
    '%s',
    (text) => {
      const address = parseListen(text);
      if (address instanceof Wrong) throw new Error(address.why);
      expect(formatListen(address)).toBe(text);
    },
  );
  test.each([
    '8642',
    ':8642',
    '127.0.0.1',
    'example.com:80',
    '1.2.3:80',
    '::1:80',
    '[1.2.3.4]:80',
    '127.0.0.1:65536',
    '127.0.0.1:80/x',
    '*:80',
  ])('%s is refused', (text) => {
    expect(parseListen(text)).toBeInstanceOf(Wrong);
  });
  test('only loopback is out of reach for others', () => {
    const reach = (text: string) => {
      const address = parseListen(text);
      return address !== null && !(address instanceof Wrong) && isLoopbackHost(address.host);
    };
    expect(['127.0.0.1:1', '127.9.9.9:1', '[::1]:1', 'localhost:1'].map(reach)).toEqual([
      true,
      true,
      true,
      true,
    ]);
    expect(['0.0.0.0:1', '[::]:1', '10.0.0.1:1'].map(reach)).toEqual([false, false, false]);
  });
  test('a wrong one is told with its place', () => {
    expect(
      problemsOf(() => load({ environment: { DAYWALK_STATUS_LISTEN: '8642' } })).join(),
    ).toMatch(/DAYWALK_STATUS_LISTEN.*not an address and a port/);
  });
});

test('a hook is a secret: shown without its path, and every part of it is struck out', async () => {
  const { describeSettings, settingsSecrets } = await import('../../src/settings/describe.ts');
  const settings = load({
    environment: {
      DAYWALK_PING_URL: 'https://hc-ping.com/0d338dcc-a054-11ec-b909-0242ac120002?create=1',
      DAYWALK_WEBHOOK_URL: 'https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXX',
    },
  });
  const lines = Object.fromEntries(
    describeSettings(settings).map(({ name, value }) => [name, value]),
  );
  expect(lines['ping.url']).toMatch(/^https:\/\/hc-ping\.com\/.{1,12}$/);
  expect(lines['webhook.url']).toMatch(/^https:\/\/hooks\.slack\.com\/.{1,12}$/);
  const secrets = settingsSecrets(settings);
  expect(secrets).toContain('0d338dcc-a054-11ec-b909-0242ac120002');
  expect(secrets).toContain('XXXXXXXXXXXX');
  expect(secrets).not.toContain('services');
});
