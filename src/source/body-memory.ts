/** Memory for bodies, lent again once their pages are stored: what is given back to V8 costs a quarter of a worker's time (docs/decisions/0017). */

/** Below this Node has memory at hand. */
const SMALLEST = 4_096;
/** So many bytes are kept while nobody uses them: a dozen pages of 1,000 large records. */
const KEPT = 32 * 1024 * 1024;

/** The memory of one source; it is gone with it. */
export class BodyMemory {
  readonly #most: number;
  readonly #free: Buffer[] = [];
  readonly #lent = new WeakSet<Buffer>();

  /** @param most so many bytes are kept while nobody uses them. */
  constructor(most = KEPT) {
    this.#most = most;
  }

  /** At least so many bytes, of any content; a little more is made, so that the next body, about as large, fits too. */
  take(bytes: number): Buffer {
    if (bytes < SMALLEST) return Buffer.allocUnsafe(bytes);
    const at = this.#free.findIndex(({ length }) => length >= bytes && length <= 3 * bytes);
    const [kept] = at < 0 ? [] : this.#free.splice(at, 1);
    const memory = kept ?? Buffer.allocUnsafeSlow(Math.ceil((bytes * 9) / 8));
    this.#lent.add(memory);
    return memory;
  }

  /** Takes back what it lent; what was given back already may be in use again. */
  giveBack(memory: Buffer): void {
    if (!this.#lent.delete(memory)) return;
    this.#free.push(memory);
    // The oldest go: bodies of another size are asked for now.
    while (this.#free.reduce((sum, { length }) => sum + length, 0) > this.#most) this.#free.shift();
  }
}
