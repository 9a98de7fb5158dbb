/** Deterministic chance: numbers that depend only on a seed and a place, so that every run sees the same records. */

/** Mixes integers into 32 well-spread bits (the finaliser of MurmurHash3 after each step). */
export function mix(seed: number, ...places: readonly number[]): number {
  let hash = seed | 0;
  for (const place of places) {
    hash = Math.imul(hash ^ (place | 0), 0x85ebca6b);
    // The high word counts too: places may be larger than 32 bits.
    hash = Math.imul(hash ^ (hash >>> 13) ^ Math.floor(place / 0x1_0000_0000), 0xc2b2ae35);
    hash ^= hash >>> 16;
  }
  return hash >>> 0;
}

/** The same, as a number in [0, 1). */
export function mixFraction(seed: number, ...places: readonly number[]): number {
  return mix(seed, ...places) / 0x1_0000_0000;
}

/** Turns any seed text into the integer that the others take. */
export function seedNumber(seed: string | number): number {
  let hash = 0x811c9dc5;
  for (const character of String(seed)) {
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  }
  return mix(hash, 1);
}

/** A sequence of chances that is the same for the same seed (mulberry32). */
export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** The next number in [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let hash = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    hash = (hash + Math.imul(hash ^ (hash >>> 7), 61 | hash)) ^ hash;
    return ((hash ^ (hash >>> 14)) >>> 0) / 0x1_0000_0000;
  }

  /** A whole number from 0 to `limit - 1`. */
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  /** One of `choices`, which must not be empty. */
  pick<Choice>(choices: readonly Choice[]): Choice {
    return choices[this.below(choices.length)] as Choice;
  }

  /** Shuffles `items[first..end)` in place. */
  shuffle(items: { [index: number]: unknown }, first: number, end: number): void {
    for (let last = end - 1; last > first; last--) {
      const other = first + this.below(last - first + 1);
      const kept = items[last];
      items[last] = items[other];
      items[other] = kept;
    }
  }
}
