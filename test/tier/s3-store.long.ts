/** What `s3-store` has no time for: many random histories, and a large file that is sent in pieces. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline, Readable } from 'node:stream';
import { describe, expect, onTestFinished, test } from 'vitest';
import { going, randomHistories } from './object-store-contract.ts';
import { inHost, inPath, newServer, storeAt } from './s3-store-scene.ts';

describe.each([
  ['the path', inPath],
  ['the host', inHost],
])('with the bucket in %s', (_, open) => {
  randomHistories(open, 100);
});

test('a large file is sent in pieces', async () => {
  const MB = 1_000_000;
  let [bytes, most] = [0, 0];
  const hash = createHash('sha256');
  // As a store would: it takes the bytes and keeps none.
  const sink = createServer(async (request, response) => {
    for await (const part of request) {
      bytes += part.length;
      hash.update(part);
      most = Math.max(most, process.memoryUsage().arrayBuffers);
    }
    response.writeHead(200, { etag: '"x"' }).end();
  }).listen(0, '127.0.0.1');
  await once(sink, 'listening');
  onTestFinished(() => void sink.close());
  const zeros = createHash('sha256');
  for (let at = 0; at < 400; at++) zeros.update(Buffer.alloc(MB));
  const sha256 = zeros.digest('hex');
  const { store } = storeAt(await newServer(), {
    endpoint: `http://127.0.0.1:${(sink.address() as AddressInfo).port}`,
  });
  const before = process.memoryUsage().arrayBuffers;
  const read = async (start: number, end: number) => Buffer.alloc(end - start);
  expect(await store.create('large', { bytes: 400 * MB, sha256, read }, going)).toBe('created');
  expect([bytes, hash.digest('hex')]).toEqual([400 * MB, sha256]);
  expect(most - before).toBeLessThan(200 * MB);
});

test('an answer without its length and without an end is not taken into memory whole', async () => {
  const chunk = Buffer.alloc(16_000_000);
  let sent = 0;
  // Twice what an object may have; who does not look would take it.
  const chunks = function* () {
    for (; sent < 2 ** 31; sent += chunk.length) yield chunk;
  };
  const endless = createServer((_, response) => {
    response.writeHead(200, { etag: '"x"' });
    pipeline(Readable.from(chunks()), response, () => {});
  }).listen(0, '127.0.0.1');
  await once(endless, 'listening');
  onTestFinished(() => void endless.close());
  const { store } = storeAt(await newServer(), {
    endpoint: `http://127.0.0.1:${(endless.address() as AddressInfo).port}`,
  });
  await expect(store.read('endless', going)).rejects.toThrow(/an object of more than \d+ bytes/);
  expect(sent).toBeLessThan(1.5 * 2 ** 30);
});
