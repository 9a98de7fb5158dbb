/** The days that a person chose with `--from` and `--to`. */

import type { Day } from '../model.ts';
import { parseDay, parseRange } from '../settings/values/day.ts';
import type { Invocation } from './verb.ts';

/** Either end may be open. */
export function rangeOf({ from, to }: Invocation['options']): { from: Day | null; to: Day | null } {
  if (from !== undefined && to !== undefined) return parseRange(String(from), String(to));
  return {
    from: from === undefined ? null : parseDay(String(from), 'flag --from'),
    to: to === undefined ? null : parseDay(String(to), 'flag --to'),
  };
}
