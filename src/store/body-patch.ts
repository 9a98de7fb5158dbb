/** A copy of bytes in which single stretches are replaced from front to back; the rest is copied as it is. */

/** Where a patch stood, to go back to. */
export interface PatchMark {
  readonly length: number;
  readonly copied: number;
  readonly insertions: number;
}

interface Insertion {
  /** Offset in the copy, as long as nothing is inserted. */
  readonly at: number;
  readonly text: string;
}

/** The copy when all is done. */
export interface Patched {
  readonly bytes: Buffer;
  /** Where a place has come to by what was inserted before it. */
  placeOf(place: number): number;
}

/** Below this a loop copies faster than a call into the runtime. */
const SHORT = 32;

/** The copy grows with the replacements, so that millions of them take no objects. */
export class Patch {
  readonly #source: Buffer;
  #copy = Buffer.alloc(0);
  #length = 0;
  /** How much of the source is in the copy. */
  #copied = 0;
  #insertions: Insertion[] = [];

  constructor(source: Buffer) {
    this.#source = source;
  }

  /** Replaces `from` to `to` of the source, which is behind everything replaced so far. */
  replace(from: number, to: number, text: Uint8Array): void {
    this.#append(this.#source, this.#copied, from);
    this.#append(text, 0, text.length);
    this.#copied = to;
  }

  /** Where the byte at `at` of the source, which is behind everything replaced so far, comes to be in the copy. */
  placeOf(at: number): number {
    return this.#length + at - this.#copied;
  }

  /** Puts `text` at a place of the copy when everything else is done; places do not move by it. */
  insert(at: number, text: string): void {
    this.#insertions.push({ at, text });
  }

  /** The copy up to where the source is at `to`; valid until the next change. */
  upTo(to: number): Buffer {
    if (to > this.#copied) {
      this.#append(this.#source, this.#copied, to);
      this.#copied = to;
    }
    return this.#copy.subarray(0, this.#length);
  }

  mark(): PatchMark {
    return { length: this.#length, copied: this.#copied, insertions: this.#insertions.length };
  }

  /** Forgets everything since `mark`. */
  rewind(mark: PatchMark): void {
    this.#length = mark.length;
    this.#copied = mark.copied;
    this.#insertions.length = mark.insertions;
  }

  /** The whole copy, with what was to be inserted. */
  finish(): Patched {
    const copy = this.upTo(this.#source.length);
    const insertions = this.#insertions.sort((a, b) => a.at - b.at);
    if (insertions.length === 0) return { bytes: copy, placeOf: (place) => place };
    const added = insertions.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
    const bytes = Buffer.allocUnsafe(copy.length + added);
    let from = 0;
    let length = 0;
    /** For each insertion, by how many bytes it and those before it move what follows. */
    const moved = insertions.map(({ at, text }) => {
      length += copy.copy(bytes, length, from, at);
      length += bytes.write(text, length);
      from = at;
      return length - at;
    });
    copy.copy(bytes, length, from);
    return { bytes, placeOf: (place) => place + (moved[lastUpTo(insertions, place)] ?? 0) };
  }

  #append(bytes: Uint8Array, from: number, to: number): void {
    const size = to - from;
    const end = this.#length + size;
    if (end > this.#copy.length) {
      const left = this.#source.length - this.#copied;
      const grown = Buffer.allocUnsafe(Math.max(end + left, Math.ceil(this.#copy.length * 1.5)));
      grown.set(this.#copy.subarray(0, this.#length));
      this.#copy = grown;
    }
    if (size < SHORT)
      for (let i = 0; i < size; i += 1) this.#copy[this.#length + i] = bytes[from + i] as number;
    else this.#copy.set(bytes.subarray(from, to), this.#length);
    this.#length = end;
  }
}

/** The index of the last insertion at or before `place`, or -1. */
function lastUpTo(insertions: readonly Insertion[], place: number): number {
  let below = -1;
  let above = insertions.length;
  while (above - below > 1) {
    const middle = (below + above) >> 1;
    if ((insertions[middle]?.at ?? place) <= place) below = middle;
    else above = middle;
  }
  return below;
}
