/** Makes a body that `jsonb` refuses into one that it takes, changes as little as is simple, and says what and where. */
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { EnvelopeError } from '../../errors.ts';
import { asUtf8, documentOf, printable } from '../../text.ts';
import { IN_NUMBER, isDigit, type Token, tokensOf } from './json-tokens.ts';

/** What was wrong with what was changed. */
export type Fault = 'nul' | 'surrogate' | 'utf8' | 'utf16' | 'bom' | 'number' | 'depth';

/** One kind of fault of one value or key, or of the whole body. */
export interface Change {
  /** A JSON pointer to the changed value, or to the value of the changed key, in the body as it is after the change. */
  readonly path: string;
  /** Of what was changed, in the received body as UTF-8, in bytes. */
  readonly offset: number;
  readonly what: Fault;
  /** What was there: its beginning, at most 80 characters. */
  readonly found: string;
}

/** A body that `jsonb` takes. */
export interface Repaired {
  /** The received Buffer itself where nothing had to be changed. */
  readonly body: Buffer;
  /** In the order of the body; the first 1,000. */
  readonly changes: readonly Change[];
  /** How many there are. */
  readonly changeCount: number;
}

/** What is left as it is: levels of nesting; digits by which all numbers together grow when Postgres writes them out. */
export const LIMITS = { depth: 500, growth: 16_000_000 };

/** Where all numbers together grow too much, those that grow by more digits than this become strings. */
const LITTLE_GROWTH = 20;
const MOST_LISTED = 1_000;
const LONGEST_FOUND = 80;
const LONGEST_STEP = 64;
const LONGEST_PATH = 256;
/** So many bytes are left of what is too deep. */
const EXCERPT = 1_000;

/**
 * Changes what `jsonb` cannot hold: a byte order mark goes; UTF-16 becomes UTF-8; invalid UTF-8, U+0000 and lone surrogates
 * become U+FFFD; numbers become strings; what is too deep becomes a string with its beginning. A key that was changed in a
 * record ends in a digest of what it was, so that keys which differed still do. Everything else is copied byte for byte, so
 * the records stay as many as they were, in their order.
 * @throws EnvelopeError where the body is not JSON.
 */
export function repair(received: Buffer, limits: Partial<typeof LIMITS> = {}): Repaired {
  const body = asUtf8(received);
  // A message of JSON.parse quotes the body, which may hold a key (I10).
  if (documentOf(body) === undefined)
    throw new EnvelopeError(`not JSON: ${body.length} bytes`, {
      hint: 'the body was damaged on the way, something other than the API answers, or its source writes what JSON does not have, as NaN',
    });
  const repairing = new Repairing(body, { ...LIMITS, ...limits });
  if (body !== received) repairing.note('utf16', 0, () => received.toString('hex', 0, 2));
  for (const token of tokensOf(body)) repairing.take(token);
  const { changes, changeCount } = repairing;
  return { body: changeCount === 0 ? body : repairing.copy(), changes, changeCount };
}

/** A container around the place that was reached. */
interface Place {
  readonly isObject: boolean;
  /** Whether a list is around it, so that it is in a record. */
  readonly inList: boolean;
  /** Which element it is, from 0 on. */
  index: number;
  /** The last key, in the text. */
  key: readonly [from: number, to: number];
}

class Repairing {
  readonly changes: Change[] = [];
  changeCount = 0;
  readonly #bytes: Buffer;
  readonly #isUtf8: boolean;
  readonly #depth: number;
  readonly #mostGrowth: number;
  readonly #places: Place[] = [];
  /** Where what is too deep begins; null: nothing is now. */
  #tooDeepFrom: number | null = null;
  /** How many containers are open in it. */
  #levels = 0;
  /** The copy: its beginning, what comes behind it, and how much of the text is in both. */
  readonly #beginning: Buffer[] = [];
  #pieces: Buffer[] = [];
  #copied: number;

  constructor(bytes: Buffer, { depth, growth }: typeof LIMITS) {
    this.#bytes = bytes;
    this.#isUtf8 = isUtf8(bytes);
    this.#depth = depth;
    this.#mostGrowth = growthOf(bytes) > growth ? LITTLE_GROWTH : Number.MAX_SAFE_INTEGER;
    this.#copied = beginOf(bytes);
    if (this.#copied > 0) this.note('bom', 0, () => '\\xef\\xbb\\xbf');
  }

  /** Takes the next token, and changes what has to be. */
  take(token: Token): void {
    const { kind, from, to } = token;
    if (this.#tooDeepFrom !== null) {
      if (kind === 'open') this.#levels += 1;
      else if (kind === 'close') this.#levels -= 1;
      if (this.#levels === 0) this.#cut(this.#tooDeepFrom, to);
      return;
    }
    const place = this.#places.at(-1);
    if (kind === 'close') this.#places.pop();
    else if (kind === 'key' && place !== undefined) place.key = [from, to];
    else if (kind === 'comma' && place !== undefined) place.index += 1;
    if (kind === 'open') this.#open(token);
    else if (kind === 'number') this.#number(from, to);
    else if ((kind === 'string' || kind === 'key') && (token.hasEscape || !this.#isUtf8)) {
      const { text, faults } = this.#mended(from, to, kind === 'key' && place?.inList === true);
      if (faults.size > 0) this.#change(from, to, text, faults);
    }
  }

  /** The text with its changes. */
  copy(): Buffer {
    return Buffer.concat([...this.#beginning, ...this.#pieces, this.#bytes.subarray(this.#copied)]);
  }

  #open({ from }: Token): void {
    if (this.#places.length === this.#depth) {
      [this.#tooDeepFrom, this.#levels] = [from, 1];
      return;
    }
    const outer = this.#places.at(-1);
    const inList = outer !== undefined && (outer.inList || !outer.isObject);
    const isObject = this.#bytes[from] === 0x7b;
    this.#places.push({ isObject, inList, index: 0, key: [0, 0] });
  }

  #cut(from: number, to: number): void {
    this.#tooDeepFrom = null;
    const length = to - from;
    const head = this.#bytes.toString('utf8', from, from + Math.min(length, EXCERPT));
    const cut = `${head.replace(/\ufffd$/, '')}… (cut by daywalk, ${length} bytes)`;
    this.#change(from, to, JSON.stringify(length > EXCERPT ? cut : head), ['depth']);
  }

  #number(from: number, to: number): void {
    const text = this.#bytes.toString('latin1', from, to);
    const growth = digitsOf(text) - text.length;
    if (growth > this.#mostGrowth) this.#change(from, to, `"${text}"`, ['number']);
  }

  /** A string or key as `jsonb` takes it, and what was wrong with it; around the record list a key stays as it is looked for. */
  #mended(from: number, to: number, isKeyOfRecord: boolean): { text: string; faults: Set<Fault> } {
    const raw = this.#bytes.subarray(from, to);
    const faults = new Set<Fault>(isUtf8(raw) ? [] : ['utf8']);
    const text = raw.toString('utf8').replace(ESCAPES, (found, one: string | undefined) => {
      if (one === undefined) return found;
      faults.add(one === '0000' ? 'nul' : 'surrogate');
      return '\\ufffd';
    });
    if (!isKeyOfRecord || faults.size === 0) return { text, faults };
    const digest = createHash('sha256').update(raw).digest('hex').slice(0, 8);
    return { text: `${text.slice(0, -1)}\ufffd${digest}"`, faults };
  }

  /** Replaces `from` to `to` of the text, which is behind everything replaced so far. */
  #change(from: number, to: number, text: string, faults: Iterable<Fault>): void {
    const found = () => this.#bytes.toString('utf8', from, Math.min(to, from + 4 * LONGEST_FOUND));
    for (const what of faults) this.note(what, from, found);
    this.#pieces.push(this.#bytes.subarray(this.#copied, from), Buffer.from(text));
    this.#copied = to;
    // Millions of changes are not to be millions of objects.
    if (this.#pieces.length > 10_000) this.#beginning.push(Buffer.concat(this.#pieces.splice(0)));
  }

  note(what: Fault, at: number, found: () => string): void {
    this.changeCount += 1;
    if (this.changes.length === MOST_LISTED) return;
    const shown = visible(found(), LONGEST_FOUND);
    this.changes.push({ path: this.#path(), offset: at, what, found: shown });
  }

  /** A JSON pointer (RFC 6901), its steps and itself shortened, on one line. */
  #path(): string {
    const path = this.#places
      .map((place) => (place.isObject ? this.#name(place) : `${place.index}`))
      .map((step) => visible(step, LONGEST_STEP).replaceAll('~', '~0').replaceAll('/', '~1'))
      .reduce((before, step) => `${before}/${step}`, '');
    if (path.length <= LONGEST_PATH) return path;
    const half = LONGEST_PATH / 2 - 1;
    return `${path.slice(0, half)}…${path.slice(-half)}`.replace(/\p{Cs}/gu, '');
  }

  /** A key as it is in the copy; of a long one the beginning as it was written. */
  #name({ key: [from, to], inList }: Place): string {
    if (to - from > 4 * LONGEST_STEP)
      return this.#bytes.toString('utf8', from + 1, from + 4 * LONGEST_STEP);
    return JSON.parse(this.#mended(from, to, inList).text);
  }
}

const MARK = Buffer.from('\ufeff');

/** Where the JSON of a body begins: behind a byte order mark. */
const beginOf = (body: Buffer): number => (body.subarray(0, 3).equals(MARK) ? 3 : 0);

/** The beginning of a text as one line of at most `max` characters that can be seen. */
export function visible(text: string, max: number): string {
  const shown = printable(text.slice(0, 4 * max));
  if (shown.length <= max && text.length <= 4 * max) return shown;
  return `${shown.slice(0, max - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** Escapes in a string: surrogate pairs, those that `jsonb` refuses, and all others, so that none is begun in another. */
const ESCAPES = /\\(?:ud[89ab]..\\ud[c-f]..|u(0000|d[89a-f]..)|.)/gi;

/** `numeric` holds so many digits before the point … */
const DIGITS_BEFORE_POINT = 131_072;
/** … and so many after it. */
const DIGITS_AFTER_POINT = 16_383;
/** An exponent from here on is refused even with 0 before it (PostgreSQL 15; 18 takes one more). */
const EXPONENT = 1_073_741_823;

/** How many digits Postgres writes for a number, or Infinity: `numeric` refuses it. */
function digitsOf(number: string): number {
  if (number.length <= DIGITS_AFTER_POINT && !/e/i.test(number)) return number.length;
  const [, whole = '', decimals = '', exponent = '0'] =
    /^-?(\d+)(?:\.(\d+))?(?:e(.+))?$/i.exec(number) ?? [];
  const power = Number(exponent);
  const after = Math.max(0, decimals.length - power);
  const significant = (whole + decimals).replace(/^0+/, '').length;
  const before = significant === 0 ? 1 : Math.max(1, significant - decimals.length + power);
  const refused =
    Math.abs(power) >= EXPONENT || before > DIGITS_BEFORE_POINT || after > DIGITS_AFTER_POINT;
  return refused ? Number.POSITIVE_INFINITY : before + after;
}

/** By how many digits all numbers of a text that `numeric` takes grow together. */
function growthOf(bytes: Buffer): number {
  if (!mayGrow(bytes)) return 0;
  let growth = 0;
  for (const { kind, from, to } of tokensOf(bytes)) {
    const text = kind === 'number' ? bytes.toString('latin1', from, to) : '';
    const grown = digitsOf(text) - text.length;
    if (Number.isFinite(grown)) growth += Math.max(0, grown);
  }
  return growth;
}

/** Whether numbers of a body grow so much that Postgres could not write it out again, though `jsonb` takes them. */
export const growsTooMuch = (body: Buffer): boolean => growthOf(body) > LIMITS.growth;

/**
 * Whether the body may hold a number with an exponent of two digits or more, so that its text in Postgres may be many
 * times as long (`1e131071` 8,201 times stops `pg_dump`): then it has to be looked at more closely. It may say yes for
 * text inside of a string, and never no for a number.
 */
export function mayGrow(body: Buffer): boolean {
  // The shortest one, `1e10`, has four bytes, so that every fourth byte of the body meets each of them.
  for (let at = 3; at < body.length; at += 4) {
    if (IN_NUMBER[body[at] as number] === 0) continue;
    for (let e = at - 2; e <= at + 1; e += 1)
      if (((body[e] ?? 0) | 0x20) === 0x65 && isDigit(body[e - 1] ?? 0) && isLarge(body, e + 1))
        return true;
  }
  return false;
}

/** Whether an exponent of two digits or more stands here, with zeros before them or not, and a number can end there. */
function isLarge(body: Buffer, from: number): boolean {
  let at = body[from] === 0x2b || body[from] === 0x2d ? from + 1 : from;
  while (body[at] === 0x30) at += 1;
  const digits = at;
  while (isDigit(body[at] ?? 0)) at += 1;
  return at - digits >= 2 && /^[,\s\]}]?$/.test(body.toString('latin1', at, at + 1));
}
