/** The API key in use, its renewal when a rotated one was refused, and what must never be shown. */
import { SettingsError } from '../errors.ts';
import type { Redactor } from '../redactor.ts';

export interface Credentials {
  current(): string;
  /** The newest keys: an answer may still hold one that was rotated just now. */
  keys(): readonly string[];
  /** Every secret, these keys among them. */
  secrets(): readonly string[];
  /**
   * Looks for another key after `refused` was refused.
   * @returns whether there is one now; false where none can be read: the refusal itself is what has to be told.
   */
  renew(refused: string): Promise<boolean>;
}

/** So many of the last keys are looked for in answers and struck out of what is written: each look costs time for each page. */
const MOST_KEYS = 4;

/**
 * @param refresh reads the key again from where it came; absent where it cannot change.
 * @param redactor is told of every key.
 * @throws SettingsError for a key that no header can carry.
 */
export function openCredentials(
  key: string,
  refresh: (() => Promise<string | undefined>) | undefined,
  redactor: Redactor,
): Credentials {
  if (!fitsHeader(key))
    throw new SettingsError('the API key is empty or holds a space or a non-ASCII character', {
      hint: 'a line break at the end of the key file is the usual reason; the key is not shown here',
    });
  let keys: readonly string[] = [key];
  let current = key;
  redactor.add(key);
  return {
    current: () => current,
    keys: () => keys,
    secrets: redactor.secrets,
    renew: async (refused) => {
      // Another request may have renewed it meanwhile.
      if (current !== refused) return true;
      const fresh = await refresh?.().catch(() => undefined);
      if (fresh === undefined || fresh === refused || !fitsHeader(fresh))
        return current !== refused;
      redactor.add(fresh);
      const all = [...keys.filter((known) => known !== fresh), fresh];
      redactor.forget(...all.slice(0, -MOST_KEYS));
      keys = all.slice(-MOST_KEYS);
      current = fresh;
      return true;
    },
  };
}

/** Visible ASCII only: a line break in a header value is an injection, and some clients print it in the error. */
function fitsHeader(key: string): boolean {
  return /^[\x21-\x7e]+$/.test(key);
}
