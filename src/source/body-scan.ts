/** What the bytes of a body tell before anything parses it: how many values it holds, and what stands around its lists; pure. */

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
/** A bracket of either kind, once the bit of {@link SPACE} is set. */
const OPEN = OPEN_OBJECT;
const CLOSE = CLOSE_OBJECT;

/** The encoding that a byte order mark of UTF-16 tells; null: there is none (RFC 2781, 3.2). */
export function utf16Of(body: Buffer): 'utf-16le' | 'utf-16be' | null {
  if (body[0] === 0xff && body[1] === 0xfe) return 'utf-16le';
  return body[0] === 0xfe && body[1] === 0xff ? 'utf-16be' : null;
}

/** The body in UTF-8. */
const utf8Of = (body: Buffer): Buffer => {
  const encoding = utf16Of(body);
  return encoding === null ? body : Buffer.from(new TextDecoder(encoding).decode(body));
};

/** How many values a body holds, and how many of them are objects and lists. */
export function countValues(received: Buffer): { values: number; containers: number } {
  const body = utf8Of(received);
  let values = 1;
  let containers = 0;
  for (let at = 0; at < body.length; at += 1) {
    const byte = body[at] as number;
    if (byte === QUOTE) at = endOfString(body, at);
    else if (byte === COMMA) values += 1;
    else if ((byte | SPACE) === OPEN) {
      containers += 1;
      if (((body[at + 1] ?? 0) | SPACE) !== CLOSE) values += 1;
    }
  }
  return { values, containers };
}

/** The largest frame that is parsed; an API's has some hundred bytes, in a handful of levels. */
const MOST_BYTES = 1_048_576;
const MOST_LEVELS = 100;
/** So many elements of lists are shown; of lists behind them only the first that is an object, and the first that is none. */
const MOST_ELEMENTS = 10_000;

/**
 * The frame of a body: its JSON without what is in its lists. `{}` stands for an element that is an object, `0` for any
 * other. What is no JSON in the frame stays none; what is in lists is for Postgres to read.
 * @returns why not, where the frame is larger than any API's.
 */
export function frameOf(received: Buffer): { readonly json: string } | { readonly why: string } {
  const body = utf8Of(received);
  const tooLong = { why: `more than ${MOST_BYTES} bytes` };
  let json = '';
  let copied = 0;
  let level = 0;
  let elements = MOST_ELEMENTS;
  for (let at = 0; at < body.length; at += 1) {
    const byte = body[at];
    if (byte === QUOTE) at = endOfString(body, at);
    else if (byte === OPEN_OBJECT) level += 1;
    else if (byte === CLOSE_OBJECT) level -= 1;
    if (level > MOST_LEVELS) return { why: `objects in more than ${MOST_LEVELS} levels` };
    if (byte !== OPEN_LIST) continue;
    if (json.length + at - copied > MOST_BYTES) return tooLong;
    const list = readList(body, at, elements);
    json += body.toString('utf8', copied, at + 1) + list.shown.join();
    elements -= list.shown.length;
    copied = list.to;
    at = list.to;
  }
  if (json.length + body.length - copied > MOST_BYTES) return tooLong;
  return { json: (json + body.toString('utf8', copied)).replace(/^\ufeff/, '') };
}

/** The frame, where it is JSON; undefined: it is none. */
export function framed(body: Buffer): unknown {
  const frame = frameOf(body);
  try {
    return 'why' in frame ? undefined : JSON.parse(frame.json);
  } catch {
    return undefined;
  }
}

/** The list that begins at `from`: where it ends, and its elements, the first `most` and what differs from them. */
function readList(body: Buffer, from: number, most: number): { to: number; shown: string[] } {
  const shown: string[] = [];
  const kinds = new Set<string>();
  let level = 1;
  let isFirst = true;
  let at = from + 1;
  for (; at < body.length; at += 1) {
    const byte = body[at] as number;
    if (byte <= SPACE) continue;
    if (isFirst && byte !== CLOSE_LIST) {
      const kind = byte === OPEN_OBJECT ? '{}' : '0';
      if (shown.length < most || !kinds.has(kind)) shown.push(kind);
      kinds.add(kind);
    }
    isFirst = byte === COMMA && level === 1;
    if (byte === QUOTE) at = endOfString(body, at);
    else if ((byte | SPACE) === OPEN) level += 1;
    else if ((byte | SPACE) === CLOSE) level -= 1;
    if (level === 0) break;
  }
  return { to: at, shown };
}

/** Where the string that begins at `from` has its closing quote, or the end of the body. */
function endOfString(body: Buffer, from: number): number {
  let at = from + 1;
  while (at < body.length && body[at] !== QUOTE) at += body[at] === BACKSLASH ? 2 : 1;
  return at;
}
