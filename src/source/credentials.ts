/** Keys in use, their renewal when rotated ones were refused, and what must never be shown. */
import { isDeepStrictEqual } from 'node:util';
import type { Redactor } from '../redactor.ts';

/** So many of the last keys are looked for in answers and struck out of what is written: each look costs time for each page. */
const MOST_KEYS = 4;

/** The keys of one service, read again where they are refused. */
export class Credentials<Keys> {
  readonly #redactor: Redactor;
  readonly #read: () => Promise<Keys>;
  readonly #secretsOf: (keys: Keys) => readonly string[];
  #current: Keys | undefined;
  /** The secrets of the newest keys, the present ones last. */
  #newest: (readonly string[])[] = [];

  /**
   * @param redactor is told of every secret.
   * @param read reads the keys, again and again, from where they come.
   * @param secretsOf the secrets of some keys; throws for what no header can carry.
   */
  constructor(
    redactor: Redactor,
    read: () => Promise<Keys>,
    secretsOf: (keys: Keys) => readonly string[],
  ) {
    this.#redactor = redactor;
    this.#read = read;
    this.#secretsOf = secretsOf;
  }

  /** @throws what reading them throws, the first time. */
  async current(): Promise<Keys> {
    return this.#current ?? this.take(await this.#read());
  }

  /** The secrets of the newest keys: an answer may still hold one that was rotated just now. */
  newest(): readonly string[] {
    return this.#newest.flat();
  }

  /** Takes keys into use. @throws what `secretsOf` throws. */
  take(keys: Keys): Keys {
    const secrets = this.#secretsOf(keys);
    this.#redactor.add(...secrets);
    const all = [...this.#newest.filter((known) => !isDeepStrictEqual(known, secrets)), secrets];
    this.#newest = all.slice(-MOST_KEYS);
    const kept = this.newest();
    this.#redactor.forget(...all.flat().filter((secret) => !kept.includes(secret)));
    this.#current = keys;
    return keys;
  }

  /**
   * Looks for other keys after `refused` were refused.
   * @returns whether there are some now; false where none can be read: the refusal itself is what has to be told.
   */
  async renew(refused: Keys): Promise<boolean> {
    const isOther = (keys: Keys | undefined) => !isDeepStrictEqual(keys, refused);
    // Another request may have renewed them meanwhile.
    if (isOther(this.#current)) return true;
    const fresh = await this.#read().catch(() => refused);
    try {
      if (isOther(fresh)) this.take(fresh);
    } catch {
      // None that can be sent.
    }
    return isOther(this.#current);
  }
}

/** Visible ASCII only: a line break in a header value is an injection, and some clients print it in the error. */
export const fitsHeader = (key: string): boolean => /^[\x21-\x7e]+$/.test(key);
