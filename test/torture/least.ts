/** The least requests with which anybody could have had the records: full pages only, and one for an empty day. */

import type { Simulator } from '../../simulator/simulator.ts';
import { daysBetween } from '../../src/plan/days.ts';
import type { Case } from './case.ts';
import type { Range } from './truth.ts';

/** Page length of the trials, where a case does not say another. */
const PAGE_LENGTH = 100;

export function leastRequests(testCase: Case, simulator: Simulator, range: Range): number {
  const { clamp, maxLength } = simulator.switches;
  const length = Math.min(
    testCase.options?.pageLength ?? PAGE_LENGTH,
    clamp ?? Infinity,
    maxLength?.limit ?? Infinity,
  );
  return daysBetween(range.from, range.to).reduce((sum, day) => {
    const { resource } = range;
    const count = simulator.count({ resource, from: `${day} 00:00:00`, to: `${day} 23:59:59` });
    return sum + Math.max(1, Math.ceil(count / length));
  }, 0);
}
