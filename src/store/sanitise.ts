/** Makes a body that `jsonb` refuses into one that it takes, changes as little as possible, and says what and where. */
import { type Change, encodingChanges, MOST_LISTED } from './body-changes.ts';
import { LIMITS, type Limits } from './body-limits.ts';
import { Rewriting } from './body-rewriting.ts';
import { textOf } from './body-text.ts';
import { scanJson } from './json-scan.ts';

export type { Change, Fault } from './body-changes.ts';
export { LIMITS, type Limits } from './body-limits.ts';

/** A body that `jsonb` takes. */
export interface Sanitised {
  /** The received Buffer itself where nothing had to be changed. */
  readonly body: Buffer;
  /** In the order of the body; the first 1,000. */
  readonly changes: readonly Change[];
  /** How many there are. */
  readonly changeCount: number;
}

/**
 * Changes what `jsonb` cannot hold: a byte order mark goes, UTF-16 becomes UTF-8; invalid UTF-8, U+0000 and lone
 * surrogates become U+FFFD; numbers become strings; what is too deep or too large becomes a string with its beginning.
 * Everything else is copied byte for byte, so the records stay as many as they were, in their order.
 * @throws EnvelopeError where the body is not JSON.
 * @throws TooLargeError where the record list or a record is too large itself. Where the list is is not known here, so
 *   this holds for each list that is in no other one, for what is directly in it, and for the objects around it.
 */
export function sanitise(body: Buffer, limits: Partial<Limits> = {}): Sanitised {
  const text = textOf(body);
  const all = { ...LIMITS, ...limits };
  const rewrite = (mostGrowth: number): Rewriting => {
    const rewriting = new Rewriting(text, all, mostGrowth);
    scanJson(text, rewriting);
    return rewriting;
  };
  let rewriting = rewrite(Number.POSITIVE_INFINITY);
  const most = growthToAllow(rewriting.growths, all);
  if (most !== undefined) rewriting = rewrite(most);
  const { patch, changes } = rewriting;
  const encoding = encodingChanges(text);
  const changeCount = encoding.length + changes.count;
  if (changeCount === 0) return { body, changes: [], changeCount };
  const patched = patch.finish();
  const told = [...encoding, ...changes.tell(body, text, patched)].slice(0, MOST_LISTED);
  return { body: patched.bytes, changes: told, changeCount };
}

/** By how many digits a number may grow, so that all together stay in the limits; undefined: as it likes. */
function growthToAllow(growths: Float64Array, limits: Limits): number | undefined {
  const bombs = growths.at(-1) ?? 0;
  let sum = growths.reduce((all, growth) => all + growth, 0);
  if (bombs <= limits.bombs && sum <= limits.growth) return undefined;
  let most = limits.bomb;
  for (sum -= bombs; sum > limits.growth; most -= 1) sum -= growths[most] ?? 0;
  return most;
}
