/** Keys of one object that would become equal by a change get names of their own, for `jsonb` keeps one of equal keys. */
import { isUtf8 } from 'node:buffer';

/** A key that was changed. */
export interface ChangedKey {
  /** As received, quotes included. */
  readonly received: Buffer;
  /** As changed, quotes included. */
  readonly changed: Buffer;
}

/**
 * What to put behind each of the `changed` keys of an object; nothing for most.
 * Keys that were equal when they were received stay equal: `jsonb` folds those, whether changed or not.
 * @param others the other keys of the object, quotes included.
 */
export function suffixes(
  changed: Iterable<ChangedKey>,
  others: Iterable<Buffer>,
): (string | undefined)[] {
  const taken = new Set<string>();
  for (const other of others) taken.add(textOf(other));
  /** For each key as received, what was put behind it. */
  const given = new Map<string, string>();
  /** For each key as changed, the last number that was tried. */
  const tried = new Map<string, number>();
  return Array.from(changed, (key) => {
    const identity = isUtf8(key.received) ? textOf(key.received) : key.received.toString('latin1');
    let suffix = given.get(identity);
    if (suffix === undefined) {
      const text = textOf(key.changed);
      suffix = '';
      for (let number = tried.get(text) ?? 0; taken.has(text + suffix); ) {
        number += 1;
        tried.set(text, number);
        suffix = number === 1 ? MARK : `${MARK}${number}`;
      }
      taken.add(text + suffix);
      given.set(identity, suffix);
    }
    return suffix === '' ? undefined : suffix;
  });
}

const MARK = '\ufffd';

const textOf = (key: Buffer): string => JSON.parse(key.toString('utf8')) as string;
