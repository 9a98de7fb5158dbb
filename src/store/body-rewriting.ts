/** The rewriting of one JSON text, told by a scan: what `jsonb` cannot hold is replaced, everything else is copied. */
import { TooLargeError } from '../errors.ts';
import { Changes, type ChangesMark, type Fault, pathOf, type Step } from './body-changes.ts';
import type { Limits } from './body-limits.ts';
import { Patch, type PatchMark } from './body-patch.ts';
import { type BodyText, characterAt } from './body-text.ts';
import { afterCharacters, digitsOf, type StringFault, stringFaults } from './json-faults.ts';
import { suffixes } from './json-keys.ts';
import type { JsonReader, StringSpan } from './json-scan.ts';

/** A container around the place that the scan has reached. */
interface Frame {
  readonly isObject: boolean;
  readonly from: number;
  /** Whether it is inside of a record, wherever the record list may be: then a string may take its place. */
  readonly inRecord: boolean;
  /** Whether a list is around it. */
  readonly inList: boolean;
  readonly patch: PatchMark;
  readonly changes: ChangesMark;
  /** Elements or keys so far. */
  count: number;
  /** Bytes in `jsonb` of what it holds so far, nearly. */
  size: number;
  /** Where in the patched text the last key is. */
  keyPlace: number;
  /** From and to of the keys that are as they were. */
  readonly keys: number[];
  /** From and to of the changed keys, then the same in the patched text. */
  readonly changedKeys: number[];
}

const QUOTE = Buffer.from('"');
const QUOTE_ESCAPED = Buffer.from('\\"');
const REPLACEMENT = Buffer.from('\ufffd');
const REPLACEMENT_ESCAPED = Buffer.from('\\ufffd');
/** How a string spells what can stand in JSON outside of strings, or inside of them, but not in a string itself. */
const ESCAPES = new Map([
  [0x22, QUOTE_ESCAPED],
  [0x5c, Buffer.from('\\\\')],
  [0x09, Buffer.from('\\t')],
  [0x0a, Buffer.from('\\n')],
  [0x0d, Buffer.from('\\r')],
]);

/** Hears one scan; then `patch` and `changes` hold the result. */
export class Rewriting implements JsonReader {
  readonly patch: Patch;
  readonly changes = new Changes();
  /** By how many digits numbers grow in all: those that grow by 0, 1, 2 … digits, the last those by more than `bomb`. */
  readonly growths: Float64Array;
  readonly #bytes: Buffer;
  readonly #limits: Limits;
  readonly #mostGrowth: number;
  readonly #frames: Frame[] = [];
  /** Containers open in a value that a string replaces, itself counted; 0: none. */
  #leftOut = 0;
  #leftOutFrom = 0;
  #leftOutFor: Fault = 'depth';

  /** @param mostGrowth numbers that grow by more digits become strings. */
  constructor(text: BodyText, limits: Limits, mostGrowth: number) {
    this.#bytes = text.bytes;
    this.#limits = limits;
    this.#mostGrowth = mostGrowth;
    this.patch = new Patch(text.bytes);
    this.growths = new Float64Array(limits.bomb + 2);
  }

  open(from: number, isObject: boolean): void {
    if (!this.#element()) {
      this.#leftOut += 1;
      return;
    }
    if (this.#frames.length === this.#limits.depth) {
      this.#leaveOut(from, 'depth');
      return;
    }
    const outer = this.#frames.at(-1);
    const inList = outer !== undefined && (outer.inList || !outer.isObject);
    this.#frames.push({
      isObject,
      from,
      inList,
      inRecord: outer?.inList ?? false,
      patch: this.patch.mark(),
      changes: this.changes.mark(),
      count: 0,
      size: 0,
      keyPlace: 0,
      keys: [],
      changedKeys: [],
    });
  }

  close(to: number): void {
    if (this.#leftOut > 0) {
      this.#leftOut -= 1;
      if (this.#leftOut > 0) return;
      this.#change(this.#leftOutFor, this.#leftOutFrom, to);
      this.#hold(this.#quote(this.#leftOutFrom, to), false);
      return;
    }
    const frame = this.#frames.at(-1) as Frame;
    if (frame.size > this.#limits.containerBytes) {
      this.#giveUp(frame, `holds more than ${this.#limits.containerBytes} bytes`);
      this.close(to);
      return;
    }
    if (frame.changedKeys.length > 0) this.#tellKeysApart(frame, to);
    this.#frames.pop();
    this.#hold(4 + frame.count * (frame.isObject ? 8 : 4) + frame.size, true);
  }

  key(span: StringSpan): void {
    const frame = this.#frames.at(-1);
    if (this.#leftOut > 0 || frame === undefined) return;
    frame.count += 1;
    if (frame.count > this.#limits.pairs) {
      this.#giveUp(frame, `has more than ${this.#limits.pairs} keys`);
      return;
    }
    const { from, to } = span;
    const before = this.changes.count;
    frame.keyPlace = this.patch.placeOf(from);
    this.#hold(this.#string(span), false);
    if (this.changes.count === before) frame.keys.push(from, to);
    else frame.changedKeys.push(from, to, frame.keyPlace, this.patch.placeOf(to));
  }

  string(span: StringSpan): void {
    if (this.#element()) this.#hold(this.#string(span), false);
  }

  number(from: number, to: number): void {
    if (!this.#element()) return;
    const length = to - from;
    const digits = digitsOf(this.#bytes, from, to);
    const growth = Math.max(0, digits - length);
    if (digits < Number.POSITIVE_INFINITY) {
      const place = Math.min(growth, this.#limits.bomb + 1);
      this.growths[place] = (this.growths[place] ?? 0) + growth;
    }
    if (growth <= this.#mostGrowth && digits < Number.POSITIVE_INFINITY) {
      this.#hold(6 + 2 * Math.ceil(Math.min(digits, length) / 4), true);
      return;
    }
    this.#change('number', from, to);
    this.#hold(
      length > this.#limits.stringBytes ? this.#quote(from, to) : this.#wrap(from, to),
      false,
    );
  }

  word(): void {
    this.#element();
  }

  /** Counts an element where the scan is in a list; false: it is in something that is left out. */
  #element(): boolean {
    if (this.#leftOut > 0) return false;
    const frame = this.#frames.at(-1);
    if (frame === undefined || frame.isObject) return true;
    frame.count += 1;
    if (frame.count <= this.#limits.elements) return true;
    this.#giveUp(frame, `has more than ${this.#limits.elements} elements`);
    return false;
  }

  /** Adds to the size of the innermost container; numbers and containers begin at a multiple of four. */
  #hold(size: number, aligned: boolean): void {
    const frame = this.#frames.at(-1);
    if (frame === undefined) return;
    frame.size = (aligned ? Math.ceil(frame.size / 4) * 4 : frame.size) + size;
  }

  /** The innermost container cannot be stored: leaves it out from its beginning on. */
  #giveUp(frame: Frame, why: string): void {
    this.#frames.pop();
    if (!frame.inRecord) {
      const patched = { bytes: this.patch.upTo(frame.from), placeOf: (place: number) => place };
      const path = pathOf(this.#steps(), patched);
      throw new TooLargeError(`the ${frame.isObject ? 'object' : 'list'} at "${path}" ${why}`, {
        hint: 'ask for fewer records per page (page_length)',
      });
    }
    this.patch.rewind(frame.patch);
    this.changes.rewind(frame.changes);
    this.#leaveOut(frame.from, 'elements');
  }

  #leaveOut(from: number, why: Fault): void {
    this.#leftOut = 1;
    this.#leftOutFrom = from;
    this.#leftOutFor = why;
  }

  #change(what: Fault, from: number, to: number): void {
    this.changes.add(what, from, to, () => this.#steps());
  }

  #steps(): Step[] {
    return this.#frames.map(({ isObject, keyPlace, count }) =>
      isObject ? { keyPlace } : { index: count - 1 },
    );
  }

  /** Mends a string or a key, and cuts it where it is too long; its bytes in `jsonb`. */
  #string({ from, to, size, suspect }: StringSpan): number {
    const { stringBytes, excerpt } = this.#limits;
    // One bad byte becomes three at the most.
    const mayBeTooLong = suspect && size + 2 * (to - from) > stringBytes;
    const whole = size + (mayBeTooLong ? this.#growth(from + 1, to - 1) : 0);
    if (whole <= stringBytes) return size + (suspect ? this.#mend(from + 1, to - 1) : 0);
    this.#change('string-size', from, to);
    const place = this.patch.placeOf(from);
    const end = afterCharacters(this.#bytes, from + 1, to - 1, excerpt);
    if (suspect) this.#mend(from + 1, end);
    this.patch.replace(end, to - 1, cutMark(to - from));
    return this.patch.placeOf(to) - place;
  }

  /** How many bytes a string grows by U+FFFD in the place of bad bytes. */
  #growth(from: number, to: number): number {
    let grown = 0;
    for (const fault of stringFaults(this.#bytes, from, to)) grown += growthBy(fault);
    return grown;
  }

  /** Replaces the faults in a string by U+FFFD; how many bytes it grows. */
  #mend(from: number, to: number): number {
    let grown = 0;
    for (const fault of stringFaults(this.#bytes, from, to)) {
      this.#change(fault.what, fault.from, fault.to);
      const raw = fault.what === 'utf8';
      this.patch.replace(fault.from, fault.to, raw ? REPLACEMENT : REPLACEMENT_ESCAPED);
      grown += growthBy(fault);
    }
    return grown;
  }

  /** Sets quotes around a number; its bytes in `jsonb`. */
  #wrap(from: number, to: number): number {
    this.patch.replace(from, from, QUOTE);
    this.patch.replace(to, to, QUOTE);
    return to - from;
  }

  /** Replaces a value by a string with the beginning of its text; the string's bytes in `jsonb`, at most. */
  #quote(from: number, to: number): number {
    const bytes = this.#bytes;
    const place = this.patch.placeOf(from);
    this.patch.replace(from, from, QUOTE);
    let at = from;
    for (let i = 0; i < this.#limits.excerpt && at < to; i += 1) {
      const spelled = ESCAPES.get(bytes[at] as number);
      const length = characterAt(bytes, at);
      if (spelled !== undefined) this.patch.replace(at, at + 1, spelled);
      else if (length < 0) this.patch.replace(at, at - length, REPLACEMENT);
      at += Math.abs(length);
    }
    if (at < to) this.patch.replace(at, to, cutMark(to - from));
    this.patch.replace(to, to, QUOTE);
    return this.patch.placeOf(to) - place;
  }

  /** Makes changed keys of an object differ from all its other keys, but those that were equal before. */
  #tellKeysApart({ keys, changedKeys }: Frame, to: number): void {
    const bytes = this.#bytes;
    const patched = this.patch.upTo(to);
    const changed = function* () {
      for (let i = 0; i < changedKeys.length; i += 4) {
        const [from = 0, end = 0, place = 0, placeEnd = 0] = changedKeys.slice(i, i + 4);
        yield { received: bytes.subarray(from, end), changed: patched.subarray(place, placeEnd) };
      }
    };
    const others = function* () {
      for (let i = 0; i < keys.length; i += 2) yield bytes.subarray(keys[i], keys[i + 1]);
    };
    for (const [i, suffix] of suffixes(changed(), others()).entries())
      if (suffix !== undefined) this.patch.insert((changedKeys[i * 4 + 3] ?? 0) - 1, suffix);
  }
}

const growthBy = ({ what, from, to }: StringFault): number =>
  what === 'utf8' ? 3 - (to - from) : 0;

/** Says in a string that it is not whole. */
const cutMark = (bytes: number): Buffer => Buffer.from(`… (cut by daywalk, ${bytes} bytes)`);
