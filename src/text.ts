/** Text for people: foreign text made harmless, counts, bytes and durations in words; and the text that a body is. */

/**
 * What could steer a terminal, break a line, change the direction of text or hide in it: controls (terminal sequences
 * begin with one), format characters, halves of pairs, private use, line separators.
 */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu;

/** Foreign text in which nothing is unsafe: such characters are written as JSON does, so that a JSON line still says the same. */
export function printable(text: string): string {
  return text.replace(UNSAFE, escaped);
}

/** The same for text of several lines, with its line ends and tabs. */
export function printableLines(text: string): string {
  return text.replace(UNSAFE, (character) =>
    character === '\n' || character === '\t' ? character : escaped(character),
  );
}

/** Foreign text as one line: a space in place of each run of white space and unsafe characters. */
export function oneLine(text: string): string {
  return text.replace(UNSAFE, ' ').replace(/\s+/g, ' ').trim();
}

/** So many characters of a text at most. */
export function clip(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

/** A character beyond U+FFFF is a pair. */
function escaped(character: string): string {
  return Array.from({ length: character.length }, (_, at) => character.charCodeAt(at))
    .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
    .join('');
}

/** `1234567` as `1,234,567`. */
export function formatCount(count: number | bigint): string {
  return count.toString().replace(/\B(?=(\d{3})+$)/g, ',');
}

const BYTE_UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];

/** Bytes in decimal units with three digits: `999 B`, `1.23 kB`, `45.6 MB`, `789 GB`. */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  // 999.5 would be written as 1000.
  while (value >= 999.5 && unit < BYTE_UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  const digits = unit === 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return `${value.toFixed(digits)} ${BYTE_UNITS[unit]}`;
}

/** A duration in its two largest units: `850 ms`, `12.3 s`, `4 min 05 s`, `3 h 07 min`, `2 d 04 h`. */
export function formatDuration(ms: number): string {
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return pair(seconds, 60, 'min', 's');
  const minutes = Math.round(seconds / 60);
  if (minutes < 24 * 60) return pair(minutes, 60, 'h', 'min');
  return pair(Math.round(minutes / 60), 24, 'd', 'h');
}

function pair(total: number, size: number, large: string, small: string): string {
  const rest = String(total % size).padStart(2, '0');
  return `${Math.floor(total / size)} ${large} ${rest} ${small}`;
}

/** Lines of a text, as many as there are: false stands for one that there is no reason for. */
export function linesOf(...lines: readonly (string | readonly string[] | false)[]): string[] {
  return lines.flat().filter((line) => line !== false);
}

/** `3 days`. */
export function counted(value: number, noun: string): string {
  return `${formatCount(value)} ${noun}${value === 1 ? '' : 's'}`;
}

/** `2026-03-10 12:34:56 UTC`. */
export const utcSecond = (instant: Date): string => utc(instant, 19);

/** `2026-03-10 12:34 UTC`. */
export const utcMinute = (instant: Date): string => utc(instant, 16);

const utc = (instant: Date, length: number): string =>
  `${instant.toISOString().slice(0, length).replace('T', ' ')} UTC`;

/** A body in UTF-16, as its byte order mark tells (RFC 2781, 3.2), in UTF-8; any other one as it is. */
export function asUtf8(body: Buffer): Buffer {
  const mark = body.toString('hex', 0, 2);
  if (mark !== 'fffe' && mark !== 'feff') return body;
  return Buffer.from(new TextDecoder(mark === 'fffe' ? 'utf-16le' : 'utf-16be').decode(body));
}

/**
 * The body as a document; numbers that JavaScript cannot hold are near enough for a look at it, and bytes that are no
 * UTF-8 do not matter. Undefined: it is no JSON.
 */
export function documentOf(body: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(asUtf8(body)));
  } catch {
    return undefined;
  }
}
