/** One window: walked until a walk is believed, until it is split, or until it has failed often enough to say why (DESIGN 5.2, 5.3, 5.5). */
import type { Clock } from '../clock.ts';
import { WalkError } from '../errors.ts';
import type { Logger } from '../log.ts';
import type { Proof, Stream } from '../model.ts';
import { partsWanted, type Split, secondsOf } from '../plan/split.ts';
import { readDifference } from '../store/differences.ts';
import { readEarlierWalks } from '../store/evidence.ts';
import type { Claim } from '../store/leases.ts';
import { BrokenChainError, endWalk, type OpenWalk, publishWalk } from '../store/walks.ts';
import { splitWindow } from '../store/windows.ts';
import { mostRecords, totalNarrows } from './large.ts';
import { type Move, needsHalves, nextMove } from './moves.ts';
import { openFirst, openOrResume } from './opening.ts';
import { cut, targetOf, walkedSpan } from './span.ts';
import { Walk, type WalkContext, type WalkEnd } from './walk.ts';

/** What walking a window needs besides what a walk needs. */
export interface WindowContext extends WalkContext {
  readonly clock: Clock;
  readonly log: Logger;
  readonly stream: Stream;
  readonly timeZone: string;
  readonly pageLength: number;
  /** A window whose total is larger is split before it is walked; absent: none is. */
  readonly windowRecords?: number;
  /** How many walks a window gets before it fails. */
  readonly walkAttempts: number;
  readonly recheckDays: number;
}

/** What became of a window. */
export type WindowEnd =
  | { readonly kind: 'complete'; readonly proof: Proof }
  | {
      readonly kind: 'split';
      readonly by: 'time' | 'level';
      readonly parts: number;
      readonly reason: string;
    };

/** A window that no worker can get past is left alone after this many claims without a stored page (FAULTS R09). */
const FRUITLESS_CLAIMS = 10;

/**
 * Walks a claimed window to a published walk, or splits it.
 * @throws {WalkError} with the numbers, when no walk could be proven; what fetching and storing throw.
 */
export async function walkWindow(context: WindowContext, claim: Claim): Promise<WindowEnd> {
  if (claim.attempts > FRUITLESS_CLAIMS)
    throw new WalkError(
      'fruitless',
      `claimed ${claim.attempts} times without storing a page: its workers end before they finish one`,
    );
  const halves = cut(claim, context.stream, context.timeZone, 2);
  if (!claim.walked) {
    // Nobody else can have walked it since it was claimed (I2): there is nothing to read before its first walk.
    const end = await walkOnce(context, claim, halves, await openFirst(context, claim));
    if (end !== null) return end;
  }
  for (;;) {
    const earlier = await readEarlierWalks(context.database, claim);
    const move = await nextMove(context, claim, earlier, halves);
    const end = await make(context, claim, halves, move);
    if (end !== null) return end;
  }
}

/** @returns what became of the window; null: look at the walks again. */
async function make(
  context: WindowContext,
  claim: Claim,
  halves: Split | null,
  move: Move,
): Promise<WindowEnd | null> {
  switch (move.kind) {
    case 'walk':
      return walkOnce(context, claim, halves, await openOrResume(context, claim, move.span));
    case 'publish':
      return publish(context, claim, move.walk, move.proof, 0);
    case 'split':
      return splitUp(context, claim, move);
  }
}

/** Walks once. */
async function walkOnce(
  context: WindowContext,
  claim: Claim,
  halves: Split | null,
  walk: OpenWalk,
): Promise<WindowEnd | null> {
  const target = targetOf(context.stream, walkedSpan(claim, halves, walk.span));
  // Walks for comparison bring nothing that readers will see.
  const quiet = { ...context, onPage: () => {} };
  const loud = { ...context, mostRecords: mostRecords(context, halves) };
  const pass = new Walk(walk.span === 'whole' ? loud : quiet, claim, target, walk);
  let end: WalkEnd;
  try {
    end = await pass.toEnd();
  } catch (error) {
    if (error instanceof BrokenChainError)
      return discarded(context, claim, walk.walkId, error, pass.requests);
    if (!(error instanceof WalkError)) throw error;
    if (
      error.fault === 'large' &&
      !(await totalNarrows(context, claim, halves, walk, pass.exactTotal))
    )
      return null;
    return ended(context, claim, walk, pass, error);
  }
  const plain =
    walk.span === 'whole' && end.pages < 2 && (claim.kind !== 'seam' || end.nextStart === 0);
  if (plain && !needsHalves(context, end.proof))
    return publish(context, claim, { walkId: walk.walkId, ...end }, end.proof, pass.requests);
  const outcome = {
    outcome: 'ended',
    reason: null,
    proof: end.proof,
    requests: pass.requests,
  } as const;
  await endWalk(context.database, claim, walk.walkId, outcome);
  return null;
}

/** A walk that met a fault: noted, and followed by another one, a split, or the window's failure. */
async function ended(
  context: WindowContext,
  claim: Claim,
  walk: OpenWalk,
  pass: Walk,
  error: WalkError,
): Promise<WindowEnd | null> {
  const again =
    error.fault === 'shifted' || (error.fault === 'empty-before-total' && pass.records === 0);
  await endWalk(context.database, claim, walk.walkId, {
    outcome: error.fault === 'shifted' ? 'shifted' : 'failed',
    reason: error.message,
    proof: null,
    requests: pass.requests,
  });
  context.log.info({ window: claim.from, walk: walk.number, fault: error.fault }, error.message);
  if (again) return null;
  if (error.fault === 'large')
    return splitUp(context, claim, {
      reason: error.message,
      total: pass.exactTotal,
      size: context.windowRecords ?? null,
    });
  if (!SPLITS.has(error.fault)) throw error;
  const deep = pass.cameDeep && context.memory.mayBeCap(pass.records);
  if (error.fault === 'empty-before-total' && !deep)
    throw new WalkError(
      error.fault,
      `${error.message}, and that is no depth at which paging would end`,
      {
        cause: error,
        hint: 'If this total counts something else than the records of the window, set total_path (or switch it off: none).',
      },
    );
  const size = context.memory.seen.offsetCap ?? pass.records;
  const remembered = error.fault === 'beyond-known-cap';
  const reason = error.message;
  if (walk.span !== 'whole')
    return splitUp(context, claim, { reason, total: null, size, remembered });
  if (error.fault === 'empty-before-total') context.memory.suspectCap(pass.records, error.message);
  return splitUp(context, claim, { reason, total: pass.exactTotal, size, remembered });
}

/** Faults that smaller windows may not meet. */
const SPLITS: ReadonlySet<string> = new Set(['capped', 'beyond-known-cap', 'empty-before-total']);

/** @returns null: what is remembered of the source is in doubt, so walk again. */
async function splitUp(
  context: WindowContext,
  claim: Claim,
  { reason, total, size, remembered = false }: SplitReason,
): Promise<WindowEnd | null> {
  const wanted = partsWanted(total, size, context.memory.expected(secondsOf(claim)));
  const parts = cut(claim, context.stream, context.timeZone, wanted);
  if (parts !== null && (parts.by === 'time' || total !== null)) {
    await splitWindow(context.database, claim, { ...parts, reason, total });
    return { kind: 'split', by: parts.by, parts: parts.parts.length, reason };
  }
  // A window must not fail because of a limit that may be gone, or never was one.
  if (remembered && (await context.memory.doubtCap())) return null;
  throw new WalkError(
    'capped',
    parts === null
      ? `${reason}; a window of one second and one level can be split no further`
      : `${reason}; in one second it can be split by level only, and without an exact total nothing shows that levels add up`,
  );
}

/** Why a window is split, and what is known of its size. */
interface SplitReason {
  readonly reason: string;
  /** The exact total, where there is one. */
  readonly total: number | null;
  /** The most records that one part should hold. */
  readonly size: number | null;
  /** The reason is a limit that was not met now, but earlier. */
  readonly remembered?: boolean;
}

async function publish(
  context: WindowContext,
  claim: Claim,
  walk: { walkId: number; nextStart: number; pages: number },
  proof: Proof,
  requests: number,
): Promise<WindowEnd | null> {
  const { database, recheckDays } = context;
  try {
    await publishWalk(database, claim, walk, proof, requests, recheckDays);
  } catch (error) {
    if (!(error instanceof BrokenChainError)) throw error;
    return discarded(context, claim, walk.walkId, error, requests);
  }
  if (claim.kind === 'part' && proof.kind === 'total' && proof.records > 0)
    await context.memory.confirmCap();
  if (claim.kind !== 'seam' && claim.levelFrom === null && claim.levelTo === null)
    context.memory.proved(walk.nextStart, secondsOf(claim));
  if (claim.state === 'complete') await tellDifference(context, claim, walk.walkId);
  if (proof.kind === 'total' || proof.kind === 'union' || proof.halves !== undefined)
    await context.memory.learn(
      'proven_size',
      proof.records,
      `window ${claim.from} to ${claim.to}: ${proof.kind}`,
    );
  return { kind: 'complete', proof };
}

/** Late records are news; records that went are a warning: someone who deletes log entries does exactly this. */
async function tellDifference(
  { database, log }: WindowContext,
  claim: Claim,
  walkId: number,
): Promise<void> {
  const found = await readDifference(database, walkId);
  if (found === null) return;
  const told = { window: claim.from, to: claim.to, ...found };
  if (found.vanished > 0)
    log.warn(
      told,
      'records that were exported are gone from the source, or differ; see daywalk.source_changes',
    );
  else log.info(told, 'records came late; see daywalk.lateness');
}

/** A walk whose pages are not what was walked proves nothing: the window is walked again, a bounded number of times. */
async function discarded(
  { database, log }: WindowContext,
  claim: Claim,
  walkId: number,
  error: BrokenChainError,
  requests: number,
): Promise<null> {
  log.error({ err: error, window: claim.from }, 'a walk is discarded');
  const end = { outcome: 'failed', reason: error.message, proof: null, requests } as const;
  await endWalk(database, claim, walkId, end);
  return null;
}
