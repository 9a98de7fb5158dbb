/** A proxy is used when one is set and NO_PROXY does not except the host; the key goes only to the API. */

import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { SettingsError, UnavailableError } from '../../src/errors.ts';
import { openSource } from '../../src/source/source.ts';
import { type Certificates, makeCertificates } from '../support/certificates.ts';
import { SOURCE } from '../support/source-options.ts';
import { fakeClock } from './fake-clock.ts';
import { CANARY, everythingOf, open } from './open.ts';
import { answer, emptyPage, raw, type Step, scriptedServer } from './scripted-server.ts';

const made = makeCertificates();
const PASSWORD = 'proxy-pass';

/** Opens the tunnel that a CONNECT asks for. */
const tunnel: Step = ({ head, socket }) => {
  const port = Number(/^CONNECT 127\.0\.0\.1:(\d+) /.exec(head)?.[1]);
  const onward = connect(port, '127.0.0.1', () => {
    socket.removeAllListeners('data');
    socket.write('HTTP/1.1 200 Established\r\n\r\n');
    socket.pipe(onward).pipe(socket);
  });
  onward.on('error', () => socket.destroy());
  socket.on('close', () => onward.destroy());
};

describe('plain HTTP', () => {
  test('goes through the proxy in absolute form, where it is allowed', async () => {
    const proxy = await scriptedServer([emptyPage]);
    const { fetch } = open('http://soc.example/x', {
      allowHttp: true,
      proxy: { http: proxy.url },
    });
    await fetch();
    expect(proxy.heads[0]).toMatch(
      /^GET http:\/\/soc\.example\/x\/api\/events\?start=0&.*Z? ?HTTP\/1\.1\r\n/,
    );
    expect(proxy.heads[0]).toMatch(/\r\nhost: soc\.example(\r\n|$)/);
    expect(proxy.heads[0]).toContain(`\r\nX-API-Key: ${CANARY}`);
  });

  test.each(['a%40token', 'a%40token:'])(
    'a proxy is told a user without a password: %s',
    async (login) => {
      const proxy = await scriptedServer([emptyPage]);
      const http = proxy.url.replace('://', `://${login}@`);
      await open('http://soc.example', { allowHttp: true, proxy: { http } }).fetch();
      const basic = Buffer.from('a@token:').toString('base64');
      expect(proxy.heads[0]).toContain(`proxy-authorization: Basic ${basic}\r\n`);
    },
  );

  test.each(['127.0.0.1', 'localhost', '[::1]', '127.1.2.3'])(
    'to this machine (%s) goes through no proxy, which would see the key',
    async (host) => {
      const proxy = await scriptedServer([emptyPage]);
      const { fails } = open(`http://${host}:1`, { proxy: { http: proxy.url }, retryTimeMs: 0 });
      expect((await fails()).message).toContain('ECONNREFUSED');
      expect(proxy.connections()).toBe(0);
    },
  );

  test.each(['soc.example', '*', 'a.example, soc.example:1', '.example'])(
    'goes directly to a host of NO_PROXY (%s)',
    async (no) => {
      const proxy = await scriptedServer([emptyPage]);
      const { fails } = open('http://soc.example:1', {
        allowHttp: true,
        proxy: { http: proxy.url, no },
        retryTimeMs: 0,
      });
      expect(await fails()).toBeInstanceOf(UnavailableError);
      expect(proxy.connections()).toBe(0);
    },
  );

  test('does not use the proxy for https, nor one of the environment', async () => {
    const proxy = await scriptedServer([emptyPage]);
    const api = await scriptedServer([emptyPage]);
    const before = process.env.http_proxy;
    process.env.http_proxy = proxy.url;
    try {
      await open(api.url).fetch();
      await open(api.url, { proxy: { https: proxy.url } }).fetch();
    } finally {
      if (before === undefined) delete process.env.http_proxy;
      else process.env.http_proxy = before;
    }
    expect([proxy.connections(), api.heads.length]).toEqual([0, 2]);
  });

  test('a proxy that asks for a password is a matter of settings', async () => {
    const proxy = await scriptedServer([answer('', { status: 407 })]);
    const error = await open('http://soc.example', {
      allowHttp: true,
      proxy: { http: proxy.url },
    }).fails();
    expect(error).toBeInstanceOf(SettingsError);
    expect(error).toMatchObject({ hint: expect.stringContaining('password') });
  });

  test('a proxy that is away is named', async () => {
    const error = await open('http://soc.example', {
      allowHttp: true,
      proxy: { http: 'http://127.0.0.1:1' },
    }).fails();
    expect(error).toBeInstanceOf(UnavailableError);
    expect(error.message).toContain(
      'connection to soc.example failed: connect ECONNREFUSED 127.0.0.1:1',
    );
  });
});

describe.runIf(made !== null)(made === null ? 'https (openssl not installed)' : 'https', () => {
  const { ca, server } = (made ?? {}) as Certificates;
  test('goes through a tunnel, in which alone the key is', async () => {
    const api = await scriptedServer([emptyPage], server);
    const proxy = await scriptedServer([tunnel]);
    const uri = proxy.url.replace('://', `://user:${PASSWORD}@`);
    const { fetch } = open(api.url, { tls: { ca }, proxy: { https: uri } });
    await fetch();
    const [head] = proxy.heads;
    expect(head).toMatch(/^CONNECT 127\.0\.0\.1:\d+ HTTP\/1\.1\r\n/);
    expect(head).toContain(
      `proxy-authorization: Basic ${Buffer.from(`user:${PASSWORD}`).toString('base64')}`,
    );
    expect(head).not.toContain(CANARY);
    expect(api.heads[0]).toContain(`X-API-Key: ${CANARY}`);
    expect(api.heads[0]).not.toContain('proxy-auth');
  });

  test('the certificate of the API is checked in the tunnel as well', async () => {
    const api = await scriptedServer([emptyPage], server);
    const proxy = await scriptedServer([tunnel]);
    expect(await open(api.url, { proxy: { https: proxy.url } }).fails()).toBeInstanceOf(
      SettingsError,
    );
  });

  test('a tunnel that is refused may pass, and says the status', async () => {
    const proxy = await scriptedServer([answer(`${CANARY} ${PASSWORD}`, { status: 403 })]);
    const uri = proxy.url.replace('://', `://user:${PASSWORD}@`);
    const error = await open('https://127.0.0.1:1', { proxy: { https: uri } }).fails();
    expect(error).toBeInstanceOf(UnavailableError);
    expect(error.message).toContain('connection to 127.0.0.1:1 failed: Proxy response (403)');
    expect(everythingOf(error)).not.toMatch(new RegExp(`CANARY|${PASSWORD}`));
  });

  test('a proxy that never answers the CONNECT does not hold the request', async () => {
    const proxy = await scriptedServer([() => {}, raw('')]);
    const { fails, clock } = open('https://127.0.0.1:1', {
      proxy: { https: proxy.url },
      retryTimeMs: 0,
    });
    const failed = fails();
    await proxy.asked(1);
    clock.expire();
    expect((await failed).message).toContain('no answer within 120 s');
  });
});

test.each(['proxy.example:3128', 'socks5://proxy.example', `ftp://u:${PASSWORD}@x`, 'http://'])(
  'a proxy like %s is refused without being shown',
  (https) => {
    const openIt = () =>
      openSource({
        ...SOURCE,
        baseUrl: 'https://soc.example',
        key: CANARY,
        clock: fakeClock(),
        proxy: { https },
      });
    expect(openIt).toThrow(SettingsError);
    expect(openIt).not.toThrow(PASSWORD);
  },
);
