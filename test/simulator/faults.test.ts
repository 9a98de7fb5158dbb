/** Each fault, as a client sees it on the wire. */
import { gunzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import {
  type Fault,
  type Simulator,
  type SimulatorOptions,
  startSimulator,
} from '../../simulator/simulator.ts';
import { ask, askRaw, DAY, numbered, target } from './asking.ts';

const RECORDS = numbered(20);
let simulator: Simulator;
afterEach(() => simulator.close());
const start = async (options: SimulatorOptions) => {
  simulator = await startSimulator({ records: RECORDS, ...options });
};
const withFault = (fault: Fault) => start({ faults: [fault] });
const whole = () => `[${[...RECORDS].reverse().join(',')}]`;

describe('answers in place of the page', () => {
  test.each([401, 403, 404, 413, 429, 500, 502, 503, 504])('status %i', async (status) => {
    await withFault({ kind: 'status', status });
    const reply = await ask(simulator);
    expect(reply.status).toBe(status);
    expect(JSON.parse(reply.text).error).toBeTypeOf('string');
    expect(reply.headers['retry-after']).toBeUndefined();
  });

  test.each([
    [7, /^7$/],
    ['date+60', /GMT$/],
    ['soon', /^soon$/],
  ])('Retry-After from %j', async (retryAfter, expected) => {
    await withFault({ kind: 'status', status: 429, retryAfter });
    expect((await ask(simulator)).headers['retry-after']).toMatch(expected);
  });

  test('redirect, login page, error object, empty body, any body', async () => {
    await start({});
    const reply = (fault: Fault) => {
      simulator.set({ faults: [fault] });
      return ask(simulator);
    };
    const redirect = await reply({ kind: 'redirect', location: 'http://127.0.0.1:1/login' });
    expect([redirect.status, redirect.headers.location]).toEqual([302, 'http://127.0.0.1:1/login']);
    const html = await reply({ kind: 'html' });
    expect([html.status, html.text.slice(0, 9)]).toEqual([200, '<!DOCTYPE']);
    expect(JSON.parse((await reply({ kind: 'error-object' })).text)).toHaveProperty('error');
    expect(await reply({ kind: 'empty-body' })).toMatchObject({ status: 200, text: '' });
    expect(await reply({ kind: 'body', body: '[1,' })).toMatchObject({ status: 200, text: '[1,' });
  });

  test('null for the list, and broken JSON', async () => {
    await withFault({ kind: 'null-list' });
    const body = JSON.parse((await ask(simulator)).text);
    expect([body.recordsTotal, body.data]).toEqual([20, null]);
    simulator.set({ faults: [{ kind: 'wrong-json' }] });
    const { text } = await ask(simulator);
    expect(text).toContain(RECORDS[0]);
    expect(() => JSON.parse(text)).toThrow();
  });
});

describe('spoiled transport', () => {
  test.each(['reset', 'hang-up', 'reset-body', 'cut-chunked'] as const)('%s', async (kind) => {
    await withFault({ kind });
    await expect(ask(simulator)).rejects.toThrow(/ECONNRESET|socket hang up|aborted/);
  });

  test.each(['stall', 'stall-body'] as const)('%s waits until the client goes', async (kind) => {
    await withFault({ kind });
    const leave = new AbortController();
    const reply = askRaw(simulator, target(), {}, 'GET', leave.signal);
    await simulator.received(1);
    leave.abort();
    await expect(reply).rejects.toThrow();
  });

  test('close ends stalled answers', async () => {
    await withFault({ kind: 'stall' });
    const reply = ask(simulator);
    const ended = expect(reply).rejects.toThrow();
    await simulator.received(1);
    await simulator.close();
    await ended;
    await simulator.close();
  });

  test('truncated with framing that fits, or ended by the connection', async () => {
    await withFault({ kind: 'truncate' });
    const full = `{"draw":0,"recordsTotal":20,"recordsFiltered":20,"data":${whole()}}`;
    const half = await ask(simulator);
    expect(full.startsWith(half.text) && half.text.length === full.length >> 1).toBe(true);
    simulator.set({ faults: [{ kind: 'cut-close' }] });
    const cut = await ask(simulator);
    expect(cut.text).toBe(half.text);
    expect(cut.headers['content-length']).toBeUndefined();
    expect(cut.headers['transfer-encoding']).toBeUndefined();
  });

  test('a Content-Length that is too large or too small', async () => {
    await withFault({ kind: 'wrong-length', by: 5 });
    await expect(ask(simulator)).rejects.toThrow();
    simulator.set({ faults: [{ kind: 'wrong-length', by: -5 }] });
    await expect(ask(simulator).then(({ text }) => JSON.parse(text))).rejects.toThrow();
  });

  test('a gzip body cut short, and one that is none', async () => {
    await withFault({ kind: 'truncate-gzip' });
    const cut = await ask(simulator);
    expect(cut.headers['content-encoding']).toBe('gzip');
    expect(() => gunzipSync(cut.body)).toThrow('unexpected end of file');
    simulator.set({ faults: [{ kind: 'false-gzip' }] });
    const plain = await ask(simulator);
    expect([plain.headers['content-encoding'], plain.text[0]]).toEqual(['gzip', '{']);
  });

  test('a drip brings the whole body in the end, a delay too', async () => {
    await start({
      envelope: 'array',
      faults: [
        { kind: 'delay', ms: 1 },
        { kind: 'drip', bytes: 100, ms: 1 },
      ],
    });
    expect((await ask(simulator)).text).toBe(whole());
    expect(simulator.requests[0]?.faults).toEqual(['delay', 'drip']);
    simulator.set({ faults: [], latency: [1, 2] });
    expect((await ask(simulator)).text).toBe(whole());
  });
});

describe('when a fault happens', () => {
  const statuses = async (count: number) => {
    for (let asked = 0; asked < count; asked++) await ask(simulator);
    return simulator.requests.map((request) => request.status);
  };

  test('at given requests, on a condition, a number of times', async () => {
    await start({
      faults: [
        { kind: 'status', status: 503, at: [2, 4] },
        { kind: 'status', status: 500, when: ({ number }) => number > 2, times: 1 },
      ],
    });
    expect(await statuses(5)).toEqual([200, 503, 500, 503, 200]);
    expect(simulator.counts.byFault).toEqual({ status: 3 });
  });

  test('at a rate, in the same places for the same seed', async () => {
    const faults: Fault[] = [{ kind: 'status', status: 500, rate: 0.3 }];
    await start({ faults });
    const first = await statuses(40);
    const failed = first.filter((status) => status === 500).length;
    expect(failed > 3 && failed < 25).toBe(true);
    await simulator.close();
    await start({ faults });
    expect(await statuses(40)).toEqual(first);
  });

  test.each([
    ['seconds', /^\d+$/],
    ['date', /GMT$/],
    ['garbage', /^soon$/],
    ['none', undefined],
  ] as const)('above the rate limit, with Retry-After: %s', async (retryAfter, expected) => {
    await start({ rateLimit: { perSecond: 0.001, burst: 2, retryAfter } });
    expect(await statuses(3)).toEqual([200, 200, 429]);
    const refused = await ask(simulator);
    if (expected === undefined) expect(refused.headers['retry-after']).toBeUndefined();
    else expect(refused.headers['retry-after']).toMatch(expected);
    simulator.set({ rateLimit: null });
    expect((await ask(simulator)).status).toBe(200);
  });

  test('a hook answers, commits a fault, or leaves the request alone', async () => {
    await start({
      respond: ({ number, query }) => {
        if (number === 1)
          return { status: 418, body: query.fromDate ?? '', headers: { 'X-Own': '1' } };
        return number === 2 ? { kind: 'reset' } : undefined;
      },
    });
    const own = await ask(simulator);
    expect([own.status, own.text, own.headers['x-own']]).toEqual([418, DAY.from, '1']);
    await expect(ask(simulator)).rejects.toThrow();
    expect((await ask(simulator)).status).toBe(200);
  });
});

describe('gzip', () => {
  test.each([
    ['asked', 'gzip, br', true],
    ['asked', 'br;q=1, GZIP;q=0.5', true],
    ['asked', 'gzip;q=0', false],
    ['asked', 'identity', false],
    ['always', 'identity', true],
    ['never', 'gzip', false],
  ] as const)('%s, and the client accepts %s', async (gzip, accepted, packed) => {
    await start({ gzip, envelope: 'array' });
    const reply = await ask(simulator, {}, { 'Accept-Encoding': accepted });
    expect(reply.headers['content-encoding']).toBe(packed ? 'gzip' : undefined);
    expect((packed ? gunzipSync(reply.body) : reply.body).toString()).toBe(whole());
  });
});

test('the log keeps the newest requests and counts all', async () => {
  await start({ logLimit: 4 });
  for (let asked = 0; asked < 10; asked++) await ask(simulator, { length: 2 });
  await askRaw(simulator, '/nowhere');
  expect(simulator.requests.length).toBeLessThanOrEqual(4);
  expect(simulator.counts).toMatchObject({
    requests: 11,
    pages: 10,
    records: 20,
    byStatus: { 200: 10, 404: 1 },
  });
  expect(simulator.requests.at(-2)).toMatchObject({
    number: 10,
    method: 'GET',
    resource: 'events',
    path: target({ length: 2 }),
    query: { fromDate: DAY.from, search: '' },
    status: 200,
    records: 2,
  });
  await expect(Promise.all([simulator.received(99), simulator.close()])).rejects.toThrow('stopped');
});
