/** Makes a body that `jsonb` refuses into one that it takes, changes as little as is simple, and says what and where. */
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { beginningOf, IN_NUMBER, isDigit, JsonScan } from './json-scan.ts';

/** What was wrong with what was changed. */
export type Fault = 'nul' | 'surrogate' | 'utf8' | 'utf16' | 'bom' | 'number' | 'depth';

/** One kind of fault of one value or key, or of the whole body. */
export interface Change {
  /** A JSON pointer to the changed value, or to the value of the changed key, in the body as it is after the change. */
  readonly path: string;
  /** Of what was changed, in the received body, in bytes. */
  readonly offset: number;
  readonly what: Fault;
  /** What was there: beginningOf, at most 80 characters. */
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
 * Changes what `jsonb` cannot hold: a byte order mark goes, UTF-16 becomes UTF-8; invalid UTF-8, U+0000 and lone
 * surrogates become U+FFFD; numbers become strings; what is too deep becomes a string with its beginning. A key that was
 * changed in a record ends in a digest of what it was, so that keys which differed still do. Everything else is
 * copied byte for byte, so the records stay as many as they were, in their order.
 * @throws EnvelopeError where the body is not JSON.
 */
export function repair(body: Buffer, limits: Partial<typeof LIMITS> = {}): Repaired {
  const repairing = new Repairing(body, { ...LIMITS, ...limits });
  while (repairing.step()) {}
  const { changes, changeCount } = repairing;
  return { body: changeCount === 0 ? body : repairing.copy(), changes, changeCount };
}

/** A container around the place that the scan has reached. */
interface Place {
  readonly isObject: boolean;
  /** Whether a list is around it, so that it is in a record. */
  readonly inList: boolean;
  /** Elements so far. */
  count: number;
  /** The last key, in the text. */
  key: readonly [from: number, to: number];
}

class Repairing {
  readonly changes: Change[] = [];
  changeCount = 0;
  readonly #bytes: Buffer;
  readonly #isUtf16: boolean;
  readonly #scan: JsonScan;
  readonly #depth: number;
  readonly #mostGrowth: number;
  readonly #places: Place[] = [];
  /** The copy: its beginning, what comes behind it, and how much of the text is in both. */
  readonly #beginning: Buffer[] = [];
  #pieces: Buffer[] = [];
  #copied: number;
  /** How far the text was looked through for its length in UTF-16, and that length. */
  #looked = 0;
  #units = 0;

  constructor(body: Buffer, { depth, growth }: typeof LIMITS) {
    const { bytes, from, encoding } = textOf(body);
    this.#bytes = bytes;
    this.#isUtf16 = encoding !== null;
    this.#scan = new JsonScan(bytes, from);
    this.#depth = depth;
    this.#mostGrowth = growthOf({ bytes, from }) > growth ? LITTLE_GROWTH : Number.MAX_SAFE_INTEGER;
    this.#copied = from;
    if (encoding !== null) this.#note('utf16', 0, () => encoding);
    else if (from > 0) this.#note('bom', 0, () => '\\xef\\xbb\\xbf');
  }

  /** Reads a token, and changes what has to be; false: it was the last. */
  step(): boolean {
    const scan = this.#scan;
    const token = scan.next();
    const place = this.#places.at(-1);
    if (token === 'close') this.#places.pop();
    else if (token === 'key' && place !== undefined) place.key = [scan.from, scan.to];
    else if (place !== undefined) place.count += 1;
    if (token === 'open') this.#open(scan.from);
    else if (token === 'number') this.#number(scan.from, scan.to);
    else if (scan.suspect && (token === 'string' || token === 'key')) {
      const inRecord = token === 'key' && place?.inList === true;
      const { text, faults } = this.#mended(scan.from, scan.to, inRecord);
      if (faults.size > 0) this.#change(scan.from, scan.to, text, faults);
    }
    return token !== 'end';
  }

  /** The text with its changes. */
  copy(): Buffer {
    return Buffer.concat([...this.#beginning, ...this.#pieces, this.#bytes.subarray(this.#copied)]);
  }

  #open(from: number): void {
    const scan = this.#scan;
    if (scan.depth <= this.#depth) {
      const outer = this.#places.at(-1);
      const inList = outer !== undefined && (outer.inList || !outer.isObject);
      this.#places.push({ isObject: scan.inObject, inList, count: 0, key: [0, 0] });
      return;
    }
    while (scan.depth > this.#depth) scan.next();
    const length = scan.to - from;
    const head = this.#bytes.toString('utf8', from, from + Math.min(length, EXCERPT));
    const cut = `${head.replace(/\ufffd$/, '')}… (cut by daywalk, ${length} bytes)`;
    this.#change(from, scan.to, JSON.stringify(length > EXCERPT ? cut : head), ['depth']);
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
    for (const what of faults) this.#note(what, from, found);
    this.#pieces.push(this.#bytes.subarray(this.#copied, from), Buffer.from(text));
    this.#copied = to;
    // Millions of changes are not to be millions of objects.
    if (this.#pieces.length > 10_000) this.#beginning.push(Buffer.concat(this.#pieces.splice(0)));
  }

  #note(what: Fault, at: number, found: () => string): void {
    this.changeCount += 1;
    if (this.changes.length === MOST_LISTED) return;
    this.#units += this.#isUtf16 ? this.#bytes.toString('utf8', this.#looked, at).length : 0;
    this.#looked = at;
    const offset = this.#isUtf16 ? 2 * this.#units : at;
    const shown = beginningOf(found(), LONGEST_FOUND);
    this.changes.push({ path: this.#path(), offset, what, found: shown });
  }

  /** A JSON pointer (RFC 6901), its steps and itself shortened, on one line. */
  #path(): string {
    const path = this.#places
      .map((place) => (place.isObject ? this.#name(place) : `${place.count - 1}`))
      .map((step) => beginningOf(step, LONGEST_STEP).replaceAll('~', '~0').replaceAll('/', '~1'))
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

/** The body as UTF-8, where its JSON begins, and what else it came in, if it did. */
function textOf(body: Buffer): { bytes: Buffer; from: number; encoding: string | null } {
  const [first = 1, second = 1] = body;
  // JSON begins with a character of ASCII, so that a NUL among the first two bytes tells UTF-16 (RFC 4627, section 3).
  const little = second === 0 ? first !== 0 : first === 0xff && second === 0xfe;
  const big = first === 0 ? second !== 0 : first === 0xfe && second === 0xff;
  const beginning = (bytes: Buffer) => (bytes.subarray(0, 3).equals(MARK) ? 3 : 0);
  if (!little && !big) return { bytes: body, from: beginning(body), encoding: null };
  const units = Buffer.from(body.subarray(0, body.length & ~1));
  // A last byte that is half a unit stands where JSON allows nothing.
  const text = (big ? units.swap16() : units).toString('utf16le') + '?'.repeat(body.length & 1);
  const bytes = Buffer.from(text);
  const halves = /\p{Cs}/u.test(text) ? ', with halves of surrogate pairs' : '';
  return { bytes, from: beginning(bytes), encoding: `UTF-16${big ? 'BE' : 'LE'}${halves}` };
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
function growthOf({ bytes, from }: { bytes: Buffer; from: number }): number {
  if (!mayGrow(bytes)) return 0;
  const scan = new JsonScan(bytes, from);
  let growth = 0;
  for (let token = scan.next(); token !== 'end'; token = scan.next()) {
    const text = token === 'number' ? bytes.toString('latin1', scan.from, scan.to) : '';
    const grown = digitsOf(text) - text.length;
    if (Number.isFinite(grown)) growth += Math.max(0, grown);
  }
  return growth;
}

/** Whether numbers of a body grow so much that Postgres could not write it out again, though `jsonb` takes them. */
export const growsTooMuch = (body: Buffer): boolean => growthOf(textOf(body)) > LIMITS.growth;

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
