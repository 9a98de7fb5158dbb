/** Connections that fail, hang, drip or die in between. */
import { spawn } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import dns from 'node:dns';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import {
  EnvelopeError,
  InterruptedError,
  RefusedError,
  RequestError,
  UnavailableError,
} from '../../src/errors.ts';
import { namedFailure } from '../../src/source/exchange-failure.ts';
import { CANARY, everythingOf, open } from './open.ts';
import {
  answer,
  emptyPage,
  raw,
  rawThenEnd,
  type Step,
  scriptedServer,
} from './scripted-server.ts';

const reset: Step = ({ socket }) => void socket.resetAndDestroy();
const end: Step = ({ socket }) => void socket.end();

/** Counts the requests that are written to a socket from now on, as undici tells of them. */
function requestsSent(): () => number {
  let count = 0;
  const note = (): void => void count++;
  subscribe('undici:client:sendHeaders', note);
  onTestFinished(() => void unsubscribe('undici:client:sendHeaders', note));
  return () => count;
}

/** A server that takes connections again only after 700 ms: so the system tries to make a new one for a second, and it is made. */
const LATE_SERVER = `
  const server = require('node:http').createServer((_, response) => response.end('{"data":[]}'));
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => console.log(server.address().port));
  process.stdin.once('data', () => {
    console.log('late');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 700);
  });`;

/** Starts it, and fills its queue. @returns its port. */
async function startLateServer(): Promise<number> {
  const child = spawn(process.execPath, ['-e', LATE_SERVER], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill());
  const [port] = await once(child.stdout, 'data');
  child.stdin.write('now');
  await once(child.stdout, 'data');
  for (let waiting = 0; waiting < 2; waiting += 1) {
    const socket = connect(Number(port), '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    await once(socket, 'connect');
  }
  return Number(port);
}

/** Has every name stand for these addresses, in this order. */
function resolveTo(...addresses: readonly string[]): void {
  const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  const lookup = vi.spyOn(dns, 'lookup');
  onTestFinished(() => lookup.mockRestore());
  lookup.mockImplementation(((...asked: unknown[]) =>
    (asked.at(-1) as (error: null, found: unknown) => void)(null, found)) as never);
}

describe('no connection', () => {
  test('of two addresses the one that is far away is not given up for one that is none here', async () => {
    const port = await startLateServer();
    resolveTo('127.0.0.1', '::1');
    const { fetch } = open(`http://far.example:${port}`, { allowHttp: true, retryTimeMs: 0 });
    expect(await fetch()).toMatchObject({ requests: 1 });
  });

  test.runIf(process.platform === 'linux')(
    'nor is one that answers missed for one that is silent, however short connect_timeout is',
    async () => {
      const port = await startLateServer();
      const server = createServer((_, response) => response.end('{"data":[]}'));
      onTestFinished(() => void server.close());
      await once(server.listen(port, '127.0.0.2'), 'listening');
      resolveTo('127.0.0.1', '127.0.0.2');
      const { fetch } = open(`http://near.example:${port}`, {
        allowHttp: true,
        retryTimeMs: 0,
        connectTimeoutMs: 600,
      });
      expect(await fetch()).toMatchObject({ requests: 1 });
    },
  );

  test('refused: tried again, then said in words (H01)', async () => {
    const { fails, clock, retries } = open('http://127.0.0.1:1');
    const error = await fails();
    expect(error).toBeInstanceOf(UnavailableError);
    expect(error.message).toBe(
      'http://127.0.0.1:1/api/events (start 0, length 50): gave up after 44 attempts in 300 s; the last: connection to 127.0.0.1:1 failed: connect ECONNREFUSED 127.0.0.1:1',
    );
    expect(clock.waits.slice(0, 7)).toEqual([500, 1000, 2000, 4000, 7500, 7500, 7500]);
    expect(retries).toHaveLength(43);
  });

  test('unknown host: the message names it (H02)', async () => {
    const { fails } = open('https://daywalk-test.invalid', { retryTimeMs: 0 });
    const error = await fails();
    expect(error).toBeInstanceOf(UnavailableError);
    expect(error.message).toContain('daywalk-test.invalid');
    expect(error).toMatchObject({ hint: expect.stringMatching(/api\.url|name server/) });
  });

  test('a handshake that never ends is over after the connect timeout (H03)', async () => {
    const server = await scriptedServer([() => {}]);
    const { fails } = open(`https://127.0.0.1:${server.port}`, {
      connectTimeoutMs: 20,
      retryTimeMs: 0,
    });
    expect((await fails()).message).toContain(
      `connection to 127.0.0.1:${server.port} failed: Connect Timeout Error`,
    );
  });

  test('the deadline also holds while a connection is being made', async () => {
    const server = await scriptedServer([() => {}]);
    const { fails } = open(`https://127.0.0.1:${server.port}`, {
      clock: { ...systemClock, timeout: () => AbortSignal.timeout(5) },
      connectTimeoutMs: 10_000,
      retryTimeMs: 0,
    });
    expect((await fails()).message).toContain('no answer within 120 s');
  });
});

describe('a connection that is lost', () => {
  test.each([
    ['reset before any byte (H05)', reset],
    ['ended before any byte (H06)', end],
    ['ended in the headers', rawThenEnd('HTTP/1.1 200 OK\r\nConte')],
  ])('%s is tried again', async (_, step) => {
    const server = await scriptedServer([step, step, emptyPage]);
    const { fetch, retries } = open(server.url);
    expect(await fetch()).toMatchObject({ requests: 3 });
    expect(retries).toHaveLength(2);
    expect(retries[0]).toMatch(/^connection to 127\.0\.0\.1:\d+ lost before an answer$/);
  });

  test('in the middle of the answer is tried again', async () => {
    const server = await scriptedServer([
      rawThenEnd('HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{'),
      emptyPage,
    ]);
    const { fetch, retries } = open(server.url);
    await fetch();
    expect(retries[0]).toContain('lost in the middle of the answer');
  });

  test.each([
    ['reset', reset],
    ['ended', end],
  ])(
    'kept alive and %s just then: at once on a fresh connection, not counted (H07)',
    async (_, step) => {
      const server = await scriptedServer([emptyPage, step, emptyPage]);
      const { fetch, clock, retries } = open(server.url, {
        connections: 1,
        retryTimeMs: 0,
      });
      await fetch();
      expect(await fetch({ start: 1 })).toMatchObject({ requests: 2 });
      expect(server.connections()).toBe(2);
      expect([...clock.waits, ...retries]).toEqual([]);
    },
  );

  test('the repetition does not take another kept connection, which is as old', async () => {
    const served = new Set<Socket>();
    let begun: (() => void) | undefined;
    const server = await scriptedServer([
      // The first two are answered together, so that there are two connections to keep.
      (first) => {
        served.add(first.socket);
        begun = () => emptyPage(first);
      },
      (second) => {
        served.add(second.socket);
        emptyPage(second);
        begun?.();
      },
      (later) => (served.has(later.socket) ? reset : emptyPage)(later),
    ]);
    const { fetch } = open(server.url, { connections: 2, retryTimeMs: 0 });
    await Promise.all([fetch(), fetch({ start: 1 })]);
    expect(await fetch({ start: 2 })).toMatchObject({ requests: 2 });
    expect(server.connections()).toBe(3);
  });

  test('that race is taken for one only once', async () => {
    const server = await scriptedServer([emptyPage, reset]);
    const { fetch, fails } = open(server.url, { retryTimeMs: 1_200 });
    await fetch();
    expect(await fails()).toBeInstanceOf(UnavailableError);
    expect(server.heads).toHaveLength(1 + 4);
  });

  test('a request that waits in line is sent before anything is made of the answer that makes room for it', async () => {
    const server = await scriptedServer([emptyPage]);
    const { fetch } = open(server.url, { connections: 1 });
    await fetch();
    const sent = requestsSent();
    const asked = [1, 2, 3].map((start) => fetch({ start }).then(sent));
    const [first, second, third] = await Promise.all(asked);
    // Its own request was sent, and so was the next one; when a server reads it is the system's affair.
    expect(first).toBeGreaterThanOrEqual(2);
    expect(second).toBeGreaterThanOrEqual(3);
    expect(third).toBe(3);
  });

  test('one connection serves many pages', async () => {
    const server = await scriptedServer([emptyPage]);
    const { fetch } = open(server.url, { connections: 1 });
    for (let start = 0; start < 5; start++) await fetch({ start });
    expect(server.connections()).toBe(1);
  });
});

test('a refusal that breaks off within the key it says back does not show the rest', async () => {
  const said = `{"error":"bad key ${CANARY.slice(0, -1)}`;
  const server = await scriptedServer([
    rawThenEnd(`HTTP/1.1 400 Bad Request\r\nContent-Length: 1000\r\n\r\n${said}`),
  ]);
  const error = await open(server.url).fails();
  expect(error.message).toContain('bad key ***');
  expect(everythingOf(error)).not.toContain(CANARY.slice(0, 8));
});

describe('the total deadline', () => {
  const silent: Step = () => {};
  const stalled = raw('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{');
  test('ends a request that is never answered (H08)', async () => {
    const server = await scriptedServer([silent]);
    const { fails, clock } = open(server.url, { retryTimeMs: 0, pageTimeoutMs: 45_000 });
    const failed = fails();
    await server.asked(1);
    clock.expire();
    expect((await failed).message).toContain('no answer within 45 s');
  });

  test('ends a body that stalls (H09)', async () => {
    const server = await scriptedServer([stalled, emptyPage]);
    const { fetch, clock, retries } = open(server.url);
    const fetched = fetch();
    await server.asked(1);
    await new Promise((resolve) => setImmediate(resolve));
    clock.expire();
    expect(await fetched).toMatchObject({ requests: 2 });
    expect(retries[0]).toMatch(/^no (complete )?answer within 120 s/);
  });

  /** A body that comes byte by byte and has no end, until the deadline passes. */
  const dripping =
    (status: string, expire: () => void): Step =>
    ({ socket }) => {
      let drops = 0;
      socket.write(`HTTP/1.1 ${status}\r\nContent-Length: 100000\r\n\r\n{`);
      const drip = (): void => {
        if (socket.destroyed) return;
        if (++drops === 20) expire();
        socket.write(' ', () => setImmediate(drip));
      };
      drip();
    };

  test('ends a body that drips (H10)', async () => {
    const server = await scriptedServer([dripping('200 OK', () => clock.expire())]);
    const { fails, clock } = open(server.url, { retryTimeMs: 0 });
    expect((await fails()).message).toMatch(/no complete answer within 120 s \(\d+ bytes came\)/);
  });

  test.each([
    ['401 Unauthorized', RefusedError],
    ['400 Bad Request', RequestError],
  ])('leaves a %s what it is, whose body never ends', async (status, Refusal) => {
    const server = await scriptedServer([dripping(status, () => clock.expire())]);
    const { fails, clock } = open(server.url);
    expect(await fails()).toBeInstanceOf(Refusal);
    expect(server.heads).toHaveLength(1);
  });

  test('leaves no listener on a signal that lives longer', async () => {
    const server = await scriptedServer([emptyPage]);
    const { fetch } = open(server.url);
    const { signal } = new AbortController();
    let listeners = 0;
    const { addEventListener, removeEventListener } = signal;
    signal.addEventListener = function (...args: Parameters<typeof addEventListener>) {
      listeners++;
      addEventListener.apply(this, args);
    };
    signal.removeEventListener = function (...args: Parameters<typeof removeEventListener>) {
      listeners--;
      removeEventListener.apply(this, args);
    };
    for (let start = 0; start < 3; start++) await fetch({ start }, signal);
    expect(listeners).toBe(0);
  });
});

describe('stopping', () => {
  test.each(['before', 'while waiting for headers', 'in the body', 'between two attempts'])(
    '%s throws the reason of the signal',
    async (when) => {
      const steps: Record<string, Step> = {
        'in the body': raw('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{'),
        'between two attempts': answer('', { status: 503 }),
      };
      const server = await scriptedServer([steps[when] ?? (() => {})]);
      const { fails, clock } = open(server.url);
      const stop = new AbortController();
      const reason = new InterruptedError('SIGTERM');
      if (when === 'before') stop.abort(reason);
      clock.onSleep = () => stop.abort(reason);
      const failed = fails(stop.signal);
      if (when !== 'before' && when !== 'between two attempts') {
        await server.asked(1);
        stop.abort(reason);
      }
      expect(await failed).toBe(reason);
    },
  );
});

describe('not HTTP', () => {
  test('an SSH banner is tried again and quoted nowhere (H20)', async () => {
    const server = await scriptedServer([rawThenEnd(`SSH-2.0-OpenSSH ${CANARY}\r\n`)]);
    const error = await open(server.url).fails();
    expect(error).toBeInstanceOf(UnavailableError);
    expect(error.message).toContain('is not HTTP');
    expect(everythingOf(error)).not.toContain(CANARY);
    expect(server.heads.length).toBeGreaterThan(5);
  });

  test('a status below 100 is none', async () => {
    const server = await scriptedServer([
      rawThenEnd('HTTP/1.1 000 Zero\r\nContent-Length: 2\r\n\r\n{}'),
    ]);
    expect((await open(server.url).fails()).message).toContain('is not HTTP');
  });

  test('headers of 20 kB are refused at once (H19)', async () => {
    const server = await scriptedServer([
      rawThenEnd(`HTTP/1.1 200 OK\r\nX: ${'a'.repeat(20_000)}\r\nContent-Length: 2\r\n\r\n{}`),
    ]);
    expect(await open(server.url).fails()).toBeInstanceOf(EnvelopeError);
    expect(server.heads).toHaveLength(1);
  });
});

describe('other failures', () => {
  const place = {
    asked: 'x',
    host: 'soc.example',
    answering: false,
    secrets: [],
  };
  const coded = (code: string, more = {}): Error =>
    Object.assign(new Error(`oh, ${code}`), { code, ...more });
  test.each([
    'EAI_AGAIN',
    'ENOTFOUND',
    'EHOSTUNREACH',
    'ETIMEDOUT',
    'ECONNREFUSED',
    'ERR_SSL_BAD_RECORD_TYPE',
    // As Node.js 24 names it.
    'ERR_SSL_SSL/TLS_ALERT_BAD_RECORD_MAC',
  ])('%s may pass', (code) => {
    expect(namedFailure(coded(code), place)).toMatchObject({
      name: 'TransientError',
      message: `connection to soc.example failed: oh, ${code}`,
    });
  });

  test('several addresses refused: the first is named', () => {
    const tried = [new Error('connect ECONNREFUSED ::1:9'), coded('ECONNREFUSED')];
    const error = Object.assign(new AggregateError(tried), { code: 'ECONNREFUSED' });
    expect(namedFailure(error, place)).toMatchObject({
      message: 'connection to soc.example failed: connect ECONNREFUSED ::1:9',
    });
  });

  test.each([
    ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'api.client_cert_file'],
    ['ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE', 'api.client_cert_file'],
    ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'api.ca_file'],
    ['CA_MD_TOO_WEAK', 'api.ca_file'],
    ['EE_KEY_TOO_SMALL', 'api.ca_file'],
    ['PATH_LENGTH_EXCEEDED', 'api.ca_file'],
    ['UND_ERR_PRX_TLS', 'api.ca_file'],
  ])('%s is a matter of settings', (code, setting) => {
    expect(namedFailure(coded(code), place)).toMatchObject({
      name: 'SettingsError',
      hint: expect.stringContaining(setting),
    });
  });

  test.each([new TypeError('a bug'), coded('ERR_INVALID_ARG_TYPE'), 'text'])(
    'a mistake of ours stays what it is',
    (mistake) => expect(namedFailure(mistake, place)).toBe(mistake),
  );
});
