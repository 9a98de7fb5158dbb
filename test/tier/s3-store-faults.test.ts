/** A bucket behind a proxy that breaks it: whatever happens on the way, the outcome is the right one, and is told. */
import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { type Clock, systemClock } from '../../src/clock.ts';
import { exitCodeOf, type ObjectStoreError } from '../../src/errors.ts';
import { broken, exists, PASSING, randomHistoriesOnABadWay, slowDown } from './bad-way.ts';
import {
  answers,
  answersCode,
  cutAnswer,
  cutRequest,
  type Fault,
  flippedAnswer,
  flippedRequest,
  lostAnswer,
  pass,
  shortAnswer,
  shortRequest,
  silent,
  twice,
  wholeAnswer,
} from './faulty-store-proxy.ts';
import { fileOf, going } from './object-store-contract.ts';
import { KEYS, newServer, storeAt } from './s3-store-scene.ts';

const BYTES = randomBytes(300_000);
const noSuchKey = answersCode(404, 'NoSuchKey');

const failure = (work: Promise<unknown>): Promise<ObjectStoreError> =>
  work.then(
    () => expect.unreachable('no failure'),
    (error) => error,
  );

describe('an object is created once, whole, after', () => {
  test.each<[string, readonly Fault[]]>([
    ...PASSING.map(([name, fault]): [string, readonly Fault[]] => [name, [fault]]),
    ['a request cut in the middle', [cutRequest]],
    ['half a body', [shortRequest]],
    ['a flipped bit', [flippedRequest]],
    ['a refusal before the body is read', [answers(503, '', {}, { early: true })]],
    ['a doubled PUT', [twice]],
    ['a doubled PUT whose answer is lost', [lostAnswer, twice]],
    ['a 412 from nowhere', [exists]],
    ['a 409 as others write, too', [answersCode(409, 'ConditionalRequestConflict')]],
    ['a lost answer and a stale 404', [lostAnswer, pass, answers(404)]],
    ['a lost answer, and again', [lostAnswer, lostAnswer, lostAnswer, slowDown]],
    ['all of it', [slowDown, cutRequest, flippedRequest, exists, answers(404), lostAnswer]],
  ])('%s', async (_, faults) => {
    const { server, proxy, store } = await broken();
    for (const [key, body] of [
      ['bytes', BYTES],
      ['file', fileOf(BYTES)],
    ] as const) {
      proxy.next(...faults);
      expect(await store.create(key, body, going)).toBe('created');
      expect(server.objects.get(`pre/fix/${key}`)?.body.equals(BYTES)).toBe(true);
    }
    expect(server.objects.size).toBe(2);
  });

  test.each(PASSING)('replace: %s', async (_, fault) => {
    const { server, proxy, store } = await broken();
    for (const body of [BYTES, Buffer.from('second')]) {
      proxy.next(fault);
      await store.replace('x', body, going);
      expect(server.objects.get('pre/fix/x')?.body.equals(body)).toBe(true);
    }
  });
});

describe('an object of another is told as such after', () => {
  test.each<[string, readonly Fault[]]>([
    ['a lost answer', [lostAnswer]],
    ['a doubled PUT', [twice]],
    ['SlowDown', [slowDown]],
    ['a stale 404', [pass, answers(404)]],
  ])('%s', async (_, faults) => {
    const { server, proxy, store } = await broken();
    expect(await storeAt(server).store.create('x', BYTES, going)).toBe('created');
    proxy.next(...faults);
    expect(await store.create('x', BYTES, going)).toBe('exists');
    proxy.next(...faults);
    expect(await store.create('x', Buffer.from('other'), going)).toBe('exists');
    expect(server.objects.get('pre/fix/x')?.body.equals(BYTES)).toBe(true);
  });

  test('where several write at once on a bad way, one gets `created`', async () => {
    const { server, proxy } = await broken();
    const bodies = Array.from({ length: 6 }, () => randomBytes(1000));
    proxy.next(lostAnswer, twice, lostAnswer, slowDown, exists, cutRequest, lostAnswer, twice);
    const stores = bodies.map(() => storeAt(server, { endpoint: proxy.url }).store);
    const results = await Promise.all(
      bodies.map((body, at) => stores[at]?.create('x', body, going)),
    );
    expect(results.filter((result) => result === 'created')).toHaveLength(1);
    const winner = bodies[results.indexOf('created')];
    expect(server.objects.get('pre/fix/x')?.body).toEqual(winner);
  });
});

describe('an object is read as it is after', () => {
  test.each([
    ...PASSING,
    ['half an answer', shortAnswer],
    ['a flipped bit', flippedAnswer],
    ['a stale 404', noSuchKey],
  ] as const)('%s', async (_, fault) => {
    const { proxy, store } = await broken();
    await store.create('x', BYTES, going);
    proxy.next(fault);
    expect((await store.read('x', going))?.equals(BYTES)).toBe(true);
  });

  test.each([
    ...PASSING,
    ['half an answer', shortAnswer],
    ['the whole object in place of a range', wholeAnswer],
    ['another range', answers(206, 'abc', { etag: '"x"', 'content-range': 'bytes 0-2/9' })],
    ['a range that is not told', answers(206, 'abc', { etag: '"x"' })],
    ['a stale 404', noSuchKey],
  ] as const)('a range: %s', async (_, fault) => {
    const { proxy, store } = await broken();
    await store.create('x', BYTES, going);
    proxy.next(fault);
    const range = await store.read('x', going, { start: 1000, end: 90_000 });
    expect(range?.equals(BYTES.subarray(1000, 90_000))).toBe(true);
  });

  // The answer to a HEAD has no code, so a 400 may be anything.
  const ofHead = PASSING.filter(([name]) => name !== '400 RequestTimeout');
  test.each([...ofHead, ['a stale 404', noSuchKey] as const])('its size: %s', async (_, fault) => {
    const { proxy, store } = await broken();
    await store.create('x', BYTES, going);
    proxy.next(fault);
    expect(await store.size('x', going)).toBe(BYTES.length);
  });

  test('what is not there is null, also then', async () => {
    const { proxy, store } = await broken();
    proxy.next(slowDown, cutAnswer);
    expect(await store.read('x', going)).toBeNull();
    proxy.next(slowDown, slowDown);
    expect(await store.size('x', going)).toBeNull();
  });
});

describe('an object is removed after', () => {
  test.each(PASSING.filter(([name]) => !name.includes('login')))('%s', async (_, fault) => {
    const { server, proxy, store } = await broken();
    await store.create('x', BYTES, going);
    proxy.next(fault);
    await store.remove('x', going);
    expect(server.objects.size).toBe(0);
  });
});

randomHistoriesOnABadWay(15);

describe('what does not pass', () => {
  test('a store that is always busy is away: what it says, how often and how long', async () => {
    const { proxy, store, retries } = await broken({
      retry: { timeMs: 50, baseMs: 5, capMs: 5, retryAfterLimitMs: 1000 },
    });
    proxy.always(slowDown);
    const error = await failure(store.create('x', BYTES, going));
    expect(error.message).toMatch(
      /^s3:\/\/events-of-years\/pre\/fix: PUT x: (gave up after \d+ attempts in \d+ s; the last: )?answered 503 SlowDown It is SlowDown\.$/,
    );
    expect(exitCodeOf(error)).toBe(5);
    expect(retries.length).toBe(proxy.asked.length - 1);
  });

  test('bytes that never are what was written are told', async () => {
    const { proxy, store } = await broken({
      retry: { timeMs: 50, baseMs: 5, capMs: 5, retryAfterLimitMs: 0 },
    });
    await store.create('x', BYTES, going);
    proxy.always(flippedAnswer);
    const error = await failure(store.read('x', going));
    expect(error.message).toContain('not those that were written');
    expect(error.hint).toContain('damaged');
    expect(exitCodeOf(error)).toBe(5);
  });

  test.each([301, 302, 307, 308])('a redirect (%i) is followed nowhere', async (status) => {
    const { proxy, store } = await broken();
    const region = { 'x-amz-bucket-region': 'eu-north-1' };
    proxy.always(answers(status, '', { location: `${proxy.url}/elsewhere`, ...region }));
    for (const work of [
      () => store.create('x', BYTES, going),
      () => store.read('x', going),
      () => store.size('x', going),
    ]) {
      const error = await failure(work());
      expect(error.message).toContain(`answered ${status}`);
      expect(error.hint).toContain('the bucket is in eu-north-1');
      expect(exitCodeOf(error)).toBe(2);
    }
    expect(proxy.asked).toHaveLength(3);
  });

  test('no rights: asked once', async () => {
    const { proxy, store } = await broken();
    proxy.always(answersCode(403, 'AccessDenied'));
    expect(exitCodeOf(await failure(store.create('x', BYTES, going)))).toBe(2);
    expect(proxy.asked).toHaveLength(1);
  });

  test('keys that expire between two tries are read again', async () => {
    const fresh = { accessKeyId: 'NEW', secretAccessKey: 'new', sessionToken: 'new' };
    let keys = KEYS;
    const { server, proxy, store } = await broken({ keys: async () => keys });
    proxy.next(slowDown, async (passing) => {
      server.allow(fresh, KEYS);
      keys = fresh;
      await cutRequest(passing);
    });
    expect(await store.create('x', fileOf(BYTES), going)).toBe('created');
    expect(proxy.asked).toHaveLength(4);
  });
});

describe('time', () => {
  /** A clock that does not wait, and keeps what it was to wait. */
  function hasty(): { clock: Clock; waits: number[] } {
    const waits: number[] = [];
    const sleep = async (ms: number) => void waits.push(ms);
    return { clock: { ...systemClock, sleep, random: () => 0.999 }, waits };
  }

  test('a pause that the store names is made', async () => {
    const { clock, waits } = hasty();
    const { proxy, store } = await broken({ clock });
    proxy.next(answersCode(503, 'SlowDown', { 'retry-after': '7' }), answers(429));
    await store.create('x', BYTES, going);
    expect(waits).toHaveLength(2);
    expect(waits[0]).toBeGreaterThanOrEqual(7000);
    expect(waits[1]).toBeLessThan(1000);
  });

  test('waits grow up to a bound', async () => {
    const { clock, waits } = hasty();
    const { proxy, store } = await broken({
      clock,
      retry: { timeMs: 60_000, baseMs: 100, capMs: 1000, retryAfterLimitMs: 0 },
    });
    proxy.next(...Array.from({ length: 6 }, () => slowDown));
    await store.create('x', BYTES, going);
    expect(waits).toEqual([99, 199, 399, 799, 999, 999]);
  });

  test('a store that does not answer is asked again when the time of the request is over', async () => {
    const deadlines: AbortController[] = [];
    const clock: Clock = {
      ...systemClock,
      timeout: () => {
        const deadline = new AbortController();
        deadlines.push(deadline);
        return deadline.signal;
      },
    };
    const { proxy, store, retries } = await broken({ clock, requestTimeoutMs: 60_000 });
    proxy.next(silent(() => deadlines.at(-1)?.abort()));
    expect(await store.create('x', BYTES, going)).toBe('created');
    expect(retries).toEqual(['no answer within 63 s']);
    const stalls: Fault = async ({ response }) => {
      response.writeHead(200, { etag: '"x"', 'content-length': '1000' });
      response.write('x', () => deadlines.at(-1)?.abort());
    };
    proxy.next(stalls);
    expect((await store.read('x', going))?.equals(BYTES)).toBe(true);
    expect(retries[1]).toMatch(/^no (complete )?answer within/);
  });

  test('whoever is told to stop stops: while it waits for an answer, and between tries', async () => {
    const { proxy, store } = await broken();
    const stop = new AbortController();
    proxy.next(silent(() => stop.abort(new Error('stop'))));
    await expect(store.create('x', fileOf(BYTES), stop.signal)).rejects.toThrow('stop');
    const second = new AbortController();
    const waiting = storeAt(await newServer(), {
      endpoint: proxy.url,
      retry: { timeMs: 60_000, baseMs: 60_000, capMs: 60_000, retryAfterLimitMs: 0 },
      onRetry: () => second.abort(new Error('stop, too')),
    });
    proxy.next(slowDown);
    await expect(waiting.store.read('x', second.signal)).rejects.toThrow('stop, too');
  });
});
