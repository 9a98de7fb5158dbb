/** Memory for the bodies of pages, used again and again: what large pages leave behind costs the collector more than all other work. */
import type { PageMemory } from '../model.ts';

/** Below this Node has memory at hand. */
const SMALLEST = 4_096;
/** Memory is made a little larger than asked for, so that the next page, about as large, fits too. */
const GRAIN = 65_536;

/** The memory of one run; it is gone with it. */
export class ReusedMemory implements PageMemory {
  readonly #most: number;
  readonly #free: ArrayBuffer[] = [];
  readonly #lent = new WeakSet<ArrayBufferLike>();

  /** @param most as many pieces as this are kept while nobody uses them. */
  constructor(most: number) {
    this.#most = most;
  }

  take(bytes: number): Buffer {
    if (bytes < SMALLEST) return Buffer.allocUnsafe(bytes);
    const at = this.#free.findIndex(
      ({ byteLength }) => byteLength >= bytes && byteLength <= 2 * bytes + GRAIN,
    );
    const [kept] = at < 0 ? [] : this.#free.splice(at, 1);
    const memory = kept ?? new ArrayBuffer(Math.ceil((bytes * 9) / 8 / GRAIN) * GRAIN);
    this.#lent.add(memory);
    return Buffer.from(memory, 0, bytes);
  }

  giveBack({ buffer }: Buffer): void {
    // What is not from here may be a part of something else; what was given back already may be in use again.
    if (!(buffer instanceof ArrayBuffer) || !this.#lent.delete(buffer)) return;
    this.#free.push(buffer);
    // The oldest goes: pages of another size are asked for now.
    if (this.#free.length > this.#most) this.#free.shift();
  }
}
