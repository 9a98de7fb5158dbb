/** The text of a body: UTF-8, whatever it came in, and what may be shown of it. */
import { isUtf8 } from 'node:buffer';

/** A body as UTF-8 without a byte order mark. */
export interface BodyText {
  readonly bytes: Buffer;
  /** What the body came in. */
  readonly encoding: 'UTF-8' | 'UTF-16LE' | 'UTF-16BE';
  /** Bytes of the byte order mark that was taken off. */
  readonly bom: number;
  /** Whether `bytes` is valid UTF-8; where it is not, bytes were damaged or half a surrogate pair was sent. */
  readonly valid: boolean;
}

/** Stands in `bytes` for half a surrogate pair of UTF-16: a byte that UTF-8 never has, so that it is found as damage. */
const LONE = 0xff;

/** Takes off a byte order mark and decodes UTF-16; damaged UTF-8 stays as it is. */
export function textOf(body: Buffer): BodyText {
  const { encoding, bom } = recognise(body);
  const rest = body.subarray(bom);
  const bytes = encoding === 'UTF-8' ? rest : fromUtf16(rest, encoding === 'UTF-16BE');
  return { bytes, encoding, bom, valid: isUtf8(bytes) };
}

/** JSON begins with a character of ASCII, so that a NUL among the first two bytes tells UTF-16 (RFC 4627, section 3). */
function recognise(body: Buffer): Pick<BodyText, 'encoding' | 'bom'> {
  const [first, second] = body;
  if (first === 0xef && second === 0xbb && body[2] === 0xbf) return { encoding: 'UTF-8', bom: 3 };
  if (first === 0xff && second === 0xfe) return { encoding: 'UTF-16LE', bom: 2 };
  if (first === 0xfe && second === 0xff) return { encoding: 'UTF-16BE', bom: 2 };
  if (first === 0 && second !== undefined && second !== 0) return { encoding: 'UTF-16BE', bom: 0 };
  if (second === 0 && first !== 0) return { encoding: 'UTF-16LE', bom: 0 };
  return { encoding: 'UTF-8', bom: 0 };
}

function fromUtf16(units: Buffer, bigEndian: boolean): Buffer {
  // A unit of two bytes takes three at the most; the last byte of an odd number makes no unit.
  const bytes = Buffer.allocUnsafe((units.length >> 1) * 3 + 1);
  const unitAt = (at: number): number =>
    ((units[at + (bigEndian ? 0 : 1)] as number) << 8) |
    (units[at + (bigEndian ? 1 : 0)] as number);
  let length = 0;
  let at = 0;
  for (; at + 1 < units.length; at += 2) {
    const unit = unitAt(at);
    if (unit < 0x80) bytes[length++] = unit;
    else if (unit < 0x800) {
      bytes[length++] = 0xc0 | (unit >> 6);
      bytes[length++] = 0x80 | (unit & 0x3f);
    } else if ((unit & 0xf800) !== 0xd800) {
      bytes[length++] = 0xe0 | (unit >> 12);
      bytes[length++] = 0x80 | ((unit >> 6) & 0x3f);
      bytes[length++] = 0x80 | (unit & 0x3f);
    } else {
      const low = at + 3 < units.length ? unitAt(at + 2) : 0;
      if (unit >= 0xdc00 || (low & 0xfc00) !== 0xdc00) bytes[length++] = LONE;
      else {
        const point = 0x10000 + ((unit & 0x3ff) << 10) + (low & 0x3ff);
        bytes[length++] = 0xf0 | (point >> 18);
        bytes[length++] = 0x80 | ((point >> 12) & 0x3f);
        bytes[length++] = 0x80 | ((point >> 6) & 0x3f);
        bytes[length++] = 0x80 | (point & 0x3f);
        at += 2;
      }
    }
  }
  if (at < units.length) bytes[length++] = LONE;
  return bytes.subarray(0, length);
}

/** Where the bytes at `offsets` of the text, which ascend, are in the body that was received. */
export function receivedOffsets(text: BodyText, offsets: readonly number[]): number[] {
  if (text.encoding === 'UTF-8') return offsets.map((offset) => offset + text.bom);
  let at = 0;
  let received = text.bom;
  return offsets.map((offset) => {
    for (; at < offset; at += 1) {
      const byte = text.bytes[at] as number;
      // Four bytes of UTF-8 are two units of UTF-16, all else that is one character is one unit.
      if ((byte & 0xc0) !== 0x80) received += byte >= 0xf0 && byte !== LONE ? 4 : 2;
    }
    return received;
  });
}

/**
 * The length of the character at `at`, or minus the number of bytes that a decoder replaces by one U+FFFD there (the
 * WHATWG's "maximal subpart"); `at` is not in the middle of a character.
 */
export function characterAt(bytes: Uint8Array, at: number): number {
  const lead = bytes[at] as number;
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4) return -1;
  const length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  // Overlong forms, surrogates and code points past U+10FFFF show in the second byte.
  const low = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
  const high = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
  const second = bytes[at + 1] ?? 0;
  if (second < low || second > high) return -1;
  for (let i = 2; i < length; i += 1) if (((bytes[at + i] ?? 0) & 0xc0) !== 0x80) return -i;
  return length;
}

/** The beginning of `content` as one line of at most `max` visible characters. */
export function printable(content: Buffer | string, max: number): string {
  const head =
    typeof content === 'string' ? content.slice(0, max * 4) : content.subarray(0, max * 4);
  const text = typeof head === 'string' ? head : head.toString('utf8');
  const shown = text.replace(/\p{C}|(?! )\p{Z}/gu, spelled);
  const whole = shown.length <= max && head.length === content.length;
  return whole ? shown : `${clipped(shown, max - 1)}…`;
}

/** Control, formatting and line-separating characters as JSON would escape them. */
const spelled = (character: string): string =>
  character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');

/** At most `max` UTF-16 units from the beginning of `text`, no pair cut in two. */
export function clipped(text: string, max: number): string {
  const cut = text.slice(0, max);
  return /[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut;
}
