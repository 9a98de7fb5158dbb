/** The tokens of a text that is JSON, one after the other: nothing is built, nothing recurses, and nothing is checked. */

/** What stands at a place; words are left out, as commas tell of each element. */
export interface Token {
  readonly kind: 'open' | 'close' | 'comma' | 'key' | 'string' | 'number';
  /** In bytes; quotes and brackets are part of it. */
  readonly from: number;
  readonly to: number;
  /** Of a string or key: a backslash stands in it. */
  readonly hasEscape: boolean;
}

const QUOTE = 0x22;
const MINUS = 0x2d;
const COLON = 0x3a;
const BACKSLASH = 0x5c;

const OF_ONE_BYTE = new Map<number, Token['kind']>(
  Object.entries({
    '[': 'open',
    '{': 'open',
    ']': 'close',
    '}': 'close',
    ',': 'comma',
  } as const).map(([character, kind]) => [character.charCodeAt(0), kind]),
);
/** For each byte 1 where it may stand in a number. */
export const IN_NUMBER = Uint8Array.from({ length: 256 }, (_, byte) =>
  Number(/[\d.eE+-]/.test(String.fromCharCode(byte))),
);

/** The tokens of a text, in order; of what is no JSON they may be anything. */
export function* tokensOf(bytes: Buffer): Generator<Token> {
  for (let from = 0, to = 0; from < bytes.length; from = to) {
    const byte = bytes[from] as number;
    const kind = OF_ONE_BYTE.get(byte);
    let hasEscape = false;
    to = from + 1;
    if (kind !== undefined) yield { kind, from, to, hasEscape };
    else if (byte === MINUS || isDigit(byte)) {
      while (IN_NUMBER[bytes[to] as number] === 1) to += 1;
      yield { kind: 'number', from, to, hasEscape };
    } else if (byte === QUOTE) {
      for (; to < bytes.length && bytes[to] !== QUOTE; to += 1) {
        if (bytes[to] !== BACKSLASH) continue;
        hasEscape = true;
        to += 1;
      }
      to += 1;
      yield { kind: isBeforeColon(bytes, to) ? 'key' : 'string', from, to, hasEscape };
    }
  }
}

/** Whether a byte is 0 to 9 in ASCII. */
export const isDigit = (byte: number): boolean => byte >= 0x30 && byte <= 0x39;

/** Whether a colon comes next, behind white space. */
function isBeforeColon(bytes: Buffer, from: number): boolean {
  let at = from;
  while ((bytes[at] ?? COLON) <= 0x20) at += 1;
  return bytes[at] === COLON;
}
