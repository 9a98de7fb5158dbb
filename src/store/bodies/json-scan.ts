/** Reads bytes as JSON, as strictly as `JSON.parse`, one token after the other: nothing is built, nothing recurses. */
import { isUtf8 } from 'node:buffer';
import { EnvelopeError } from '../../errors.ts';
import { printable } from '../../text.ts';

/** What stands at a place: a bracket, a key with its colon, a value without parts, or nothing any more. */
export type Token = 'open' | 'close' | 'key' | 'string' | 'number' | 'word' | 'end';

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

const WORDS = ['true', 'false', 'null'].map((word) => Buffer.from(word));
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** For each byte 1 where it is one of these. */
const tableOf = (bytes: RegExp): Uint8Array =>
  Uint8Array.from({ length: 256 }, (_, byte) => Number(bytes.test(String.fromCharCode(byte))));
/** What stands in numbers, for itself in a string, and behind a backslash. */
export const IN_NUMBER = tableOf(/[\d.eE+-]/);
const PLAIN = tableOf(/[ !#-[\]-\x7f]/);
const ESCAPED = tableOf(/["\\/bfnrt]/);

/** Stands at one token of a text. */
export class JsonScan {
  /** Of the token, in bytes; quotes and brackets are part of it. */
  from = 0;
  to = 0;
  /** Of a string or key: it has an escape of U+0000 or a surrogate, or a byte beyond ASCII in a text that is not UTF-8. */
  suspect = false;
  readonly #bytes: Buffer;
  readonly #broken: boolean;
  /** For each container that is open: whether it is an object. */
  readonly #open: boolean[] = [];
  /** What may come: a value; a key, or the end of an object; the first value of a list, or its end; what follows a value. */
  #next: 'value' | 'first' | 'after' = 'value';
  #at: number;

  /**
   * @param bytes a byte that is not valid UTF-8 is let through inside strings, where a decoder would put U+FFFD.
   * @param from where the text begins.
   */
  constructor(bytes: Buffer, from = 0) {
    this.#bytes = bytes;
    this.#broken = !isUtf8(bytes);
    this.#at = from;
  }

  /** How many containers are open. */
  get depth(): number {
    return this.#open.length;
  }

  /** The innermost container is an object. */
  get inObject(): boolean {
    return this.#open.at(-1) === true;
  }

  /**
   * Goes to the next token.
   * @throws EnvelopeError at the first byte that JSON does not allow.
   */
  next(): Token {
    let at = this.#space(this.#at);
    if (this.#next === 'after') {
      if (this.depth === 0)
        return at < this.#bytes.length ? this.#refuse(at, 'the end') : this.#token('end', at, at);
      if (this.#bytes[at] !== COMMA) return this.#close(at, 'a comma or ');
      at = this.#space(at + 1);
      if (this.inObject) return this.#key(at);
    } else if (this.#next === 'first') {
      const first = this.#bytes[at];
      if (first === (this.inObject ? CLOSE_OBJECT : CLOSE_LIST)) return this.#close(at, '');
      if (this.inObject) return this.#key(at);
    }
    return this.#value(at);
  }

  #token(kind: Token, from: number, to: number): Token {
    this.from = from;
    this.to = to;
    this.#at = to;
    this.#next = kind === 'open' ? 'first' : 'after';
    return kind;
  }

  #close(at: number, expected: string): Token {
    if (this.#bytes[at] !== (this.inObject ? CLOSE_OBJECT : CLOSE_LIST))
      this.#refuse(at, `${expected}${this.inObject ? '}' : ']'}`);
    this.#open.pop();
    return this.#token('close', at, at + 1);
  }

  #key(at: number): Token {
    if (this.#bytes[at] !== QUOTE) this.#refuse(at, 'a key');
    this.#token('key', at, this.#string(at));
    const colon = this.#space(this.to);
    if (this.#bytes[colon] !== COLON) this.#refuse(colon, 'a colon');
    this.#at = colon + 1;
    this.#next = 'value';
    return 'key';
  }

  #value(at: number): Token {
    const byte = this.#bytes[at] ?? 0;
    if (byte === QUOTE) return this.#token('string', at, this.#string(at));
    if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      this.#open.push(byte === OPEN_OBJECT);
      return this.#token('open', at, at + 1);
    }
    if (byte === MINUS || isDigit(byte)) return this.#token('number', at, this.#number(at));
    const word = WORDS.find((one) => one.equals(this.#bytes.subarray(at, at + one.length)));
    return this.#token('word', at, at + (word ?? this.#refuse(at, 'a value')).length);
  }

  #string(from: number): number {
    const bytes = this.#bytes;
    this.suspect = false;
    for (let at = from + 1; ; ) {
      while (PLAIN[bytes[at] as number] === 1) at += 1;
      const byte = bytes[at];
      if (byte === QUOTE) return at + 1;
      if (byte === BACKSLASH) at = this.#escape(at);
      else if (byte !== undefined && byte >= 0x80) {
        this.suspect ||= this.#broken;
        at += 1;
      } else this.#refuse(at, 'a closing quote, or an escape');
    }
  }

  #escape(at: number): number {
    const bytes = this.#bytes;
    if (ESCAPED[bytes[at + 1] ?? 0] === 1) return at + 2;
    const digits = bytes.toString('latin1', at + 1, at + 6);
    if (!/^u[\da-fA-F]{4}$/.test(digits)) this.#refuse(at, 'an escape that JSON knows');
    this.suspect ||= /^u(0000|d[89a-f])/i.test(digits);
    return at + 6;
  }

  #number(from: number): number {
    let to = from;
    while (IN_NUMBER[this.#bytes[to] as number] === 1) to += 1;
    if (!NUMBER.test(this.#bytes.toString('latin1', from, to))) this.#refuse(from, 'a number');
    return to;
  }

  #space(from: number): number {
    for (let at = from; ; at += 1) {
      const byte = this.#bytes[at];
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return at;
    }
  }

  #refuse(at: number, expected: string): never {
    // Seven characters are too few to hold an API key that the body may quote (I10).
    const text = beginningOf(this.#bytes.toString('utf8', at, at + 28), 7);
    const found = text === '' ? 'the end' : `"${text}"`;
    throw new EnvelopeError(`not JSON: ${found} at byte ${at}, where ${expected} should be`, {
      hint: 'the body was damaged on the way, or something other than the API answers',
    });
  }
}

export const isDigit = (byte: number): boolean => byte >= 0x30 && byte <= 0x39;

/** The beginning of a text as one line of at most `max` characters that can be seen. */
export function beginningOf(text: string, max: number): string {
  const shown = printable(text.slice(0, 4 * max));
  if (shown.length <= max && text.length <= 4 * max) return shown;
  return `${shown.slice(0, max - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
