/** The source against servers and proxies that people run: nginx, HAProxy, tinyproxy, squid, each on loopback. */
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { SettingsError, UnavailableError } from '../../src/errors.ts';
import type { SourceOptions } from '../../src/source/source.ts';
import { makeCertificates } from '../support/certificates.ts';
import {
  absenceOf,
  startHaproxy,
  startNginx,
  startSquid,
  startTinyproxy,
} from '../support/daemon.ts';
import { andAtNight } from '../support/night.ts';
import { CLOSED_PORT } from '../support/ports.ts';
import { CANARY, everythingOf, open } from './open.ts';
import { emptyPage, scriptedServer } from './scripted-server.ts';

const certificates = makeCertificates();
const noNginx = absenceOf('nginx') ?? (certificates === null ? 'openssl is not installed' : null);
const noHaproxy = absenceOf('haproxy');
const PROXIES = [
  { name: 'tinyproxy', start: startTinyproxy },
  { name: 'squid', start: startSquid },
] as const;

const real = { clock: systemClock, retryBaseMs: 100, retryCapMs: 1000 };
const PAGE = 'rewrite ^ /page.json break;';
const tls = {
  'server.pem': certificates?.server.cert ?? '',
  'server.key': certificates?.server.key ?? '',
};
/** Six times what the servers take in a second: the slowest machine asks for more than that at first. */
const PAGES = 60;
const TLS = 'listen LISTEN ssl; ssl_certificate server.pem; ssl_certificate_key server.key;';

/** Fetches pages in several windows at a time, as a run does. */
async function fetchMany(url: string, count: number, options: Partial<SourceOptions> = {}) {
  const { source, fetch, retries } = open(url, { ...real, ...options });
  let left = count;
  const window = async (): Promise<void> => {
    while (left-- > 0) await fetch({}, new AbortController().signal);
  };
  await Promise.all(Array.from({ length: 4 }, window));
  return { limits: source.limits(), retries };
}

describe.skipIf(noNginx !== null)(`nginx (${noNginx ?? 'there'})`, () => {
  test.each(andAtNight([503], [429]))(
    'limit_req with status %i, over TLS of a private authority: every page comes, few are refused',
    async (status) => {
      const port = await startNginx(
        `${TLS} location / { limit_req zone=api burst=10 nodelay; limit_req_status ${status}; ${PAGE} }`,
        tls,
        'limit_req_zone $binary_remote_addr zone=api:1m rate=10r/s;',
      );
      const { limits } = await fetchMany(`https://127.0.0.1:${port}`, PAGES, {
        tls: { ca: certificates?.ca ?? '' },
      });
      expect(limits.requests).toBe(PAGES + limits.refused);
      expect(limits.refused).toBeGreaterThan(0);
      expect(limits.refused).toBeLessThan(PAGES);
    },
  );

  test('with a certificate of a private authority that is not named in api.ca_file: no request', async () => {
    const port = await startNginx(`${TLS} location / { ${PAGE} }`, tls);
    const error = await open(`https://127.0.0.1:${port}`, real).fails();
    expect(error).toBeInstanceOf(SettingsError);
    expect(error).toMatchObject({ hint: expect.stringContaining('api.ca_file') });
  });

  test('that asks for a client certificate: it is shown; without one the answer says so', async () => {
    const port = await startNginx(
      `${TLS} ssl_client_certificate ca.pem; ssl_verify_client on; location / { ${PAGE} }`,
      { ...tls, 'ca.pem': certificates?.ca ?? '' },
    );
    const url = `https://127.0.0.1:${port}`;
    const ca = certificates?.ca ?? '';
    const { client } = certificates as NonNullable<typeof certificates>;
    const shown = { ca, clientCert: client.cert, clientKey: client.key };
    expect(await open(url, { ...real, tls: shown }).fetch()).toMatchObject({ requests: 1 });
    expect((await open(url, { ...real, tls: { ca } }).fails()).message).toContain(
      'No required SSL certificate',
    );
  });

  test('that closes idle connections just when they are used: no page is lost, none waits (H07)', async () => {
    const port = await startNginx(
      `listen LISTEN; keepalive_timeout 20ms; location / { keepalive_requests 7; ${PAGE} }`,
    );
    const { fetch, retries } = open(`http://127.0.0.1:${port}`, real);
    for (let page = 0; page < 60; page++) {
      await fetch();
      await systemClock.sleep(18 + (page % 5));
    }
    expect(retries).toEqual([]);
  });

  test('whose upstream stalls (504), then is away (502): tried again, then told', async () => {
    const upstream = await scriptedServer([() => {}, emptyPage]);
    const stalled = await startNginx(
      `listen LISTEN; location / { proxy_pass http://127.0.0.1:${upstream.port}; proxy_read_timeout 200ms; }`,
    );
    const { fetch, retries } = open(`http://127.0.0.1:${stalled}`, real);
    await fetch();
    // Once at least: a machine that stands still is late for the next one as well.
    expect(retries.length).toBeGreaterThan(0);
    for (const retry of retries) expect(retry).toContain('answered 504');
    const away = await startNginx(
      `listen LISTEN; location / { proxy_pass http://127.0.0.1:${CLOSED_PORT}; }`,
    );
    const error = await open(`http://127.0.0.1:${away}`, { ...real, retryTimeMs: 2_000 }).fails();
    expect(error).toBeInstanceOf(UnavailableError);
    expect(error.message).toMatch(/gave up after \d+ attempts in .* answered 502/);
  });
});

describe.skipIf(noHaproxy !== null)(`HAProxy (${noHaproxy ?? 'there'})`, () => {
  test('that counts requests in a sliding window and refuses with 429: every page comes', async () => {
    const api = await scriptedServer([emptyPage]);
    const port = await startHaproxy(api.port, {
      frontend: `
  stick-table type ip size 1k expire 10s store http_req_rate(1s)
  http-request track-sc0 src
  http-request deny deny_status 429 if { sc_http_req_rate(0) gt 10 }`,
    });
    const { limits } = await fetchMany(`http://127.0.0.1:${port}`, PAGES);
    expect(limits.requests).toBe(PAGES + limits.refused);
    expect(limits.refused).toBeGreaterThan(0);
    expect(limits.refused).toBeLessThan(PAGES);
  });

  test('whose server takes too long (504): asked again', async () => {
    const api = await scriptedServer([() => {}, emptyPage]);
    const port = await startHaproxy(api.port, { server: '200ms' });
    const { fetch, retries } = open(`http://127.0.0.1:${port}`, real);
    await fetch();
    // Once at least: a machine that stands still is late for the next one as well.
    expect(retries.length).toBeGreaterThan(0);
    for (const retry of retries) expect(retry).toContain('answered 504');
  });

  test('whose server is away (503): told after the attempts', async () => {
    const port = await startHaproxy(CLOSED_PORT);
    const error = await open(`http://127.0.0.1:${port}`, { ...real, retryTimeMs: 5_000 }).fails();
    expect(error.message).toMatch(/gave up after \d+ attempts in .* answered 503/);
  });
});

describe.each(
  PROXIES.map((proxy) => ({ ...proxy, absence: absenceOf(proxy.name) ?? noNginx ?? 'there' })),
)('$name ($absence)', ({ start, absence }) => {
  const PASSWORD = 'proxy-password-4711';
  const ca = certificates?.ca ?? '';
  /** A page through the proxy. */
  const through = async (rules: { password?: string; connectPort?: number }, user = '') => {
    const port = await startNginx(`${TLS} location / { ${PAGE} }`, tls);
    const https = `http://${user}127.0.0.1:${await start({ connectPort: port, ...rules })}`;
    const options = { ...real, tls: { ca }, proxy: { https }, retryTimeMs: 0 };
    return { port, ...open(`https://127.0.0.1:${port}`, options) };
  };
  const there = test.skipIf(absence !== 'there');

  there(
    'with a password: the tunnel carries TLS to the API, and the key is in it alone',
    async () => {
      const { fetch } = await through({ password: PASSWORD }, `user:${PASSWORD}@`);
      expect(await fetch()).toMatchObject({ requests: 1 });
    },
  );

  there('with another password: told, and neither password nor key is shown', async () => {
    const { fails } = await through({ password: 'another' }, `user:${PASSWORD}@`);
    const error = await fails();
    expect(error.message).toMatch(/40[17]/);
    expect(everythingOf(error)).not.toMatch(new RegExp(`${CANARY}|${PASSWORD}`));
  });

  there('that does not let the port of the API through: told with what to check', async () => {
    const { port, fails } = await through({ connectPort: 443 });
    const error = await fails();
    expect(error.message).toContain(`connection to 127.0.0.1:${port} failed: Proxy response (403)`);
    expect(error).toMatchObject({ hint: expect.stringContaining('check the proxy') });
  });
});
