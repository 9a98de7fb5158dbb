/** From the bytes on the wire to the bytes of a page: one content coding, two limits, and a first look. */
import { gunzip } from 'node:zlib';
import { EnvelopeError, TooLargeError, TransientError } from '../errors.ts';
import { excerpt } from './excerpt.ts';

/** An answer's body with what is needed to judge it. */
export interface WireBody {
  readonly wire: Buffer;
  /** The `Content-Encoding` header as it came; several headers are an array. */
  readonly encoding: string | readonly string[] | undefined;
}

/** How a body is collected. */
export interface Collecting {
  /** Most bytes. */
  readonly limitBytes: number;
  /** What was asked for, for messages; so in the whole file. */
  readonly place: string;
  /** What `Content-Length` says; NaN or too little does no harm. */
  readonly expected: number;
  readonly onBytes: (bytes: number) => void;
  /** Gives so many bytes, of any content. */
  readonly allocate: (bytes: number) => Buffer;
}

/** The byte in front of a collected body, so that who needs it there needs no copy (model: `Page.framed`). */
const FRAME = Buffer.from([1]);

/**
 * Collects a body behind the byte 1. Bytes go to their place as they come, where the length is known before.
 * @throws TooLargeError as soon as more comes; leaving the loop destroys the stream, and with it the connection.
 */
export async function collect(
  chunks: AsyncIterable<Uint8Array>,
  { limitBytes, place, expected, onBytes, allocate }: Collecting,
): Promise<Buffer> {
  const known = expected > 0 && expected <= limitBytes ? expected : 0;
  const framed = allocate(1 + known);
  FRAME.copy(framed);
  const beyond: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    const from = 1 + bytes;
    bytes += chunk.byteLength;
    onBytes(bytes);
    if (bytes > limitBytes) throw tooLarge(place, limitBytes);
    if (bytes <= known) framed.set(chunk, from);
    else beyond.push(chunk);
  }
  const inPlace = bytes - beyond.reduce((sum, chunk) => sum + chunk.byteLength, 0);
  return beyond.length === 0
    ? framed.subarray(0, 1 + bytes)
    : Buffer.concat([framed.subarray(0, 1 + inPlace), ...beyond], 1 + bytes);
}

/**
 * Takes the content coding off, strictly: lenient decoders take a gzip body that was cut off for a whole one.
 * @throws TransientError for a gzip body that is cut, corrupt or followed by anything; TooLargeError for more than
 *   `limitBytes` after decompression; EnvelopeError for a coding that was not asked for, or more than one.
 */
export async function decodeBody(
  body: WireBody,
  limitBytes: number,
  place: string,
): Promise<Buffer> {
  const codings = codingsOf(body.encoding);
  if (codings.length === 0) return body.wire;
  if (codings.length > 1 || !/^(x-)?gzip$/.test(codings[0] ?? ''))
    throw new EnvelopeError(
      `${place} answered with content coding "${excerpt(codings.join(', '), [], 60)}"; one gzip at most was expected`,
      { hint: 'set api.gzip to false if a proxy on the way compresses in its own manner' },
    );
  return await gunzipStrictly(body.wire, limitBytes, place);
}

/** The content codings in the order they were applied; `identity` is none. */
function codingsOf(encoding: WireBody['encoding']): string[] {
  return [encoding ?? []]
    .flat()
    .join(',')
    .split(',')
    .map((coding) => coding.trim().toLowerCase())
    .filter((coding) => coding !== '' && coding !== 'identity');
}

function gunzipStrictly(wire: Buffer, limitBytes: number, place: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // With `info` Node answers with the engine as well, which alone knows how many bytes it used.
    const done = (error: NodeJS.ErrnoException | null, result: unknown): void => {
      if (error?.code === 'ERR_BUFFER_TOO_LARGE') reject(tooLarge(place, limitBytes));
      else if (error) reject(new TransientError(`the gzip body is broken (${error.message})`));
      else {
        const { buffer, engine } = result as { buffer: Buffer; engine: { bytesWritten: number } };
        if (engine.bytesWritten === wire.length) resolve(buffer);
        else reject(new TransientError('the gzip body is followed by other bytes'));
      }
    };
    gunzip(wire, { maxOutputLength: limitBytes, info: true }, done);
  });
}

/** The refusal of a body that is larger than allowed. */
export function tooLarge(place: string, limitBytes: number): TooLargeError {
  return new TooLargeError(`${place} answered with more than ${limitBytes} bytes`, {
    hint: 'ask for fewer records per page (page_length), or raise the limit (body_limit)',
  });
}

/**
 * Refuses what cannot be a page at first sight, so that a login page never counts as an empty day. Whether the whole
 * is JSON is left to Postgres, which has to parse it anyway.
 * @throws EnvelopeError with a short excerpt.
 */
export function refuseNonJson(body: Buffer, secrets: readonly string[], place: string): void {
  // Whether there is JSON behind such a mark is seen where the text is read.
  if (utf16Of(body) !== null) return;
  const hasBom = body.length >= 3 && body.readUIntBE(0, 3) === 0xefbbbf;
  let from = hasBom ? 3 : 0;
  let to = body.length;
  while (from < to && isJsonSpace(body[from])) from++;
  while (to > from && isJsonSpace(body[to - 1])) to--;
  if (from === to)
    throw new EnvelopeError(`${place} answered 200 with an empty body`, {
      hint: 'a page holds JSON',
    });
  const first = body[from];
  const text = () => excerpt(body.subarray(from), secrets);
  if (first !== OPEN_OBJECT && first !== OPEN_LIST)
    throw new EnvelopeError(`${place} answered 200 with ${kindOf(body, from)}: "${text()}"`, {
      hint: 'look at what answers there: the base URL, a proxy or a login page in front of the API',
    });
  if (body[to - 1] !== (first === OPEN_OBJECT ? CLOSE_OBJECT : CLOSE_LIST))
    throw new EnvelopeError(
      `${place} answered 200 with JSON that is not complete: ${body.length} bytes without the closing bracket, beginning "${text()}"`,
      { hint: 'the connection was cut on the way, or something other than the API answers' },
    );
}

/** The encoding that a byte order mark of UTF-16 tells; null: there is none (RFC 2781, 3.2). */
export function utf16Of(body: Buffer): 'utf-16le' | 'utf-16be' | null {
  if (body[0] === 0xff && body[1] === 0xfe) return 'utf-16le';
  return body[0] === 0xfe && body[1] === 0xff ? 'utf-16be' : null;
}

const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;

/** White space of RFC 8259. */
function isJsonSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function kindOf(body: Buffer, from: number): string {
  if (body[from] === 0x3c) return 'what looks like an HTML page, a login page or proxy?';
  if (body[from] === 0x1f && body[from + 1] === 0x8b)
    return 'what looks like gzip, without saying so';
  return 'a body that is not a JSON object or list';
}
