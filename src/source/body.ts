/** From the bytes on the wire to the bytes of a page: one content coding, two limits, and a first look. */
import { isUtf8 } from 'node:buffer';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { EnvelopeError, TooLargeError, TransientError } from '../errors.ts';
import { excerpt, holdsSecret } from '../redactor.ts';
import { asUtf8, documentOf } from '../text.ts';
import type { BodyMemory } from './body-memory.ts';
import { countValues } from './body-scan.ts';

/** What a body is judged by. */
export interface Judging {
  /** Most bytes after decompression. */
  readonly limitBytes: number;
  /** What was asked for, for messages; so in the whole file. */
  readonly place: string;
  /** What no message may hold. */
  readonly secrets: readonly string[];
}

/** A body as it came on the wire. */
export interface Collected {
  readonly wire: Buffer;
  /** Gives back the memory that was lent for `wire`, where it lies there. */
  readonly giveBack: () => void;
}

/**
 * Collects a body. Bytes go to their place as they come, where the length is known before.
 * @param known what `Content-Length` says; NaN or too little does no harm.
 * @param memory lends memory for the body.
 * @param onBytes told how many have come so far; what it throws leaves the loop, which destroys the stream, and with it the
 *   connection.
 */
export async function collect(
  chunks: AsyncIterable<Uint8Array>,
  known: number,
  memory: BodyMemory,
  onBytes: (bytes: number) => void,
): Promise<Collected> {
  const lent = memory.take(known || 0);
  const beyond: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    const from = bytes;
    bytes += chunk.byteLength;
    onBytes(bytes);
    if (bytes <= known) lent.set(chunk, from);
    else beyond.push(chunk);
  }
  if (beyond.length === 0)
    return { wire: lent.subarray(0, bytes), giveBack: () => memory.giveBack(lent) };
  const inPlace = bytes - beyond.reduce((sum, chunk) => sum + chunk.byteLength, 0);
  return { wire: Buffer.concat([lent.subarray(0, inPlace), ...beyond], bytes), giveBack: () => {} };
}

/** The first bytes of an error's body, about `most` of them; that it breaks off changes nothing about the error. */
export async function beginning(chunks: AsyncIterable<Uint8Array>, most: number): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of chunks) {
      parts.push(chunk);
      bytes += chunk.byteLength;
      if (bytes >= most) break;
    }
  } catch {
    // The status says enough.
  }
  return Buffer.concat(parts);
}

/**
 * Takes the content coding off, strictly: lenient decoders take a gzip body that was cut off for a whole one.
 * @throws TransientError for a gzip body that is cut, corrupt or followed by anything; TooLargeError for more than
 *   `limitBytes` after decompression; EnvelopeError for a coding that was not asked for, or more than one.
 */
export async function decodeBody(
  wire: Buffer,
  encoding: string | readonly string[] | undefined,
  { limitBytes, place, secrets }: Judging,
): Promise<Buffer> {
  // In the order in which they were applied; `identity` is none.
  const codings = String(encoding ?? '')
    .split(',')
    .map((coding) => coding.trim().toLowerCase())
    .filter((coding) => coding !== '' && coding !== 'identity');
  if (codings.length === 0) return wire;
  if (codings.length === 1 && /^(x-)?gzip$/.test(codings[0] ?? ''))
    return await gunzipStrictly(wire, limitBytes, place);
  throw new EnvelopeError(
    `${place} answered with content coding "${excerpt(codings.join(', '), secrets, 60)}"; one gzip at most was expected`,
    { hint: 'set api.gzip to false if a proxy on the way compresses in its own manner' },
  );
}

/**
 * A body in the encoding that its `Content-Type` names, in UTF-8: old servers send ISO-8859-1, and what jsonb cannot read would be
 * replaced. Many name one and send UTF-8 all the same; UTF-16 is told by its first bytes (`asUtf8`).
 */
export function inUtf8(body: Buffer, contentType: string | undefined): Buffer {
  const [, name = 'utf-8'] = /;\s*charset\s*=\s*"?([\w.:-]+)/i.exec(contentType ?? '') ?? [];
  if (/^utf-?\d/i.test(name) || isUtf8(body)) return body;
  try {
    return Buffer.from(new TextDecoder(name, { fatal: true }).decode(body));
  } catch {
    return body;
  }
}

const unzip = promisify(gunzip);

async function gunzipStrictly(wire: Buffer, limitBytes: number, place: string): Promise<Buffer> {
  const options = { maxOutputLength: limitBytes, info: true };
  const result: unknown = await unzip(wire, options).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(place, limitBytes);
    throw new TransientError(`the gzip body is broken (${error.message})`);
  });
  // With `info` Node answers with the engine as well, which alone knows how many bytes it used.
  const { buffer, engine } = result as { buffer: Buffer; engine: { bytesWritten: number } };
  if (engine.bytesWritten === wire.length) return buffer;
  throw new TransientError('the gzip body is followed by other bytes');
}

/** The refusal of a body that is larger than allowed. */
export function tooLarge(place: string, limitBytes: number): TooLargeError {
  return new TooLargeError(`${place} answered with more than ${limitBytes} bytes`, {
    hint: 'ask for fewer records per page (page_length), or raise the limit (body_limit)',
  });
}

/**
 * Refuses the body of a 200 that is no page, or not one to be stored.
 * @param keys no body may hold one: it would be stored, and read by people who are not to have the key.
 * @throws EnvelopeError, TooLargeError
 */
export function judgeBody(received: Buffer, keys: readonly string[], judging: Judging): void {
  const { place, secrets, limitBytes } = judging;
  const body = asUtf8(received);
  refuseNonJson(body, secrets, place);
  if (holdsSecret(body, keys))
    throw new EnvelopeError(`${place}: the answer holds the API key, so it is not stored`, {
      hint: 'whoever can read these events can read the key: replace it, and keep it out of what the source collects',
    });
  refuseManyValues(body, limitBytes, place);
}

/** So many bytes of the limit allow one value, or one object or list: Postgres takes up to 0.1 and 0.7 kB to parse one. */
const BYTES_PER_VALUE = 16;
const BYTES_PER_CONTAINER = 64;

/**
 * Refuses a body with so many values that parsing it would take many times its size in memory, and minutes.
 * @throws TooLargeError
 */
export function refuseManyValues(body: Buffer, limitBytes: number, place: string): void {
  // The shortest ones, `[]` and `1,`, have two bytes, so that most bodies need not be counted.
  if (body.length <= 2 * Math.floor(limitBytes / BYTES_PER_CONTAINER)) return;
  const { values, containers } = countValues(body);
  const counts = [
    [containers, 'objects and lists', BYTES_PER_CONTAINER],
    [values, 'values', BYTES_PER_VALUE],
  ] as const;
  for (const [count, what, bytes] of counts) {
    const most = Math.floor(limitBytes / bytes);
    if (count > most)
      throw new TooLargeError(
        `${place} answered with ${count} ${what} in ${body.length} bytes, more than ${most}`,
        {
          hint: `ask for fewer records per page (page_length), or raise the limit (body_limit), which allows one for every ${bytes} bytes`,
        },
      );
  }
}

/** So many bytes at either end of a body are looked at for its first and last character. */
const EDGE = 1_000;

/**
 * Refuses what cannot be a page at first sight, so that a login page never counts as an empty day. Whether the whole
 * is JSON is left to Postgres, which has to parse it anyway.
 * @throws EnvelopeError with a short excerpt.
 */
function refuseNonJson(body: Buffer, secrets: readonly string[], place: string): void {
  // A byte order mark is white space here.
  const text = body.toString('utf8', 0, EDGE).trimStart();
  const last = body
    .toString('latin1', Math.max(0, body.length - EDGE))
    .trimEnd()
    .at(-1);
  // How some services spell a list without records.
  if (text.trimEnd() === 'null') return;
  const shown = () => excerpt(body, secrets);
  if (text === '')
    throw new EnvelopeError(`${place} answered 200 with an empty body`, {
      hint: 'a page holds JSON',
    });
  if (!/^[{[]/.test(text))
    throw new EnvelopeError(`${place} answered 200 with ${kindOf(text)}: "${shown()}"`, {
      hint: 'a login page or a proxy answers in place of the API, or api.url is wrong',
    });
  if (last !== (text[0] === '{' ? '}' : ']'))
    throw new EnvelopeError(
      `${place} answered 200 with JSON that is not complete: ${body.length} bytes without the closing bracket, beginning "${shown()}"`,
      { hint: 'the connection was cut on the way, or something other than the API answers' },
    );
}

/**
 * An answer that is not a 200 and may yet say that there are no records: a 204, or a 404 with a JSON object or list.
 * Whether it says so is for who knows the other answers. Null: it is none.
 */
export function emptyAnswer(
  status: number,
  body: Buffer,
): { readonly status: 204 | 404; readonly body: Buffer } | null {
  if (status === 204) return { status, body: Buffer.from('null') };
  const value = status === 404 ? documentOf(body) : undefined;
  return typeof value === 'object' && value !== null ? { status: 404, body } : null;
}

function kindOf(text: string): string {
  if (text.startsWith('<')) return 'what looks like an HTML page';
  if (text.startsWith('\x1f\ufffd')) return 'what looks like gzip, without saying so';
  return 'a body that is not a JSON object or list';
}
