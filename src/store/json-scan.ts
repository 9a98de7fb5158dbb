/** Reads bytes as JSON, as strictly as `JSON.parse`, and tells a reader what stands where: nothing is built, nothing recurses. */
import { EnvelopeError } from '../errors.ts';
import { type BodyText, printable, receivedOffsets } from './body-text.ts';

/** Is told of everything in a text, in its order; spans are byte offsets, quotes and brackets included. */
export interface JsonReader {
  /** An array or an object begins at `at`. */
  open(at: number, isObject: boolean): void;
  /** The innermost one that is open ends before `to`. */
  close(to: number): void;
  key(span: StringSpan): void;
  string(span: StringSpan): void;
  number(from: number, to: number): void;
  /** `true`, `false` or `null`. */
  word(from: number, to: number): void;
}

/** A string or a key; one object is used for all of them, so a reader must not keep it. */
export interface StringSpan {
  readonly from: number;
  readonly to: number;
  /** Bytes without quotes and escapes, as UTF-8; a surrogate pair that is escaped counts as 6. */
  readonly size: number;
  /** It has an escape of U+0000 or of a surrogate, or a byte beyond ASCII in a text that is not valid UTF-8. */
  readonly suspect: boolean;
}

/**
 * Reads `text` from end to end. A byte that is not valid UTF-8 is let through inside strings, where a decoder would
 * put U+FFFD.
 * @throws EnvelopeError at the first byte that JSON does not allow.
 */
export function scanJson(text: BodyText, reader: JsonReader): void {
  new Scan(text, reader).document();
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** The words of JSON by their first byte. */
const WORDS = new Map(
  ['true', 'false', 'null'].map((word) => [word.charCodeAt(0), Buffer.from(word)]),
);

/** 1: a byte that stands for itself in a string; bytes beyond ASCII are not. */
const PLAIN = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x20 && byte < 0x80 && byte !== QUOTE && byte !== BACKSLASH ? 1 : 0,
);
/** What may follow a backslash, besides `u`. */
const ESCAPED = Uint8Array.from({ length: 256 }, (_, byte) =>
  '"\\/bfnrt'.includes(String.fromCharCode(byte)) ? 1 : 0,
);

/** The value of the four hexadecimal digits at `at`, or -1. */
export function hex4(bytes: Uint8Array, at: number): number {
  let value = 0;
  for (let i = at; i < at + 4; i += 1) {
    const byte = bytes[i] ?? 0;
    const letter = byte | 0x20;
    if (byte >= 0x30 && byte <= 0x39) value = value * 16 + byte - 0x30;
    else if (letter >= 0x61 && letter <= 0x66) value = value * 16 + letter - 0x57;
    else return -1;
  }
  return value;
}

const isDigit = (byte: number | undefined): boolean =>
  byte !== undefined && byte >= 0x30 && byte <= 0x39;

class Scan {
  readonly #text: BodyText;
  readonly #bytes: Buffer;
  readonly #reader: JsonReader;
  readonly #broken: boolean;
  readonly #span = { from: 0, to: 0, size: 0, suspect: false };
  /** For each container that is open: 1 an object, 0 an array. */
  #kinds = new Uint8Array(1024);
  #depth = 0;

  constructor(text: BodyText, reader: JsonReader) {
    this.#text = text;
    this.#bytes = text.bytes;
    this.#reader = reader;
    this.#broken = !text.valid;
  }

  document(): void {
    let at = this.#space(0);
    while (at >= 0) {
      const end = this.#value(at);
      at = end < 0 ? this.#firstInside(-end) : this.#next(end);
    }
  }

  /** The end of the value at `at`, or minus the first byte inside a container. */
  #value(at: number): number {
    const byte = this.#bytes[at];
    if (byte === QUOTE) {
      const to = this.#string(at);
      this.#reader.string(this.#span);
      return to;
    }
    if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      this.#push(byte === OPEN_OBJECT);
      this.#reader.open(at, byte === OPEN_OBJECT);
      return -(at + 1);
    }
    if (byte === MINUS || isDigit(byte)) {
      const to = this.#number(at);
      this.#reader.number(at, to);
      return to;
    }
    const to = this.#word(at, byte);
    this.#reader.word(at, to);
    return to;
  }

  /** Where the next value begins, of the container that was just opened or, if it is empty, after it; -1 at the end. */
  #firstInside(from: number): number {
    const at = this.#space(from);
    const inObject = this.#kinds[this.#depth - 1] === 1;
    if (this.#bytes[at] === (inObject ? CLOSE_OBJECT : CLOSE_LIST)) return this.#next(at);
    return inObject ? this.#member(at) : at;
  }

  /** Where the next value begins after one that ended before `from`; containers that end there are closed. -1 at the end. */
  #next(from: number): number {
    let at = this.#space(from);
    for (; this.#depth > 0; at = this.#space(at + 1)) {
      const inObject = this.#kinds[this.#depth - 1] === 1;
      const byte = this.#bytes[at];
      if (byte === COMMA) {
        at = this.#space(at + 1);
        return inObject ? this.#member(at) : at;
      }
      if (byte !== (inObject ? CLOSE_OBJECT : CLOSE_LIST))
        this.#refuse(at, inObject ? 'a comma or }' : 'a comma or ]');
      this.#depth -= 1;
      this.#reader.close(at + 1);
    }
    if (at < this.#bytes.length) this.#refuse(at, 'the end');
    return -1;
  }

  /** Reads a key and its colon; where its value begins. */
  #member(from: number): number {
    if (this.#bytes[from] !== QUOTE) this.#refuse(from, 'a key');
    const at = this.#space(this.#string(from));
    if (this.#bytes[at] !== COLON) this.#refuse(at, 'a colon');
    this.#reader.key(this.#span);
    return this.#space(at + 1);
  }

  #string(from: number): number {
    const bytes = this.#bytes;
    const span = this.#span;
    let at = from + 1;
    let escapes = 0;
    span.suspect = false;
    for (;;) {
      while (PLAIN[bytes[at] as number] === 1) at += 1;
      const byte = bytes[at];
      if (byte === QUOTE) break;
      if (byte === BACKSLASH) {
        const length = this.#escape(at);
        escapes += length.less;
        at += length.bytes;
      } else if (byte !== undefined && byte >= 0x80) {
        if (this.#broken) span.suspect = true;
        at += 1;
      } else this.#refuse(at, 'a closing quote, or an escape');
    }
    span.from = from;
    span.to = at + 1;
    span.size = at - from - 1 - escapes;
    return at + 1;
  }

  /** The bytes of the escape at `at`, and how many fewer its character takes. */
  #escape(at: number): { readonly bytes: number; readonly less: number } {
    const bytes = this.#bytes;
    if (ESCAPED[bytes[at + 1] as number] === 1) return SHORT_ESCAPE;
    const code = bytes[at + 1] === 0x75 ? hex4(bytes, at + 2) : -1;
    if (code < 0) this.#refuse(at, 'an escape that JSON knows');
    if (code === 0 || (code & 0xf800) === 0xd800) this.#span.suspect = true;
    return code < 0x80 ? ESCAPE_OF_1 : code < 0x800 ? ESCAPE_OF_2 : ESCAPE_OF_3;
  }

  #number(from: number): number {
    const bytes = this.#bytes;
    let at = bytes[from] === MINUS ? from + 1 : from;
    at = bytes[at] === ZERO ? at + 1 : this.#digits(at);
    if (bytes[at] === POINT) at = this.#digits(at + 1);
    if (((bytes[at] ?? 0) | 0x20) === 0x65) {
      const sign = bytes[at + 1];
      at = this.#digits(sign === 0x2b || sign === MINUS ? at + 2 : at + 1);
    }
    return at;
  }

  #digits(from: number): number {
    let at = from;
    while (isDigit(this.#bytes[at])) at += 1;
    if (at === from) this.#refuse(at, 'a digit');
    return at;
  }

  #word(from: number, first: number | undefined): number {
    const word = first === undefined ? undefined : WORDS.get(first);
    if (word === undefined) this.#refuse(from, 'a value');
    for (let i = 1; i < word.length; i += 1)
      if (this.#bytes[from + i] !== word[i]) this.#refuse(from, 'a value');
    return from + word.length;
  }

  #space(from: number): number {
    let at = from;
    for (;;) {
      const byte = this.#bytes[at];
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return at;
      at += 1;
    }
  }

  #push(isObject: boolean): void {
    if (this.#depth === this.#kinds.length) {
      const grown = new Uint8Array(this.#depth * 2);
      grown.set(this.#kinds);
      this.#kinds = grown;
    }
    this.#kinds[this.#depth] = isObject ? 1 : 0;
    this.#depth += 1;
  }

  #refuse(at: number, expected: string): never {
    // Seven characters are too few to hold an API key that the body may quote (I10).
    const found =
      at < this.#bytes.length ? `"${printable(this.#bytes.subarray(at), 7)}"` : 'the end';
    const [place] = receivedOffsets(this.#text, [at]);
    throw new EnvelopeError(`not JSON: ${found} at byte ${place}, where ${expected} should be`, {
      hint: 'the body was damaged on the way, or something other than the API answers',
    });
  }
}

const SHORT_ESCAPE = { bytes: 2, less: 1 };
const ESCAPE_OF_1 = { bytes: 6, less: 5 };
const ESCAPE_OF_2 = { bytes: 6, less: 4 };
const ESCAPE_OF_3 = { bytes: 6, less: 3 };
