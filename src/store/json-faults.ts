/** What `jsonb` refuses though it is JSON: faults in a string, and numbers that `numeric` cannot hold. */
import { characterAt } from './body-text.ts';
import { hex4 } from './json-scan.ts';

/** Something in a string that cannot be stored. */
export interface StringFault {
  readonly what: 'nul' | 'surrogate' | 'utf8';
  readonly from: number;
  readonly to: number;
}

const BACKSLASH = 0x5c;
const U = 0x75;

/** The faults between `from` and `to`, which is inside the quotes of one string, in their order. */
export function* stringFaults(
  bytes: Uint8Array,
  from: number,
  to: number,
): Generator<StringFault, void> {
  for (let at = from; at < to; ) {
    const byte = bytes[at] as number;
    if (byte >= 0x80) {
      const length = characterAt(bytes, at);
      if (length < 0) yield { what: 'utf8', from: at, to: at - length };
      at += Math.abs(length);
    } else if (byte !== BACKSLASH) at += 1;
    else if (bytes[at + 1] !== U) at += 2;
    else {
      const code = hex4(bytes, at + 2);
      if (isHigh(code) && isLow(escapedAt(bytes, at + 6))) at += 12;
      else {
        if (code === 0) yield { what: 'nul', from: at, to: at + 6 };
        else if (isHigh(code) || isLow(code)) yield { what: 'surrogate', from: at, to: at + 6 };
        at += 6;
      }
    }
  }
}

const isHigh = (code: number): boolean => (code & 0xfc00) === 0xd800;
const isLow = (code: number): boolean => code >= 0 && (code & 0xfc00) === 0xdc00;
const escapedAt = (bytes: Uint8Array, at: number): number =>
  bytes[at] === BACKSLASH && bytes[at + 1] === U ? hex4(bytes, at + 2) : -1;

/** Where the character after `count` characters of a string begins, or `to`; escapes and pairs of them count as one. */
export function afterCharacters(
  bytes: Uint8Array,
  from: number,
  to: number,
  count: number,
): number {
  let at = from;
  for (let i = 0; i < count && at < to; i += 1) {
    if (bytes[at] !== BACKSLASH) at += Math.abs(characterAt(bytes, at));
    else if (bytes[at + 1] !== U) at += 2;
    else at += isHigh(hex4(bytes, at + 2)) && isLow(escapedAt(bytes, at + 6)) ? 12 : 6;
  }
  return Math.min(at, to);
}

/** `numeric` holds so many digits before the point … */
const DIGITS_BEFORE_POINT = 131_072;
/** … and so many after it. */
const DIGITS_AFTER_POINT = 16_383;
/** An exponent from here on is refused even with 0 before it (PostgreSQL 15; 18 takes one more). */
const EXPONENT = 1_073_741_823;

/** How many digits Postgres writes for the number between `from` and `to`, or Infinity: `numeric` refuses it. */
export function digitsOf(bytes: Uint8Array, from: number, to: number): number {
  let at = bytes[from] === 0x2d ? from + 1 : from;
  /** Offset of the first digit that is not 0, of the point, and of the end of the digits. */
  let significant = -1;
  let point = -1;
  for (; at < to; at += 1) {
    const byte = bytes[at] as number;
    if (byte === 0x2e) point = at;
    else if (byte > 0x39) break;
    else if (byte !== 0x30 && significant < 0) significant = at;
  }
  const exponent = at < to ? exponentAt(bytes, at + 1, to) : 0;
  if (Math.abs(exponent) >= EXPONENT) return Number.POSITIVE_INFINITY;
  const decimals = Math.max(0, (point < 0 ? 0 : at - point - 1) - exponent);
  let whole = 1;
  if (significant >= 0) {
    const units = point < 0 ? at : point;
    // The digit before the point is worth 10^0, the one after it 10^-1, with the point itself between.
    const place = significant < units ? units - 1 - significant : units - significant;
    whole = Math.max(1, place + exponent + 1);
  }
  if (whole > DIGITS_BEFORE_POINT || decimals > DIGITS_AFTER_POINT) return Number.POSITIVE_INFINITY;
  return whole + decimals;
}

/** The exponent between `from` and `to`; one that is too large for any use stops growing. */
function exponentAt(bytes: Uint8Array, from: number, to: number): number {
  const sign = bytes[from];
  let value = 0;
  for (let at = sign === 0x2b || sign === 0x2d ? from + 1 : from; at < to; at += 1)
    value = Math.min(EXPONENT, value * 10 + (bytes[at] as number) - 0x30);
  return sign === 0x2d ? -value : value;
}
