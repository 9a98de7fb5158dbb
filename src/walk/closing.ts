/** Closing a split: its parts and their cuts must add up to its total, asked again at the end (docs/completeness.md C9). */
import { WalkError } from '../errors.ts';
import type { Proof } from '../model.ts';
import type { LeasedWindow } from '../store/leases.ts';
import { closeSplit, readSplit, replanParts, type SplitParts } from '../store/splits.ts';
import type { WindowContext, WindowEnd } from './context.ts';
import { question } from './questions.ts';

/** Leases of a split window that did not close it; then it has failed. */
const ATTEMPTS = 4;

/**
 * Closes a split window whose parts are complete, or says which of them are walked again.
 * @throws {WalkError} with the numbers, where they do not add up: then none of it is complete.
 */
export async function closeWindow(
  context: WindowContext,
  window: LeasedWindow,
): Promise<WindowEnd> {
  const { database, knowledge } = context;
  const split = await readSplit(database, window);
  if (split === null)
    throw new WalkError('contradicted', 'it was split, and its parts are not there');
  const { total } = await question(context, window, 0, 1);
  const { calibrated, lowerBoundFrom } = knowledge.learned;
  const records = sumOf(split);
  const exact =
    calibrated > 0 && total !== null && (lowerBoundFrom === null || total < lowerBoundFrom);
  const addsUp = total === null || (exact ? total === records : total <= records);
  if (exact && total < records && split.cuts.length > 0 && split.cutsAsked) {
    // Parts that were proven each hold more than the total: it is a lower bound from there on.
    await knowledge.learn(
      'lower_bound',
      total,
      `${window.from} to ${window.to} told ${total}, and its parts hold ${records}`,
    );
  } else if (!addsUp) return notYet(context, window, split, total ?? 0, records);
  if (split.by === 'level' && (!exact || total !== records))
    throw new WalkError(
      'contradicted',
      `split by level, its parts hold ${records} records, and nothing shows that no record lacks a level`,
    );
  await context.checkKnown();
  const proof: Proof = {
    kind: 'parts',
    rule: 'C9',
    records,
    why: `${split.parts.length} parts${split.cuts.length === 0 ? '' : ` and ${split.cuts.length} cuts`} hold ${records} records${total === null ? '' : `, and the total says ${exact ? '' : 'at least '}${total}`}`,
    ...(total === null ? {} : { total }),
    calibrated: exact && total === records,
  };
  await closeSplit(database, window, proof);
  return { kind: 'complete', proof };
}

/** What the parts and the corrections of their cuts hold. */
function sumOf({ parts, cuts }: SplitParts): number {
  const corrections = cuts.reduce((sum, { added, removed }) => sum + added - removed, 0);
  return parts.reduce((sum, { records }) => sum + records, corrections);
}

/** Cuts that were not asked are; parts whose own totals moved are walked again; where neither is left, it has failed. */
async function notYet(
  context: WindowContext,
  window: LeasedWindow,
  split: SplitParts,
  total: number,
  records: number,
): Promise<WindowEnd> {
  const { database } = context;
  const numbers = `its ${split.parts.length} parts hold ${records} records, and the total says ${total}`;
  const again = (parts: readonly number[], cuts: readonly string[]) =>
    replanParts(database, window, { parts, cuts });
  const told: WindowEnd = {
    kind: 'split',
    by: split.by,
    parts: split.parts.length,
    reason: numbers,
  };
  if (split.by === 'time' && !split.cutsAsked) {
    await again(
      [],
      split.parts.slice(0, -1).map(({ to }) => to),
    );
    return told;
  }
  if (window.attempts <= ATTEMPTS) {
    const moved: number[] = [];
    for (const part of split.parts)
      if ((await question(context, part, 0, 1)).total !== part.records) moved.push(part.windowId);
    if (moved.length > 0) {
      await again(moved, []);
      return told;
    }
  }
  throw new WalkError('contradicted', `split by ${split.by}, ${numbers}`);
}
