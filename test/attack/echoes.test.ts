/** A source that says the key back, the one before and the one now, wherever an answer has room for text. */
import { gzipSync } from 'node:zlib';
import { expect } from 'vitest';
import { EnvelopeError } from '../../src/errors.ts';
import { CANARY, open } from '../source/open.ts';
import {
  expectSilence,
  IN_HEADERS,
  KEYS,
  NEW_KEY,
  rotated,
  type Spell,
} from '../source/rotated-key.ts';
import { answer, raw, rawThenEnd, type Step, scriptedServer } from '../source/scripted-server.ts';
import { IN_BODIES, SPELLINGS } from '../support/spellings.ts';
import { attack, type Try } from './attacking.ts';

type Say = (text: string) => Step;

const STATUSES = [200, 302, 400, 401, 403, 404, 429, 500, 503];
const NAMES = [
  'Content-Encoding',
  'Content-Type',
  'Date',
  'Location',
  'RateLimit',
  'RateLimit-Reset',
  'Retry-After',
  'Server',
  'Set-Cookie',
  'Transfer-Encoding',
  'WWW-Authenticate',
  'X-RateLimit-Remaining',
];

/** One server for all tries: it answers as the try says that runs. */
async function echoing() {
  let step: Step = answer('');
  const { url } = await scriptedServer([(asked) => step(asked)]);
  const opened = (say: Say, spell: Spell) => {
    step = rotated(say, spell);
    return open(url, { refreshKey: async () => NEW_KEY, retryTimeMs: 0 });
  };
  /** Fetching fails, and says nothing of it. */
  const silent =
    (say: Say, spell: Spell): Try['run'] =>
    async () => {
      const { fails, source } = opened(say, spell);
      expectSilence(await fails(), spell);
      await source.close();
    };
  return { opened, silent };
}

attack('key old and new in a header of an answer, in each spelling', async () => {
  const { silent } = await echoing();
  // Each spelling in each header with three of the statuses: together all of them with all.
  return IN_HEADERS.flatMap(([spelling, spell], row) =>
    NAMES.flatMap((name, column) =>
      STATUSES.filter((_, index) => (index + row + column) % 3 === 0).map((status) => ({
        name: `${spelling} in ${name} of a ${status}`,
        // What is no JSON is no page, so that each of them fails.
        run: silent((text) => answer('<>', { status, headers: { [name]: text } }), spell),
      })),
    ),
  );
});

attack('key in an answer that is broken in HTTP', async () => {
  const { silent } = await echoing();
  const broken: Readonly<Record<string, Say>> = {
    'the status line': (text) => rawThenEnd(`HTTP/1.1 200 ${text}\r\nContent-Length: 2\r\n\r\n<>`),
    'in place of a status': (text) => rawThenEnd(`HTTP/1.1 ${text}\r\n\r\n`),
    'in place of the answer': (text) => rawThenEnd(`${text}\r\n\r\n`),
    'a name of a header': (text) => rawThenEnd(`HTTP/1.1 200 OK\r\n${text}: 1\r\n\r\n<>`),
    'a line without a name': (text) => rawThenEnd(`HTTP/1.1 200 OK\r\n${text}\r\n\r\n<>`),
    'the length': (text) => rawThenEnd(`HTTP/1.1 200 OK\r\nContent-Length: ${text}\r\n\r\n<>`),
    'the size of a chunk': (text) =>
      rawThenEnd(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${text}\r\n<>\r\n`),
    'behind a chunk': (text) =>
      rawThenEnd(
        `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;${text}\r\n<>\r\n0\r\n${text}: 1\r\n\r\n`,
      ),
    'a body that ends too early': (text) =>
      rawThenEnd(`HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n{"data":[{"log":"${text}`),
    'behind the body': (text) => raw(`HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n<>${text}`),
  };
  return IN_HEADERS.flatMap(([spelling, spell]) =>
    Object.entries(broken).map(([where, say]) => ({
      name: `${spelling}, ${where}`,
      run: silent(say, spell),
    })),
  );
});

attack('key old and new in the body of an error, in each spelling', async () => {
  const { silent, opened } = await echoing();
  const gzip = { 'Content-Encoding': 'gzip' };
  const bodies: Readonly<Record<string, (text: Buffer, status: number) => Step>> = {
    plain: (text, status) => answer(text, { status }),
    compressed: (text, status) => answer(gzipSync(text), { status, headers: gzip }),
    'not compressed, though it says so': (text, status) => answer(text, { status, headers: gzip }),
  };
  return Object.entries(SPELLINGS).flatMap(([spelling, spell]) => [
    ...STATUSES.flatMap((status) =>
      Object.entries(bodies).map(([how, make]) => ({
        name: `${spelling}, ${how}, in a ${status}`,
        run: silent((text) => make(Buffer.from(`no: ${text}`, 'latin1'), status), spell),
      })),
    ),
    {
      name: `${spelling}, as a name in JSON`,
      run: async () => {
        const { source, fetch } = opened(() => answer('{"data":[]}'), String);
        await fetch();
        const list = JSON.stringify({ [KEYS.map(spell).join()]: [{ a: 1 }], b: [{ a: 1 }] });
        try {
          source.findContract(Buffer.from(list));
          throw new Error('a contract was found');
        } catch (error) {
          expect(error).toBeInstanceOf(EnvelopeError);
          expectSilence(error, spell);
        }
        await source.close();
      },
    },
  ]);
});

attack('key old or new in a page that would be stored', async () => {
  const { opened } = await echoing();
  return IN_BODIES.flatMap(([spelling, spell]) =>
    [CANARY, NEW_KEY].flatMap((key) =>
      [0, 10_000].map((before) => ({
        name: `${spelling}, behind ${before} letters, ${key === CANARY ? 'old' : 'new'}`,
        run: async () => {
          const text = JSON.stringify(`GET ${'x'.repeat(before)} `).slice(0, -1);
          const page = `{"data":[{"log":${text}${spell(key).replaceAll('"', '\\"')} 200"}]}`;
          const { fails, source } = opened(() => answer(page), String);
          const error = await fails();
          expect(error.message).toContain('the answer holds the API key');
          expectSilence(error, String);
          await source.close();
        },
      })),
    ),
  );
});
