/** One window: walked until a walk is proven, or until it has failed often enough to say why (DESIGN 5.3). */

import type { Clock } from '../clock.ts';
import {
  type DaywalkError,
  EnvelopeError,
  LeaseLostError,
  RequestError,
  TooLargeError,
  WalkError,
} from '../errors.ts';
import type { Logger } from '../log.ts';
import type { PageRequest, Proof } from '../model.ts';
import { type Claim, renewLease } from '../store/leases.ts';
import { BodyRefusedError } from '../store/sqlstate.ts';
import {
  agreesWithEarlierWalk,
  BrokenChainError,
  countRepeatedRecords,
  endWalk,
  type OpenWalk,
  openWalk,
  publishWalk,
  readOpenWalk,
  readUnprovenWalks,
} from '../store/walks.ts';
import { Walk, type WalkContext, type WalkEnd } from './walk.ts';

/** What walking a window needs besides what a walk needs. */
export interface WindowContext extends WalkContext {
  readonly clock: Clock;
  readonly log: Logger;
  readonly pageLength: number;
  /** How many walks a window gets before it fails. */
  readonly walkAttempts: number;
}

/** Why a window failed, and how long to wait before it is walked again. */
export interface WindowFailure {
  readonly reason: string;
  readonly delayMs: number;
}

/** A window that no worker can get past is left alone after this many claims without a stored page (FAULTS R09). */
const FRUITLESS_CLAIMS = 10;
const FIRST_DELAY_MS = 5 * 60_000;
const LONGEST_DELAY_MS = 6 * 3_600_000;

/**
 * Walks a claimed window to a published walk.
 * @throws {WalkError} with the numbers, when no walk could be proven; what fetching and storing throw.
 */
export async function walkWindow(
  context: WindowContext,
  claim: Claim,
  request: Omit<PageRequest, 'start' | 'length'>,
): Promise<Proof> {
  if (claim.attempts > FRUITLESS_CLAIMS)
    throw new WalkError(
      'fruitless',
      `claimed ${claim.attempts} times without storing a page: its workers end before they finish one`,
    );
  for (let attempt = 1; ; attempt++) {
    const walk = await openOrResume(context, claim);
    const pass = new Walk(context, claim, request, walk);
    try {
      const end = await pass.toEnd();
      const proof = await believe(context, claim, walk, end);
      await publishWalk(
        context.database,
        claim,
        { walkId: walk.walkId, ...end },
        proof,
        end.requests,
      );
      return proof;
    } catch (error) {
      if (!(error instanceof WalkError || error instanceof BrokenChainError)) throw error;
      const again = error instanceof BrokenChainError || WALK_AGAIN.has(error.fault);
      const outcome = outcomeOf(error);
      await endWalk(context.database, claim, walk.walkId, outcome, error.message, pass.requests);
      context.log.warn({ window: claim.from, walk: walk.number, outcome }, error.message);
      if (again && attempt < context.walkAttempts) continue;
      throw again
        ? new WalkError(faultOf(error), `${error.message}; walked ${attempt} times`, {
            cause: error,
          })
        : error;
    }
  }
}

/** Faults that another walk may not meet. */
const WALK_AGAIN: ReadonlySet<string> = new Set([
  'shifted',
  'unstable-order',
  'empty-before-total',
]);

const faultOf = (error: WalkError | BrokenChainError) =>
  error instanceof WalkError ? error.fault : 'shifted';

function outcomeOf(error: WalkError | BrokenChainError): 'unproven' | 'shifted' | 'failed' {
  if (error instanceof BrokenChainError) return 'failed';
  if (error.fault === 'unstable-order') return 'unproven';
  return error.fault === 'shifted' ? 'shifted' : 'failed';
}

/** Other page boundaries for every further walk: never longer than what the source gave. */
export function nextPageLength(
  pageLength: number,
  earlier: { walks: number; largestPage: number },
): number {
  if (earlier.walks === 0) return pageLength;
  const most = earlier.largestPage === 0 ? pageLength : Math.min(pageLength, earlier.largestPage);
  return Math.max(1, Math.floor(most * (1 - 0.13 * (1 + ((earlier.walks - 1) % 5)))));
}

/**
 * The proof, unless the same record stands on two pages: then another was perhaps missed, and only two walks that
 * agree record by record are believed (DESIGN 5.3).
 */
async function believe(
  context: WindowContext,
  claim: Claim,
  walk: OpenWalk,
  end: WalkEnd,
): Promise<Proof> {
  if (end.pages < 2) return end.proof;
  const repeated = await countRepeatedRecords(context.database, walk.walkId);
  if (repeated === 0) return end.proof;
  const agreesWith = await agreesWithEarlierWalk(context.database, claim, walk.walkId);
  if (agreesWith !== null) return { ...end.proof, repeated, agreesWith };
  throw new WalkError(
    'unstable-order',
    `${repeated} of ${end.nextStart} records stand on two pages, which is how others are missed`,
  );
}

async function openOrResume(context: WindowContext, claim: Claim): Promise<OpenWalk> {
  const lost = () => new LeaseLostError(`another worker holds window ${claim.windowId} now`);
  const open = await readOpenWalk(context.database, claim, context.signal);
  if (open === undefined) throw lost();
  if (open !== null) return open;
  const earlier = await readUnprovenWalks(context.database, claim);
  await openWalk(
    context.database,
    claim,
    nextPageLength(context.pageLength, earlier),
    context.signal,
  );
  const opened = await readOpenWalk(context.database, claim, context.signal);
  if (opened === undefined || opened === null) throw lost();
  return opened;
}

/** Keeps the lease while `work` runs, and stops it when the lease is lost. */
export async function whileLeased<T>(
  context: Pick<WindowContext, 'database' | 'clock' | 'log' | 'leaseTtlMs' | 'signal'>,
  claim: Claim,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const lost = new AbortController();
  const stop = context.clock.every(context.leaseTtlMs / 3, () => {
    renewLease(context.database, claim, context.leaseTtlMs).then(
      (held) => {
        if (!held)
          lost.abort(new LeaseLostError(`another worker holds window ${claim.windowId} now`));
      },
      // The next renewal, or the fence on the next page, tells.
      (error) => context.log.debug({ err: error }, 'the lease could not be renewed'),
    );
  });
  try {
    return await work(AbortSignal.any([context.signal, lost.signal]));
  } finally {
    stop();
  }
}

/**
 * Whether an error is this window's own, with the wait before the next try: it doubles, is bounded and spread by chance.
 * @returns null for errors that stop more than the window.
 */
export function failureOf(error: unknown, failures: number, random: number): WindowFailure | null {
  const own =
    error instanceof WalkError ||
    error instanceof EnvelopeError ||
    error instanceof RequestError ||
    error instanceof TooLargeError ||
    error instanceof BodyRefusedError;
  if (!own) return null;
  const delay = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(failures, 20));
  return { reason: reasonText(error), delayMs: delay * (0.75 + random / 2) };
}

function reasonText(error: DaywalkError): string {
  return error.hint === undefined ? error.message : `${error.message}. ${error.hint}`;
}
