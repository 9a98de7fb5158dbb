/** A bucket behind a proxy that breaks it, and what may happen to any request on that way. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { S3StoreOptions } from '../../src/tier/s3/s3-store.ts';
import {
  answers,
  answersCode,
  chunkedAnswer,
  cutAnswer,
  cutRequest,
  type Fault,
  lostAnswer,
  pass,
  startFaultyStoreProxy,
  twice,
} from './faulty-store-proxy.ts';
import { going } from './object-store-contract.ts';
import { keysIn, newServer, storeAt } from './s3-store-scene.ts';

const PAGE = '<html><body>Please log in.</body></html>';
export const slowDown = answersCode(503, 'SlowDown');
export const exists = answersCode(412, 'PreconditionFailed');

export async function broken(options: Partial<S3StoreOptions> = {}) {
  const server = await newServer();
  const proxy = await startFaultyStoreProxy(server.url);
  return { server, proxy, ...storeAt(server, { endpoint: proxy.url, ...options }) };
}

/** What may happen to any request. */
export const PASSING: readonly (readonly [string, Fault])[] = [
  ['503 SlowDown', slowDown],
  ['429', answers(429)],
  ['500 InternalError', answersCode(500, 'InternalError')],
  ['502 of a proxy', answers(502, PAGE)],
  ['504 without a body', answers(504)],
  ['400 RequestTimeout', answersCode(400, 'RequestTimeout')],
  ['404 of a proxy whose backend is away', answers(404, PAGE)],
  ['a page that asks for a login', answers(200, PAGE)],
  ['a cut answer', cutAnswer],
  ['a lost answer', lostAnswer],
  ['an answer without its length', chunkedAnswer],
  ['what is not HTTP', async ({ response }) => void response.socket?.end('SSH-2.0-x\r\n')],
];

/** Random histories on a bad way are as those of a map, so many of them. */
export function randomHistoriesOnABadWay(runs: number): void {
  test('random histories on a bad way are as those of a map', async () => {
    // A DELETE that is answered with a page counts as done.
    const unlike = new Set(['a page that asks for a login', '400 RequestTimeout']);
    const usual = PASSING.filter(([name]) => !unlike.has(name)).map(([, fault]) => fault);
    const fault = fc.constantFrom(...usual, pass, pass, cutRequest, twice, exists);
    const does = fc.constantFrom('create', 'create', 'replace', 'remove', 'look');
    const key = fc.constantFrom('a', 'b/c', 'b-c');
    const body = fc.uint8Array({ maxLength: 30 }).map((bytes) => Buffer.from(bytes));
    const step = fc.record({ does, key, body, faults: fc.array(fault, { maxLength: 3 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 10 }), async (steps) => {
        const { server, proxy, store } = await broken();
        const model = new Map<string, Buffer>();
        for (const { does, key, body, faults } of steps) {
          const there = model.get(key);
          proxy.next(...faults);
          if (does === 'create') {
            expect(await store.create(key, body, going)).toBe(there ? 'exists' : 'created');
            model.set(key, there ?? body);
          } else if (does === 'replace') {
            await store.replace(key, body, going);
            model.set(key, body);
          } else if (does === 'remove') {
            await store.remove(key, going);
            model.delete(key);
          } else {
            expect(await store.read(key, going)).toEqual(there ?? null);
            expect(await store.size(key, going)).toBe(there?.length ?? null);
            expect(keysIn(server)).toEqual([...model.keys()].sort());
          }
        }
      }),
      { numRuns: runs },
    );
  });
}
