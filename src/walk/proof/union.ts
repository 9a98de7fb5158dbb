/** Unions: where one question is answered in different ways, single pages are asked for until chance cannot hide a record any more (docs/completeness.md C7). */
import type { Proof } from '../../model.ts';
import { countUnion } from '../../store/evidence/agreement.ts';
import type { EndedWalk } from '../../store/evidence/evidence.ts';
import { unsettled } from '../failures.ts';
import { walkOnce } from '../once.ts';
import type { Walks, WindowContext, WindowEnd } from '../questions/context.ts';
import { CHANCE } from '../questions/knowledge.ts';
import { isDivisible } from '../questions/span.ts';
import { isExact, isRound, LEAST_CAP, mostShown, mostTold, saysMore } from '../rules/verdict.ts';
import { publish } from './publishing.ts';
import { splitUp } from './splitting.ts';

const MOST_WALKS = 30;
/** A page that is cut short is so each time. */
const LOOKED_BEHIND = 2;
const LEAST_SHARE = 0.5;
const LARGEST_SHARE = 0.95;

/** The walks of one page that count. */
export const singlePages = (wholes: Walks) =>
  wholes.filter(({ outcome, end, pages }) => outcome === 'ended' && end === 'open' && pages === 1);

/**
 * Looks at the single-page walks of a window so far; publishes what they hold together, or splits it.
 * @returns 'again': another one is needed. null: look again.
 * @throws {WalkError} `unsettled` where no further one will do.
 */
export async function proveByUnion(
  context: WindowContext,
  wholes: Walks,
): Promise<WindowEnd | 'again' | null> {
  const { database, knowledge } = context;
  const passes = singlePages(wholes);
  const most = Math.max(0, ...passes.map(({ stored }) => stored));
  const heard = passes.flatMap(({ claims }) => claims);
  const told = mostTold(heard);
  const split = (reason: string) => splitUp(context, reason, most);
  const mayBeSplit = isDivisible(context);
  const length = knowledge.pageLength(context.pageLength);
  const full = passes.some(
    (pass) => pass.stored >= Math.min(pass.pageLength, length) && pass.stored > 0,
  );
  const isCut = passes.some((pass, index) => isCutShort(pass, passes.slice(index + 1)));
  if ((full || isCut) && mayBeSplit)
    return split('the order does not hold, and it is more than a page');
  const { calibrated } = knowledge.learned;
  // Pages may show the same part of it each time: without a total nothing would tell.
  if (isCut && calibrated === 0)
    throw unsettled(
      `the order does not hold, and a page shows ${most} of more records, of a span that cannot be divided by time`,
    );
  const ids = passes.map(({ walkId }) => walkId);
  const records = await countUnion(database, ids);
  // Totals may stop at a round number, or below what was shown.
  const isBound =
    (records > calibrated && isRound(records)) ||
    wholes.some(({ claims }) => mostShown(claims) > records);
  const counted = told === records && !isBound && isExact(told, knowledge.learned);
  const idle = saysMore(heard, most) ? 0 : await idleOf(context, ids, records);
  if (idle > 0 && records >= told && (counted || isUnlikelyToGrow(passes, records, idle))) {
    const capped = records >= LEAST_CAP && records >= knowledge.largestAnswer && !counted;
    if (!capped && (calibrated === 0 || counted))
      return publish(
        context,
        { ...(passes.at(-1) as EndedWalk), heard },
        unionProof(passes, records, counted),
      );
    if (capped && mayBeSplit)
      return split(`the union of ${ids.length} walks is as large as any answer`);
  }
  if (passes.length >= MOST_WALKS || wholes.length >= MOST_WALKS * 2) {
    if (mayBeSplit) return split(`${ids.length} walks do not settle`);
    throw unsettled(
      `${ids.length} walks do not settle: together they hold ${records} records${told > records ? `, where the total says ${told}` : ''}`,
      'The source answers one question in different ways: replicas that differ, or an order by chance.',
    );
  }
  return 'again';
}

/** One more page, of another length than the one before. @returns null: look again. @throws {WalkError} as {@link walkOnce}. */
export async function walkOnePage(context: WindowContext, wholes: Walks): Promise<null> {
  const { length } = singlePages(wholes);
  const most = context.knowledge.pageLength(context.pageLength);
  const pageLength = Math.max(2, most - (length % 3));
  const onePage = length < LOOKED_BEHIND ? 'first' : 'another';
  const page = { role: 'whole', span: context.window, earlier: [], manner: { onePage } } as const;
  await walkOnce({ ...context, pageLength }, page);
  return null;
}

/** How many of the newest walks added nothing. */
async function idleOf(
  { database }: WindowContext,
  ids: readonly number[],
  records: number,
): Promise<number> {
  let idle = 0;
  while (
    idle < ids.length - 1 &&
    (await countUnion(database, ids.slice(0, ids.length - 1 - idle))) === records
  )
    idle += 1;
  return idle;
}

/** So many walks in a row added nothing that, by the share of those that lacked something, chance is no explanation. */
function isUnlikelyToGrow(passes: Walks, records: number, idle: number): boolean {
  const lacking = passes.filter((pass) => pass.stored < records || isShownBehind(pass)).length;
  const share = Math.min(LARGEST_SHARE, Math.max(LEAST_SHARE, (lacking + 1) / (passes.length + 2)));
  return share ** idle < CHANCE;
}

/** A record was shown behind its page. */
const isShownBehind = ({ claims, stored }: EndedWalk): boolean => mostShown(claims) > stored;

/** It does not go on because the list has grown: then the next page would have had more. */
const isCutShort = (pass: EndedWalk, later: Walks): boolean =>
  isShownBehind(pass) && later.length > 0 && later.every(({ stored }) => stored <= pass.stored);

function unionProof(passes: Walks, records: number, counted: boolean): Proof {
  return {
    kind: 'union',
    rule: 'C7',
    records,
    why: `${passes.length} walks together hold ${records} records${counted ? ', which is the total' : ''}, and the last of them added none`,
    ...(counted ? { total: records } : {}),
    unites: passes.slice(0, -1).map(({ walkId }) => walkId),
  };
}
