/** Memory for the bodies of pages, used again and again: what large pages leave behind costs the collector more than all other work. */
import type { PageMemory } from '../model.ts';

/** Below this Node has memory at hand. */
const SMALLEST = 4_096;
/** Memory is made a little larger than asked for, so that the next page, about as large, fits too. */
const GRAIN = 65_536;
/** So many bytes are kept while nobody uses them: a dozen pages of 1,000 large records. */
const KEPT = 32 * 1024 * 1024;

/** The memory of one run; it is gone with it. */
export class ReusedMemory implements PageMemory {
  readonly #most: number;
  readonly #free: ArrayBuffer[] = [];
  #freeBytes = 0;
  readonly #lent = new WeakSet<ArrayBufferLike>();

  /** @param most so many bytes are kept while nobody uses them. */
  constructor(most = KEPT) {
    this.#most = most;
  }

  take(bytes: number): Buffer {
    if (bytes < SMALLEST) return Buffer.allocUnsafe(bytes);
    const at = this.#free.findIndex(
      ({ byteLength }) => byteLength >= bytes && byteLength <= 2 * bytes + GRAIN,
    );
    const [kept] = at < 0 ? [] : this.#free.splice(at, 1);
    this.#freeBytes -= kept?.byteLength ?? 0;
    const memory = kept ?? new ArrayBuffer(Math.ceil((bytes * 9) / 8 / GRAIN) * GRAIN);
    this.#lent.add(memory);
    return Buffer.from(memory, 0, bytes);
  }

  giveBack({ buffer }: Buffer): void {
    // What is not from here may be a part of something else; what was given back already may be in use again.
    if (!(buffer instanceof ArrayBuffer) || !this.#lent.delete(buffer)) return;
    this.#free.push(buffer);
    this.#freeBytes += buffer.byteLength;
    // The oldest go: pages of another size are asked for now.
    while (this.#freeBytes > this.#most) this.#freeBytes -= this.#free.shift()?.byteLength ?? 0;
  }
}
