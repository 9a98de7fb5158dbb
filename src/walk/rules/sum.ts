/** Do the parts of a split add up? One pure function of what they hold and of what their window tells (docs/completeness.md C9). */
import type { SplitParts } from '../../store/splits.ts';
import { isExact, type Learned } from './verdict.ts';

/** What a split window tells of itself, when its parts and cuts are complete. */
export interface WholeTold {
  /** It shows records. */
  readonly shows: boolean;
  /** It cannot be had whole. */
  readonly refused: boolean;
  /** Null: it tells none. */
  readonly total: number | null;
  /** The total says itself that there may be more. */
  readonly lowerBound: boolean;
  /** It shows records without a total, which others of its source tell. */
  readonly totalMissing: boolean;
}

/** What a split rests on. */
export interface SplitEvidence extends WholeTold, Pick<SplitParts, 'by'> {
  /** Records that the parts hold, with the corrections of the cuts between them. */
  readonly held: number;
  /** The total when it was split; null: there was none. */
  readonly toldAtSplit: number | null;
  /** What lies across each of the cuts was told: nothing stands unseen between the parts. By level there are none. */
  readonly cutsTold: boolean;
}

/**
 * equal: an exact total says that they are all; covered: there is none, and nothing tells of more; doubtful: covered, where no part's own
 * total has moved; above: they hold more than an exact total, which is too low or of another moment; short: they do not add up.
 */
export type Sum = 'equal' | 'covered' | 'doubtful' | 'above' | 'short';

/**
 * Holds the parts against the whole.
 * For the same parts, a higher total, or a total less, never makes `equal` or `covered` what was `short`.
 */
export function judgeSum(evidence: SplitEvidence, learned: Learned): Sum {
  const { by, held, total, toldAtSplit, totalMissing } = evidence;
  if (total !== null && !evidence.lowerBound && isExact(total, learned)) {
    if (total === held) return 'equal';
    const isBelow = total < held && evidence.shows && by === 'time' && evidence.cutsTold;
    return isBelow ? 'above' : 'short';
  }
  const before = toldAtSplit ?? 0;
  if (!evidence.cutsTold || (total ?? 0) > held || (totalMissing && before >= held)) return 'short';
  return totalMissing || (evidence.refused && before > held) ? 'doubtful' : 'covered';
}
