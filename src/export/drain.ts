/** Drains what is due: claims windows and walks several at a time, until nothing in the scope is left to claim. */
import type { Clock } from '../clock.ts';
import { LeaseLostError, RequestError, SettingsError } from '../errors.ts';
import type { Logger } from '../log.ts';
import type { Envelope, Proof, Stream } from '../model.ts';
import type { Database } from '../store/database.ts';
import { readLastEnvelopes } from '../store/evidence.ts';
import { readLearned } from '../store/learned.ts';
import {
  type Claim,
  type ClaimScope,
  claimWindow,
  failWindow,
  readHeldElsewhere,
  releaseLease,
} from '../store/leases.ts';
import { failureOf } from './failure.ts';
import { whileLeased } from './lease-keeper.ts';
import { StreamMemory } from './memory.ts';
import type { FetchPage } from './reading.ts';
import { recheck } from './recheck.ts';
import { Room } from './room.ts';
import { type WindowContext, type WindowEnd, walkWindow } from './window.ts';
import { workTogether } from './workers.ts';

/** What draining needs; the wiring fills it. */
export interface DrainParts {
  readonly database: Database;
  readonly fetchPage: FetchPage;
  readonly findEnvelope: (body: Buffer, stream: Stream) => Envelope;
  readonly clock: Clock;
  readonly log: Logger;
  /** Host and process, for people. */
  readonly owner: string;
}

/** How to drain. */
export interface DrainOptions {
  /** Requests under way beyond which no page is fetched ahead. */
  readonly concurrency: number;
  /** Windows walked at a time, where something else bounds the requests; absent: as many as `concurrency`. */
  readonly windows?: number;
  /** Bytes of pages that are fetched ahead and not stored yet; absent: 32 MiB. */
  readonly aheadBytes?: number;
  readonly pageLength: number;
  /** A window whose total is larger is split before it is walked; absent: none is. */
  readonly windowRecords?: number;
  readonly leaseTtlMs: number;
  readonly walkAttempts: number;
  /** IANA name; windows are never split inside an hour that its clocks repeat. */
  readonly timeZone: string;
  /** For so many days after it closed, a complete window is looked at once a day. */
  readonly recheckDays: number;
  /** Keep the exact bytes of every page, not only of those that `jsonb` cannot hold. */
  readonly keepBytes: boolean;
}

/** What happens while draining, for those who watch. */
export type DrainEvent =
  | { readonly kind: 'claimed'; readonly window: WindowName }
  | {
      readonly kind: 'page';
      readonly window: WindowName;
      readonly records: number;
      readonly bytes: number;
      readonly total: number | null;
    }
  | { readonly kind: 'complete'; readonly window: WindowName; readonly proof: Proof }
  | { readonly kind: 'unchanged'; readonly window: WindowName }
  | {
      readonly kind: 'split';
      readonly window: WindowName;
      readonly by: 'time' | 'level';
      readonly parts: number;
      readonly reason: string;
    }
  | { readonly kind: 'failed'; readonly window: WindowName; readonly reason: string }
  /** Given back or lost, for a reason that is not the window's. */
  | { readonly kind: 'released'; readonly window: WindowName }
  | { readonly kind: 'stream-stopped'; readonly stream: string; readonly reason: string }
  | { readonly kind: 'waiting'; readonly windows: number; readonly owner: string };

/** A window as people name it. */
export interface WindowName {
  readonly windowId: number;
  readonly stream: string;
  readonly day: string;
  readonly from: string;
  readonly to: string;
}

/** Answers that say that the address is wrong, not the window. */
const MISADDRESSED: ReadonlySet<number> = new Set([301, 302, 303, 307, 308, 404, 405, 410]);
/** So many windows of a stream in a row with an error of their own: the rest of the stream would meet it too. */
const FAILURES_IN_A_ROW = 3;
const AHEAD_BYTES = 32 * 1024 * 1024;
/** Pages ahead that wait for the limiter's word. */
const IN_LINE = 2;
/** Waits for other processes' leases: their ends, within these bounds. */
const SHORTEST_WAIT_MS = 50;
const LONGEST_WAIT_MS = 2_000;

/** What is known of a stream while it is drained. */
interface StreamState {
  readonly streamId: number;
  readonly stream: Stream;
  readonly memory: StreamMemory;
  failuresInARow: number;
  stopped: boolean;
  /** The answer that says that this stream's address does not exist. */
  misaddressed?: RequestError;
}

/**
 * Walks every due window of the streams (by id) until none is left, also those that another process holds now and
 * leaves behind.
 * @throws the first error that stops more than one window, after the leases are given back; the signal's reason.
 */
export async function drain(
  parts: DrainParts,
  options: DrainOptions,
  streams: ReadonlyMap<number, Stream>,
  scope: Omit<ClaimScope, 'streamIds'>,
  signal: AbortSignal,
  onEvent: (event: DrainEvent) => void,
): Promise<void> {
  const facts = await readLearned(parts.database, [...streams.keys()]);
  const envelopes = await readLastEnvelopes(parts.database, [...streams.keys()]);
  const states = [...streams].map(([streamId, stream]): StreamState => {
    const memory = new StreamMemory(parts.database, streamId, facts);
    // Without a path in the settings, the list is looked for where it was last.
    if (stream.recordsPath === undefined && stream.totalPath === undefined)
      memory.envelope = envelopes.get(streamId) ?? null;
    return { streamId, stream, memory, failuresInARow: 0, stopped: false };
  });
  const fatal = new AbortController();
  const room = new Room({
    requests: options.concurrency,
    inLine: IN_LINE,
    bytes: options.aheadBytes ?? AHEAD_BYTES,
  });
  const context: DrainContext = {
    ...parts,
    room,
    options,
    states,
    signal: AbortSignal.any([signal, fatal.signal]),
    onEvent,
    leases: new Set(),
    scope: () => ({ ...scope, streamIds: states.filter((s) => !s.stopped).map((s) => s.streamId) }),
  };
  await workTogether(options.windows ?? options.concurrency, (begin) =>
    work(context, begin).catch((error: unknown) => fatal.abort(error)),
  );
  context.signal.throwIfAborted();
  const [first] = states;
  if (
    first?.misaddressed !== undefined &&
    states.every((state) => state.misaddressed !== undefined)
  )
    throw new SettingsError(first.misaddressed.message, {
      cause: first.misaddressed,
      hint: first.misaddressed.hint ?? 'Check api.url (DAYWALK_API_URL).',
    });
}

interface DrainContext extends DrainParts {
  readonly room: Room;
  readonly options: DrainOptions;
  readonly states: readonly StreamState[];
  readonly signal: AbortSignal;
  readonly onEvent: (event: DrainEvent) => void;
  readonly scope: () => ClaimScope;
  /** The leases that this process holds. */
  readonly leases: Set<string>;
}

/** Claims and walks, one window after the other; waits for what other processes hold. */
async function work(context: DrainContext, beginAnother: () => void): Promise<void> {
  const { database, clock, owner, options, signal } = context;
  for (;;) {
    signal.throwIfAborted();
    // Ours from before the answer comes: another worker of this process may look before we know.
    const leaseId = clock.uuid();
    context.leases.add(leaseId);
    const { leaseTtlMs } = options;
    const claim = await claimWindow(database, leaseId, owner, leaseTtlMs, context.scope(), signal);
    if (claim !== null) {
      beginAnother();
      await walkOne(context, claim);
    }
    context.leases.delete(leaseId);
    if (claim !== null) continue;
    const held = await readHeldElsewhere(database, [...context.leases], context.scope());
    if (held === null) return;
    context.onEvent({ kind: 'waiting', windows: held.windows, owner: held.owner });
    await clock.sleep(
      Math.max(SHORTEST_WAIT_MS, Math.min(held.firstExpiryMs, LONGEST_WAIT_MS)),
      signal,
    );
  }
}

/** Walks one claimed window to whatever end it has; throws only what stops the whole run. */
async function walkOne(context: DrainContext, claim: Claim): Promise<void> {
  const { database, clock, log, options, onEvent } = context;
  const state = context.states.find((candidate) => candidate.streamId === claim.streamId);
  if (state === undefined)
    throw new Error(`claimed a window of stream ${claim.streamId}, which was not asked for`);
  const { stream, memory } = state;
  const window: WindowName = {
    windowId: claim.windowId,
    stream: stream.name,
    day: claim.day,
    from: claim.from,
    to: claim.to,
  };
  const leased = { database, clock, log, leaseTtlMs: options.leaseTtlMs, signal: context.signal };
  onEvent({ kind: 'claimed', window });
  try {
    const end = await whileLeased(leased, claim, (signal) =>
      lookOrWalk(
        {
          ...leased,
          ...options,
          signal,
          stream,
          memory,
          room: context.room,
          fetchPage: context.fetchPage,
          priority: { purpose: claim.purpose },
          findEnvelope: (body) => context.findEnvelope(body, stream),
          onPage: (page) => onEvent({ kind: 'page', window, ...page }),
        },
        claim,
      ),
    );
    state.failuresInARow = 0;
    onEvent({ ...end, window });
  } catch (error) {
    await settle(context, state, claim, window, error);
  }
}

/** A complete window is looked at first, unless a person asked to walk it again, or a walk of it has begun. */
async function lookOrWalk(
  context: WindowContext,
  claim: Claim,
): Promise<WindowEnd | { readonly kind: 'unchanged' }> {
  const look = claim.state === 'complete' && !claim.rewalk;
  if (look && (await recheck(context, claim))) return { kind: 'unchanged' };
  return walkWindow(context, claim);
}

/** A lost lease is nobody's fault; a window's own error fails the window; anything else stops the run. */
async function settle(
  context: DrainContext,
  state: StreamState,
  claim: Claim,
  window: WindowName,
  error: unknown,
): Promise<void> {
  const { database, clock, log, onEvent } = context;
  if (error instanceof LeaseLostError) {
    log.warn({ window: window.from, stream: window.stream }, error.message);
    onEvent({ kind: 'released', window });
    return;
  }
  if (error instanceof RequestError && MISADDRESSED.has(error.status)) {
    // The window is as good as before: it is the address that is wrong. A lease that is not given back ends by itself.
    await releaseLease(database, claim).catch(() => {});
    onEvent({ kind: 'released', window });
    stopStream(context, state, error.message);
    state.misaddressed = error;
    return;
  }
  const failure = failureOf(error, claim.failures, clock.random());
  if (failure === null) {
    // Where the database is gone the lease ends by itself.
    await releaseLease(database, claim).catch(() => {});
    throw error;
  }
  await failWindow(database, claim, failure.reason, failure.delayMs);
  onEvent({ kind: 'failed', window, reason: failure.reason });
  state.failuresInARow += 1;
  if (state.failuresInARow >= FAILURES_IN_A_ROW) stopStream(context, state, failure.reason);
}

function stopStream(context: DrainContext, state: StreamState, reason: string): void {
  if (state.stopped) return;
  state.stopped = true;
  context.onEvent({ kind: 'stream-stopped', stream: state.stream.name, reason });
}
