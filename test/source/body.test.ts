/** A body is taken whole or not at all: strict gzip, one coding, limits before and after decompression. */
import { createHash } from 'node:crypto';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { EnvelopeError, TooLargeError, UnavailableError } from '../../src/errors.ts';
import { open } from './open.ts';
import {
  answer,
  emptyPage,
  raw,
  rawThenEnd,
  type Step,
  scriptedServer,
} from './scripted-server.ts';

const PAGE = `{"data":[${Array.from({ length: 50 }, (_, i) => `{"id":${i},"n":9007199254740993}`).join(',')}]}`;
const ZIPPED = gzipSync(PAGE);
const zipped = (body: Buffer, coding = 'gzip'): Step =>
  answer(body, { headers: { 'Content-Encoding': coding } });

async function fetchFrom(...steps: Step[]) {
  const server = await scriptedServer([...steps, emptyPage]);
  const opened = open(server.url);
  return { server, ...opened, page: await opened.fetch() };
}

describe('a page', () => {
  test('is the bytes that came, and their hash', async () => {
    const { page } = await fetchFrom(answer(PAGE));
    expect(page.body.toString()).toBe(PAGE);
    expect(page.sha256).toEqual(createHash('sha256').update(PAGE).digest());
    expect(page).toMatchObject({ start: 0, length: 50, requests: 1 });
  });

  test.each([
    ['gzip', ZIPPED],
    ['x-gzip', ZIPPED],
    ['GZIP, identity', ZIPPED],
    ['identity', Buffer.from(PAGE)],
    ['', Buffer.from(PAGE)],
    ['gzip', Buffer.concat([gzipSync(PAGE.slice(0, 99)), gzipSync(PAGE.slice(99))])],
  ])('may come with coding "%s"', async (coding, body) => {
    const { page } = await fetchFrom(zipped(body, coding));
    expect(page.body.toString()).toBe(PAGE);
  });

  test('may come in chunks, one byte each', async () => {
    const chunks = Array.from(PAGE, (character) => `1\r\n${character}\r\n`).join('');
    const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
    const { page } = await fetchFrom(raw(head, chunks, '0\r\n\r\n'));
    expect(page.body.toString()).toBe(PAGE);
  });

  test.each([
    ['text/html;charset=ISO-8859-1', Buffer.from('{"data":[{"user":"Müller"}]}', 'latin1')],
    [
      'application/json; charset="windows-1252"',
      Buffer.from('{"data":[{"user":"Müller"}]}', 'latin1'),
    ],
    ['text/html;charset=ISO-8859-1', Buffer.from('{"data":[{"user":"Müller"}]}')],
    ['application/json', Buffer.from('{"data":[{"user":"Müller"}]}')],
  ])('may come in an encoding that its type names, or does not: %s', async (type, body) => {
    const { page } = await fetchFrom(answer(body, { headers: { 'Content-Type': type } }));
    expect(page.body.toString()).toBe('{"data":[{"user":"Müller"}]}');
  });

  test.each(['application/json', 'application/json; charset=nonsense', 'text/html; charset=utf-8'])(
    'in an encoding that its type does not name comes as it is: %s',
    async (type) => {
      const body = Buffer.from('{"data":[{"user":"Müller"}]}', 'latin1');
      const { page } = await fetchFrom(answer(body, { headers: { 'Content-Type': type } }));
      expect(page.body).toEqual(body);
    },
  );

  test('may come after fifty early hints (H30)', async () => {
    const { page } = await fetchFrom(({ head, socket }) => {
      socket.write('HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n'.repeat(50));
      answer(PAGE)({ head, socket });
    });
    expect(page).toMatchObject({ requests: 1 });
  });
});

describe('fetched again', () => {
  const broken = Buffer.from(ZIPPED);
  broken[broken.length - 8] = (broken[broken.length - 8] ?? 0) ^ 1;
  test.each([
    [
      'Content-Length is larger than the body (H11)',
      rawThenEnd(`HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n${PAGE.slice(0, 50)}`),
    ],
    [
      'the last chunk is missing (H12)',
      rawThenEnd('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n'),
    ],
    ['gzip is cut (H14)', zipped(ZIPPED.subarray(0, -20))],
    ['gzip has no trailer (H15)', zipped(ZIPPED.subarray(0, -8))],
    ['the checksum is wrong (H15)', zipped(broken)],
    ['gzip is followed by zeros', zipped(Buffer.concat([ZIPPED, Buffer.alloc(4)]))],
    ['gzip is followed by text', zipped(Buffer.concat([ZIPPED, Buffer.from('x')]))],
    ['it says gzip and is plain (H18)', zipped(Buffer.from(PAGE))],
    ['it says gzip and is empty', zipped(Buffer.alloc(0))],
    [
      'a chunk size is no number (H20)',
      rawThenEnd('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n'),
    ],
    [
      'there are two Content-Lengths (H21)',
      rawThenEnd('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{} '),
    ],
    [
      'there is a Content-Length with chunks (H21)',
      rawThenEnd(
        'HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      ),
    ],
  ])('when %s', async (_, step) => {
    const { page, retries } = await fetchFrom(step);
    expect(page).toMatchObject({ requests: 2 });
    expect(page.body.toString()).toBe('{"data":[],"total":0}');
    expect(retries).toHaveLength(1);
  });

  test('whole and never with Range (H31)', async () => {
    const { server } = await fetchFrom(
      rawThenEnd(
        'HTTP/1.1 200 OK\r\nAccept-Ranges: bytes\r\nETag: "a"\r\nContent-Length: 20\r\n\r\n0123456789',
      ),
    );
    expect(server.heads[1]).toBe(server.heads[0]);
    expect(server.heads.join()).not.toMatch(/range/i);
  });

  test('until the attempts are used up', async () => {
    const server = await scriptedServer([zipped(ZIPPED.subarray(0, -8))]);
    const error = await open(server.url).fails();
    expect(error).toBeInstanceOf(UnavailableError);
    expect(error.message).toContain('the last: the gzip body is broken (unexpected end of file)');
  });
});

describe('refused', () => {
  const limited = async (step: Step) => {
    const server = await scriptedServer([step]);
    const error = await open(server.url, { bodyLimitBytes: 1000 }).fails();
    expect(server.heads).toHaveLength(1);
    return error;
  };

  test.each([
    ['that says so', answer(`[${' '.repeat(1000)}]`)],
    ['without saying so', rawThenEnd(`HTTP/1.1 200 OK\r\n\r\n[${' '.repeat(100_000)}]`)],
    ['by one byte', rawThenEnd(`HTTP/1.1 200 OK\r\n\r\n[${' '.repeat(999)}]`)],
    ['by one byte after decompression', zipped(gzipSync(`[${' '.repeat(999)}]`))],
    ['after decompression (H16)', zipped(gzipSync(`[${' '.repeat(100_000)}]`))],
  ])('when it is too large %s', async (_, step) => {
    const error = await limited(step);
    expect(error).toBeInstanceOf(TooLargeError);
    expect(error.message).toContain('answered with more than 1000 bytes');
  });

  test('but not at the limit itself', async () => {
    const server = await scriptedServer([answer(`[${' '.repeat(998)}]`)]);
    const { fetch } = open(server.url, { bodyLimitBytes: 1000 });
    expect((await fetch()).body).toHaveLength(1000);
  });

  test.each([
    ['br', brotliCompressSync(PAGE)],
    ['deflate', Buffer.from('[]')],
    ['gzip, gzip', gzipSync(ZIPPED)],
    ['gzip\r\nContent-Encoding: br', ZIPPED],
    [Array(8).fill('gzip').join(','), ZIPPED],
  ])('when the coding is "%s" (H17, H18)', async (coding, body) => {
    const error = await limited(zipped(body, coding));
    expect(error).toBeInstanceOf(EnvelopeError);
    expect(error).toMatchObject({ hint: expect.stringContaining('api.gzip') });
  });
});
