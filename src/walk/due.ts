/** Runs due windows: leases them and walks several at a time, until nothing in the scope is left. */
import type { Clock } from '../clock.ts';
import {
  EnvelopeError,
  LeaseLostError,
  RequestError,
  UnavailableError,
  WalkError,
} from '../errors.ts';
import type { Logger } from '../log.ts';
import type { Stream } from '../model.ts';
import type { Database } from '../store/database.ts';
import {
  acquireLease,
  failWindow,
  type LeasedWindow,
  type LeaseScope,
  readHeldElsewhere,
  releaseLease,
} from '../store/leases.ts';
import { letPartsWait } from '../store/splits.ts';
import type { FetchPage } from './answers.ts';
import { startWorkers } from './concurrency.ts';
import type { Reader } from './contract.ts';
import type { WalkEvent, WindowName } from './events.ts';
import { contradicted, orNull, reasonText, windowFailure } from './failures.ts';
import {
  isMisaddressed,
  openStreams,
  refuseMisaddressed,
  retryUntold,
  type StreamState,
} from './known-streams.ts';
import { whileLeased } from './lease-keeper.ts';
import { PrefetchBudget } from './prefetch.ts';
import { closeWindow } from './proof/closing.ts';
import { walkCut } from './proof/cuts.ts';
import { isForgotten } from './proof/forgotten.ts';
import { learnWhatDiffers, lookAgain } from './proof/look.ts';
import { answersElsewhere, blaming } from './questions/blame.ts';
import type { WindowContext, WindowEnd, WindowOptions } from './questions/context.ts';
import { dayOf, targetOf } from './questions/span.ts';
import { walkWindow } from './window.ts';

/** What running windows needs; the wiring fills it. */
export interface WalkParts {
  readonly database: Database;
  readonly fetchPage: FetchPage;
  /** Finds contracts in first answers, and tells what is in an answer without secrets; see source/find-contract.ts. */
  readonly reader: Reader;
  readonly clock: Clock;
  readonly log: Logger;
  /** Host and process, for people. */
  readonly owner: string;
}

/** How to run windows. */
export interface WalkOptions extends WindowOptions {
  /** Requests that the source lets under way at a time. */
  readonly concurrency: number;
  /** Windows walked at a time, where something else bounds the requests; absent: as many as `concurrency`. */
  readonly windows?: number;
  /** Bytes of pages that are fetched ahead and not stored yet. */
  readonly aheadBytes: number;
}

/** What no worker can get past is left alone after this many leases without a stored page. */
const FRUITLESS_LEASES = 10;
/** So many windows of a stream in a row with an error of their own: the rest of the stream may meet it too. */
const FAILURES_IN_A_ROW = 3;
/** Where there is no known answer, the newest day is asked for after so many. */
const MOST_FAILURES_IN_A_ROW = 10;
/** Pages ahead for each request that may be under way. */
const AHEAD = 2;
/** Waits for other processes' leases: their ends, within these bounds. */
const SHORTEST_WAIT_MS = 50;
const LONGEST_WAIT_MS = 2_000;

interface RunContext extends WalkParts, WalkOptions {
  readonly budget: PrefetchBudget;
  readonly states: readonly StreamState[];
  readonly signal: AbortSignal;
  readonly onEvent: (event: WalkEvent) => void;
  readonly scope: () => LeaseScope;
  /** Streams of which the newest due look comes first: it serves as the known answer that new windows need. */
  readonly unlooked: number[];
  /** The leases that this process holds. */
  readonly leases: Set<string>;
}

/** A window that this process runs. */
interface Turn extends RunContext {
  readonly leased: LeasedWindow;
  readonly window: WindowName;
  readonly state: StreamState;
}

/**
 * Runs every due window of the streams (by id) until none is left, also those that another process holds now and leaves
 * behind.
 * @throws the first error that stops more than one window, after the leases are given back; the signal's reason.
 */
export async function runDueWindows(
  parts: WalkParts,
  options: WalkOptions,
  streams: ReadonlyMap<number, Stream>,
  scope: Omit<LeaseScope, 'streamIds'>,
  signal: AbortSignal,
  onEvent: (event: WalkEvent) => void,
): Promise<void> {
  const fatal = new AbortController();
  const own = { ...parts, signal: AbortSignal.any([signal, fatal.signal]) };
  const states = await openStreams(own, parts.reader, streams);
  const { concurrency, aheadBytes, windows = concurrency } = options;
  const budget = new PrefetchBudget({ pages: AHEAD * concurrency, bytes: aheadBytes });
  const context: RunContext = {
    ...own,
    ...options,
    budget,
    states,
    onEvent,
    unlooked: [...streams.keys()],
    leases: new Set(),
    scope: () => ({ ...scope, streamIds: states.filter((s) => !s.stopped).map((s) => s.streamId) }),
  };
  await startWorkers(windows, (begin) =>
    work(context, begin).catch((error: unknown) => fatal.abort(error)),
  );
  context.signal.throwIfAborted();
  await refuseMisaddressed(states);
}

/** Leases and walks, one window after the other; waits for what other processes hold. */
async function work(context: RunContext, beginAnother: () => void): Promise<void> {
  const { database, clock, owner, leaseTtlMs, signal } = context;
  let isFirst = true;
  for (;;) {
    signal.throwIfAborted();
    // Ours from before the answer comes: another worker of this process may look before we know.
    const leaseId = clock.uuid();
    context.leases.add(leaseId);
    const toLookAt = context.unlooked.shift();
    const looks = toLookAt === undefined ? {} : { streamIds: [toLookAt], looksOnly: true };
    const scope = { ...context.scope(), ...looks };
    const window = await acquireLease(database, leaseId, owner, leaseTtlMs, scope, signal);
    if (window !== null) {
      if (isFirst) beginAnother();
      isFirst = false;
      // Those who found nothing to do before have ended.
      if (await runWindow(context, window)) beginAnother();
    }
    context.leases.delete(leaseId);
    if (window !== null || toLookAt !== undefined) continue;
    const held = await readHeldElsewhere(database, [...context.leases], context.scope());
    if (held === null) return;
    if (held.owner !== null)
      context.onEvent({ kind: 'waiting', windows: held.windows, owner: held.owner });
    const waitMs = Math.max(SHORTEST_WAIT_MS, Math.min(held.firstExpiryMs, LONGEST_WAIT_MS));
    await clock.sleep(waitMs, signal);
  }
}

/** Runs one leased window to whatever end it has; throws only what stops the whole run. @returns whether it was split. */
async function runWindow(context: RunContext, leased: LeasedWindow): Promise<boolean> {
  const { onEvent } = context;
  const { streamId, windowId, kind, day, from, to } = leased;
  // Only windows of these streams are leased.
  const state = context.states.find((one) => one.streamId === streamId) as StreamState;
  const { firstAnswer } = state;
  const window: WindowName = { windowId, kind, stream: state.stream.name, day, from, to };
  const turn = { ...context, leased, window, state };
  onEvent({ kind: 'claimed', window });
  const run = (signal: AbortSignal) =>
    firstAnswer.run(
      // Who waited for another one's first answer need not ask a stream that was given up for it.
      (onFirst) => (state.stopped ? giveBack(turn) : decide(contextOf(turn, signal, onFirst))),
      () => !state.untold || state.knowledge.lastGood !== null,
    );
  try {
    // What fails with records is no part of what failed before any were shown.
    const end = await whileLeased(context, leased, run).finally(() => retryUntold(state));
    if (end.kind !== 'released') state.failuresInARow = 0;
    onEvent({ ...end, window });
    return end.kind === 'split';
  } catch (error) {
    await settle(turn, error);
    return false;
  }
}

function contextOf(turn: Turn, signal: AbortSignal, onFirst: () => void): WindowContext {
  const { state, leased, window, onEvent } = turn;
  return {
    ...state,
    ...turn,
    signal,
    window: leased,
    priority: { purpose: leased.purpose },
    fetchPage: blaming(state),
    answersElsewhere: (failing) => answersElsewhere(state, failing),
    onPage: (page) => {
      if (page.records > 0) onFirst();
      onEvent({ kind: 'page', window, ...page });
    },
  };
}

async function giveBack({ database, leased }: Turn): Promise<WindowEnd> {
  await releaseLease(database, leased);
  return { kind: 'released' };
}

/** A complete window is looked at first, unless a person asked to walk it again, or a walk of it has begun. */
async function decide(context: WindowContext): Promise<WindowEnd> {
  const { state, rewalk, splitBy, kind, attempts } = context.window;
  if (attempts > FRUITLESS_LEASES)
    throw contradicted(
      `taken by workers ${attempts} times without a new page: they end before they are done with it (were they killed? see their logs)`,
    );
  if (state === 'complete' && !rewalk) {
    const end = await lookAgain(context);
    if (end !== null) return end;
  } else if (await isForgotten(context)) {
    // What its source has forgotten since it was proven is neither walked again nor lost.
    return { kind: 'released' };
  } else if (state === 'complete') {
    // What a walk lacked may have come to differ once more.
    await orNull(learnWhatDiffers(context));
  }
  if (kind === 'cut') return walkCut(context);
  return splitBy === null ? walkWindow(context) : closeWindow(context);
}

/** A lost lease is nobody's fault; a window's own error fails the window; anything else stops the run. */
async function settle(turn: Turn, error: unknown): Promise<void> {
  const { database, clock, log, leased, window, state, onEvent } = turn;
  if (error instanceof LeaseLostError) {
    log.warn({ window: window.from, stream: window.stream }, error.message);
    onEvent({ kind: 'released', window });
    return;
  }
  // Where another page still comes from there, it is that of one window.
  const isOfAddress = isMisaddressed(error) && !(await state.known.isThere(false));
  if (isOfAddress) state.misaddressed = error;
  const failure = isOfAddress ? null : windowFailure(error, leased.failures, clock.random());
  if (failure === null) {
    const isOfStream = isOfAddress || (await isAwayAlone(turn, error));
    // The window is as good as before. Where the database is gone the lease ends by itself.
    await releaseLease(database, leased).catch(() => {});
    if (!isOfStream) throw error;
    onEvent({ kind: 'released', window });
    stopStream(turn, error);
    return;
  }
  await failWindow(database, leased, failure.reason, failure.delayMs, failure.judged);
  if (failure.judged && leased.kind === 'part') await letPartsWait(database, leased);
  onEvent({ kind: 'failed', window, reason: failure.reason });
  // A window that cannot be proven says nothing of others; an answer that is no page, or a refused request, may.
  const told = error instanceof WalkError ? error.cause : error;
  if (!(told instanceof EnvelopeError) && !(told instanceof RequestError)) return;
  // It may mean "nothing", as long as no page ever came from there.
  if (error instanceof WalkError && isMisaddressed(told)) state.misaddressed = told;
  // One that failed before says nothing new of the others, which would never have their turn.
  if (leased.failures > 0) return;
  state.failuresInARow += 1;
  if (state.failuresInARow < FAILURES_IN_A_ROW) return;
  const isLong = state.failuresInARow >= MOST_FAILURES_IN_A_ROW;
  // Where other pages come, the failures are those of their windows.
  if (!(await state.known.isThere(!isLong))) stopStream(turn, error);
}

/** Whether the API is away for the stream of this window alone, as it answers another one. */
async function isAwayAlone({ states, state, window }: Turn, error: unknown): Promise<boolean> {
  if (!(error instanceof UnavailableError) || error.part !== 'api') return false;
  if (state.stopped) return true;
  const others = states.filter((other) => other !== state && !other.stopped);
  const asked = others.map((other) => {
    const target = targetOf(other.stream, dayOf(window.day));
    return answersElsewhere(other, { ...target, start: 0, length: 1 });
  });
  return (await Promise.all(asked)).includes(true);
}

function stopStream({ state, onEvent }: Turn, error: unknown): void {
  if (state.stopped) return;
  state.stopped = true;
  onEvent({ kind: 'stream-stopped', stream: state.stream.name, reason: reasonText(error) });
}
