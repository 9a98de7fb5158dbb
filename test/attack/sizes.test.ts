/** A source that answers with more than anybody wants: compressed, deep, wide, endless; refused in words, in bounded memory and time. */
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import { expect } from 'vitest';
import { DaywalkError } from '../../src/errors.ts';
import { open } from '../source/open.ts';
import { answer, type Step, scriptedServer } from '../source/scripted-server.ts';
import { attack } from './attacking.ts';

const MIB = 1024 * 1024;
/** Of the processor, for each try; the largest are bodies of 64 MiB. */
const LONGEST_MS = 10_000;
/** By how much one may raise the most memory that this process ever had: three times 64 MiB, but never parsed. */
const MOST_MEMORY = 256 * MIB;

/** Bodies of about so many bytes, of which none can be stored. */
const SHAPES: Readonly<Record<string, (bytes: number) => string>> = {
  'objects in objects': (bytes) => `${'{"a":'.repeat(bytes / 6)}1${'}'.repeat(bytes / 6)}`,
  'lists in lists': (bytes) => `${'['.repeat(bytes / 2)}${']'.repeat(bytes / 2)}`,
  'lists that are never closed': (bytes) => '['.repeat(bytes),
  'records that are empty objects': (bytes) => `{"data":[${'{},'.repeat(bytes / 3)}{}]}`,
  'an error of empty objects': (bytes) => `{"error":[${'{},'.repeat(bytes / 3)}{}]}`,
  numbers: (bytes) => `{"data":[{"a":[${'1,'.repeat(bytes / 2)}1]}]}`,
  names: (bytes) =>
    `{"data":[{${Array.from({ length: bytes / 12 }, (_, i) => `"${i.toString(36).padStart(6, '0')}":1`).join()}}]}`,
  'names around the list': (bytes) =>
    `{${Array.from({ length: bytes / 12 }, (_, i) => `"${i.toString(36).padStart(6, '0')}":1`).join()},"data":[]}`,
  'a text that does not end': (bytes) => `{"data":[{"log":"${'x'.repeat(bytes)}`,
  backslashes: (bytes) => `{"data":[{"log":"${'\\'.repeat(bytes)}`,
  spaces: (bytes) => ' '.repeat(bytes),
  NULs: (bytes) => '\0'.repeat(bytes),
};
const CODINGS: Readonly<Record<string, (body: Buffer) => [Buffer, string?]>> = {
  'as it is': (body) => [body],
  'with gzip': (body) => [gzipSync(body, { level: 1 }), 'gzip'],
  'with deflate': (body) => [deflateSync(body, { level: 1 }), 'deflate'],
  'with br': (body) => [
    brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
    'br',
  ],
  'with gzip twice': (body) => [gzipSync(gzipSync(body, { level: 1 }), { level: 1 }), 'gzip, gzip'],
  'with half of gzip': (body) => [gzipSync(body, { level: 1 }).subarray(0, -20), 'gzip'],
};

/** The page is refused, soon, by an error that is ours. */
async function expectRefused(step: Step, bodyLimitBytes: number): Promise<void> {
  const { url } = await scriptedServer([step]);
  const { fails, source, clock } = open(url, { bodyLimitBytes, retryTimeMs: 0 });
  deadlinePasses = clock.expire;
  const [before, began] = [process.resourceUsage().maxRSS, process.cpuUsage()];
  const error = await fails();
  const { user, system } = process.cpuUsage(began);
  const grown = (process.resourceUsage().maxRSS - before) * 1024;
  await source.close();
  expect(error).toBeInstanceOf(DaywalkError);
  expect(error.message.length).toBeLessThan(1_000);
  expect((user + system) / 1000).toBeLessThan(LONGEST_MS);
  expect(grown).toBeLessThan(MOST_MEMORY);
}

const coded = (shape: string, coding: string, bytes: number): Step => {
  const [wire, name] = CODINGS[coding]?.(Buffer.from(SHAPES[shape]?.(bytes) ?? '')) ?? [
    Buffer.alloc(0),
  ];
  return answer(wire, { headers: name === undefined ? {} : { 'Content-Encoding': name } });
};

attack('bodies at and beyond the limit of bytes, deep, wide and compressed', () =>
  Object.keys(SHAPES).flatMap((shape) =>
    Object.keys(CODINGS).flatMap((coding) =>
      [MIB - 1024, 4 * MIB].map((bytes) => ({
        name: `${shape} ${coding}, ${bytes} bytes`,
        run: () => expectRefused(coded(shape, coding, bytes), MIB),
      })),
    ),
  ),
);

attack(
  'such bodies of 64 MiB, compressed, with the limits as they are by default',
  () =>
    Object.keys(SHAPES).map((shape) => ({
      name: shape,
      run: () => expectRefused(coded(shape, 'with gzip', 64 * MIB - 4096), 64 * MIB),
    })),
  1,
);

/** What is no body has no limit but the deadline of its page, which passes when so much has been written. */
const MUCH = 16 * MIB;
let deadlinePasses = () => {};

/** Writes this for as long as somebody reads. */
const endless =
  (head: string, again: string): Step =>
  ({ socket }) => {
    socket.write(head);
    const chunk = Buffer.from(again.repeat(Math.ceil(65_536 / again.length)));
    const more = () => {
      while (!socket.destroyed && socket.write(chunk));
      if (socket.bytesWritten > MUCH) deadlinePasses();
    };
    socket.on('drain', more);
    more();
  };

attack('answers that never end', () => {
  const ok = 'HTTP/1.1 200 OK\r\n';
  const steps: Readonly<Record<string, Step>> = {
    'a body without a length': endless(`${ok}\r\n{"data":[`, '{"a":1},'),
    'a body of any length': endless(`${ok}Content-Length: 9007199254740991\r\n\r\n`, ' '),
    chunks: endless(`${ok}Transfer-Encoding: chunked\r\n\r\n`, '8\r\n{"a":1},\r\n'),
    'the size of a chunk': endless(`${ok}Transfer-Encoding: chunked\r\n\r\n`, '0'),
    'the trailers': endless(`${ok}Transfer-Encoding: chunked\r\n\r\n0\r\n`, 'A: b\r\n'),
    headers: endless(ok, 'X-More: and more\r\n'),
    'one header': endless(`${ok}X-More: `, 'x'),
    'the status line': endless('HTTP/1.1 200 ', 'x'),
    'answers before the answer': endless('', 'HTTP/1.1 100 Continue\r\n\r\n'),
    'an error': endless('HTTP/1.1 500 No\r\n\r\n', 'x'),
    'a redirect': endless('HTTP/1.1 302 Found\r\nLocation: ', 'x'),
    'something else': endless('', 'x'),
  };
  return Object.entries(steps).map(([name, step]) => ({
    name,
    run: () => expectRefused(step, MIB),
  }));
});
