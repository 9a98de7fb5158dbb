/** Unions: where one question is answered in different ways, single pages are asked for until chance cannot hide a record any more (docs/completeness.md C7). */
import { WalkError } from '../errors.ts';
import type { Proof } from '../model.ts';
import { countUnion } from '../store/agreement.ts';
import type { EndedWalk } from '../store/evidence.ts';
import type { LeasedWindow } from '../store/leases.ts';
import type { WalkToPublish, WindowContext } from './context.ts';
import { CHANCE } from './knowledge.ts';
import { walkOnce } from './once.ts';
import { splitSpan } from './span.ts';
import { LEAST_CAP } from './verdict.ts';

const MOST_WALKS = 30;
/** Walks of which each brought more than the one before: smaller windows would grow as well. */
const GROWTHS = 6;
const LEAST_SHARE = 0.5;
const LARGEST_SHARE = 0.95;

/** What a union calls for. */
export type UnionEnd =
  | { readonly walk: WalkToPublish; readonly proof: Proof }
  | { readonly split: string; readonly size: number };

/**
 * Looks at the single-page walks of a window so far, and walks once more where they do not suffice.
 * @returns null: look again.
 */
export async function proveByUnion(
  context: WindowContext,
  window: LeasedWindow,
  wholes: readonly EndedWalk[],
): Promise<UnionEnd | null> {
  const { database, knowledge } = context;
  const passes = wholes.filter(
    ({ outcome, end, pages }) => outcome === 'ended' && end === 'open' && pages === 1,
  );
  const most = Math.max(0, ...passes.map(({ stored }) => stored));
  const told = Math.max(
    0,
    ...passes.flatMap(({ claims }) => claims.map(({ total }) => total ?? 0)),
  );
  const mayBeSplit = splitSpan(window, window, context, 2)?.by === 'time';
  const length = knowledge.pageLength(context.pageLength);
  const full = passes.some(
    (pass) => (pass.stored >= Math.min(pass.pageLength, length) && pass.stored > 0) || goesOn(pass),
  );
  if (full && mayBeSplit)
    return { split: 'the order does not hold, and it is more than a page', size: most };
  const ids = passes.map(({ walkId }) => walkId);
  const records = await countUnion(database, ids);
  const { calibrated } = knowledge.learned;
  const counted = calibrated > 0 && told === records;
  const idle = await idleOf(context, ids, records);
  if (idle > 0 && records >= told && (counted || isUnlikelyToGrow(passes, records, idle))) {
    const capped = records >= LEAST_CAP && records >= knowledge.largestAnswer && !counted;
    if (!capped && (calibrated === 0 || told === 0 || counted))
      return { walk: lastOf(passes), proof: unionProof(passes, records, counted) };
    if (capped && mayBeSplit)
      return { split: `the union of ${ids.length} walks is as large as any answer`, size: most };
  }
  if (passes.length >= GROWTHS && passes.every(isMoreThanBefore))
    throw new WalkError(
      'unsettled',
      `the list grows while it is walked: from ${passes[0]?.stored} to ${most} records in ${passes.length} walks`,
    );
  if (passes.length >= MOST_WALKS || wholes.length >= MOST_WALKS * 2) {
    if (mayBeSplit) return { split: `${ids.length} walks do not settle`, size: most };
    throw new WalkError(
      'unsettled',
      `the union of ${ids.length} walks holds ${records} records${told === 0 ? '' : `, where the total says ${told}`}`,
      {
        hint: 'The source answers one question in different ways: replicas that differ, or an order by chance.',
      },
    );
  }
  const manner = { audited: false, onePage: true, mostRecords: null };
  const shorter = [0, 1, 2][passes.length % 3] ?? 0;
  await walkOnce(
    { ...context, pageLength: Math.max(2, context.pageLength - shorter) },
    window,
    'whole',
    window,
    [],
    manner,
  );
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
function isUnlikelyToGrow(passes: readonly EndedWalk[], records: number, idle: number): boolean {
  const lacking = passes.filter((pass) => pass.stored < records || goesOn(pass)).length;
  const share = Math.min(LARGEST_SHARE, Math.max(LEAST_SHARE, (lacking + 1) / (passes.length + 2)));
  return share ** idle < CHANCE;
}

/** A record was shown behind its page. */
const goesOn = ({ claims, stored }: EndedWalk): boolean =>
  claims.some(({ start, came }) => came > 0 && start + came > stored);

const isMoreThanBefore = ({ stored }: EndedWalk, index: number, all: readonly EndedWalk[]) =>
  index === 0 || stored > (all[index - 1]?.stored ?? 0);

function lastOf(passes: readonly EndedWalk[]): WalkToPublish {
  const { walkId, stored, pages } = passes.at(-1) as EndedWalk;
  return { walkId, stored, pages, claims: [], heard: passes.flatMap(({ claims }) => claims) };
}

function unionProof(passes: readonly EndedWalk[], records: number, counted: boolean): Proof {
  return {
    kind: 'union',
    rule: 'C7',
    records,
    why: `${passes.length} walks together hold ${records} records${counted ? ', which is the total' : ''}, and the last of them added none`,
    ...(counted ? { total: records } : {}),
    unites: passes.slice(0, -1).map(({ walkId }) => walkId),
  };
}
