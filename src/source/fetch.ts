/** How one page is fetched: the attempts, what is tried again at once, and what an answer is taken for. */
import { createHash } from 'node:crypto';
import type { Dispatcher } from 'undici';
import { type Clock, letOthersGo } from '../clock.ts';
import { type DaywalkError, RefusedError, TransientError } from '../errors.ts';
import type { Page, PageMemory, PageRequest, Priority } from '../model.ts';
import type { Address } from './address.ts';
import { type RetryNotice, untilItSucceeds } from './attempts.ts';
import { decodeBody, refuseNonJson } from './body.ts';
import { type Answer, exchange } from './exchange.ts';
import { ConnectionLostError } from './failure.ts';
import { httpDateMs } from './http-date.ts';
import type { Keyring } from './keyring.ts';
import type { Limiter } from './limiter.ts';
import type { Ending, Turn } from './line.ts';
import { type Quota, quotaOf } from './quota-headers.ts';
import { pageHeaders, pageTarget } from './request.ts';
import type { RetryPolicy } from './retry.ts';
import { errorOfStatus } from './status.ts';
import type { SourceWatch } from './watch.ts';

export interface FetchOptions {
  readonly signal: AbortSignal;
  /** Who goes first when requests have to wait; absent: as scheduled work. */
  readonly priority?: Priority | undefined;
  /** Lends the memory of the body until `Page.release`; absent: it is the page's own. */
  readonly memory?: PageMemory | undefined;
  /** Told before each wait. */
  readonly onRetry?: (notice: RetryNotice) => void;
}

/** What the requests of one source share. */
export interface Shared {
  readonly clock: Clock;
  readonly policy: RetryPolicy;
  readonly gzip: boolean;
  readonly connectTimeoutMs: number;
  readonly pageTimeoutMs: number;
  readonly bodyLimitBytes: number;
  readonly address: Address;
  readonly keyring: Keyring;
  readonly limiter: Limiter;
  readonly dispatcher: Dispatcher;
  /** A dispatcher that has no connection yet. */
  readonly freshDispatcher: () => Dispatcher;
  /** The last refusal of a key: whoever asks right after it would only be refused too. */
  refusal: { readonly key: string; readonly at: number; readonly error: RefusedError } | null;
  readonly watch: SourceWatch;
  /** Whether an answer ever came, so that a connection may be a kept one. */
  everAnswered: boolean;
}

/** What is asked for, as messages show it. */
interface Asked {
  readonly path: string;
  readonly url: string;
  readonly place: string;
  readonly signal: AbortSignal;
  readonly priority: Priority;
  readonly memory: PageMemory | undefined;
  /** The kind of request: its length and its start, each to the power of two. */
  readonly like: string;
}

/** So long a refused key is not tried again by anybody; the run has ended by then. */
const REFUSED_MS = 10_000;

/**
 * An answer makes room for a request that waits in line, which is sent before anything is made of the answer: undici looks
 * for a turn whether a kept connection still stands, and writes in the next.
 */
const TURNS_TO_SEND = 2;

/** What fetching a page has taken so far. */
interface Spent {
  requests: number;
  /** When its first request went; null: none did. */
  startedAt: number | null;
  /** Milliseconds in the limiter's line after that, without holds. */
  waitedMs: number;
  freshConnection: boolean;
  freshKey: boolean;
}

/** A body as a page holds it. */
type Body = Pick<Page, 'body' | 'framed' | 'release'>;

/** As `Source.fetchPage`. */
export async function fetchPage(
  shared: Shared,
  request: PageRequest,
  { signal, onRetry, memory, priority = { purpose: 'scheduled' } }: FetchOptions,
): Promise<Page> {
  const { clock } = shared;
  const url = `${shared.address.shown}/api/${request.resource}`;
  const place = `${url} (start ${request.start}, length ${request.length})`;
  const path = pageTarget(shared.address.prefix, request);
  const like = `${request.resource} ${Math.ceil(Math.log2(request.length))} ${Math.ceil(Math.log2(request.start + 1))}`;
  const asked = { path, url, place, signal, priority, memory, like };
  const spent: Spent = {
    requests: 0,
    startedAt: null,
    waitedMs: 0,
    freshConnection: false,
    freshKey: false,
  };
  const elapsedMs = (): number =>
    spent.startedAt === null ? 0 : clock.monotonic() - spent.startedAt;
  const { body, framed, release } = await untilItSucceeds(() => attempt(shared, asked, spent), {
    policy: shared.policy,
    clock,
    signal,
    place,
    onRetry: (notice) => {
      shared.watch.retried(notice.waitMs);
      onRetry?.(notice);
    },
    // Standing in line is no fault of the API, and must not use up its time.
    elapsedMs: () => elapsedMs() - spent.waitedMs,
  });
  await letOthersGo(TURNS_TO_SEND);
  return {
    start: request.start,
    length: request.length,
    body,
    framed,
    release,
    sha256: createHash('sha256').update(body).digest(),
    durationMs: elapsedMs(),
    requests: spent.requests,
  };
}

/**
 * One counted attempt. Two things are tried once more at once, and once for each page: a connection that was lost
 * before an answer (a kept one may have been closed just then), and a key that was refused, if there is another now.
 */
async function attempt(shared: Shared, asked: Asked, spent: Spent): Promise<Body> {
  let fresh: Dispatcher | undefined;
  try {
    for (;;) {
      const turn = await waitForTurn(shared, asked, spent);
      const key = shared.keyring.current();
      const mayBeKept = shared.everAnswered;
      try {
        refuseAsBefore(shared, key);
        spent.requests++;
        return await ask(shared, asked, key, fresh ?? shared.dispatcher, turn);
      } catch (error) {
        if (error instanceof ConnectionLostError && mayBeKept && !spent.freshConnection) {
          spent.freshConnection = true;
          fresh = shared.freshDispatcher();
        } else if (
          error instanceof RefusedError &&
          (await isKeyRenewed(shared, key, error, spent))
        ) {
          spent.freshKey = true;
        } else throw error;
      } finally {
        // Where an answer came, the limiter has heard of it already.
        turn.end({ kind: 'lost' });
      }
    }
  } finally {
    await fresh?.destroy();
  }
}

/** Right after a key was refused everyone is, without a request: others stood in line, and a lock-out may follow. */
function refuseAsBefore({ refusal, clock }: Shared, key: string): void {
  if (refusal?.key === key && clock.monotonic() - refusal.at < REFUSED_MS) throw refusal.error;
}

/** Whether there is another key after this refusal, once for each page; where there is none, it holds for all in line. */
async function isKeyRenewed(
  shared: Shared,
  key: string,
  error: RefusedError,
  spent: Spent,
): Promise<boolean> {
  const renewed = error.status === 401 && !spent.freshKey && (await shared.keyring.renew(key));
  if (!renewed) shared.refusal = { key, at: shared.clock.monotonic(), error };
  return renewed;
}

async function waitForTurn({ clock, limiter }: Shared, asked: Asked, spent: Spent): Promise<Turn> {
  const turn = await limiter.pass(asked.priority, asked.like, asked.signal);
  if (spent.startedAt === null) spent.startedAt = clock.monotonic();
  else spent.waitedMs += turn.waitedMs;
  return turn;
}

/** One request; its body when it is one that may be a page. The limiter learns from it whatever comes. */
async function ask(
  shared: Shared,
  asked: Asked,
  key: string,
  dispatcher: Dispatcher,
  turn: Turn,
): Promise<Body> {
  const { address, keyring, bodyLimitBytes } = shared;
  const startedAt = shared.clock.monotonic();
  const ended = (status: number | 'none') =>
    shared.watch.answered(status, shared.clock.monotonic() - startedAt);
  const answer = await exchange({
    dispatcher,
    clock: shared.clock,
    origin: address.origin,
    path: asked.path,
    headers: pageHeaders(key, shared.gzip),
    timeoutMs: shared.pageTimeoutMs,
    limitBytes: bodyLimitBytes,
    signal: asked.signal,
    allocate: (bytes) => asked.memory?.take(bytes) ?? Buffer.allocUnsafe(bytes),
    place: {
      host: address.host,
      connectTimeoutMs: shared.connectTimeoutMs,
      secrets: keyring.secrets(),
      asked: asked.place,
    },
  }).catch((error: unknown) => {
    if (error instanceof TransientError && error.timedOut) turn.end({ kind: 'late' });
    ended('none');
    throw error;
  });
  ended(answer.status);
  shared.everAnswered = true;
  const quota = quotaIn(shared, answer);
  if (answer.status !== 200) {
    const error = await errorOf(shared, asked, answer);
    const ending = endingOf(error, quota);
    if (ending.kind === 'refused') shared.watch.held(ending.retryAfterMs ?? 0);
    // A refused key keeps its place until there is another one, so that nobody goes with the old one meanwhile.
    if (!(error instanceof RefusedError)) turn.end(ending);
    throw error;
  }
  turn.end({ kind: 'answered', answerMs: answer.answerMs, quota });
  const encoding = answer.headers['content-encoding'];
  const body = await decodeBody({ wire: answer.wire, encoding }, bodyLimitBytes, asked.place);
  refuseNonJson(body, keyring.secrets(), asked.place);
  const { framed } = answer;
  const release = framed && asked.memory ? () => asked.memory?.giveBack(framed) : undefined;
  if (body === answer.wire) return { body, framed, release };
  release?.();
  return { body };
}

/** The error of an answer that is not a 200. */
async function errorOf(shared: Shared, asked: Asked, answer: Answer): Promise<DaywalkError> {
  const { clock, policy, keyring } = shared;
  const { status, headers, wire } = answer;
  const encoding = headers['content-encoding'];
  const body = await decodeBody({ wire, encoding }, wire.length * 50, asked.place).catch(() =>
    Buffer.alloc(0),
  );
  return errorOfStatus(
    {
      status,
      retryAfter: one(headers['retry-after']),
      date: one(headers.date),
      location: one(headers.location),
      body,
    },
    {
      url: asked.url,
      place: asked.place,
      nowMs: clock.now(),
      retryAfterLimitMs: policy.retryAfterLimitMs,
      secrets: keyring.secrets(),
    },
  );
}

/** What the limiter learns from an answer that is not a 200: 429 and 503 refuse everyone, and may name a time. */
function endingOf(error: DaywalkError, quota: Quota | null): Ending {
  const status = error instanceof TransientError ? error.status : undefined;
  if (status !== 429 && status !== 503) return { kind: 'answered', quota };
  const { retryAfterMs = null } = error as TransientError;
  return { kind: 'refused', status, retryAfterMs, quota };
}

/** The quota that the headers of an answer tell, by the server's own clock where it tells the time. */
function quotaIn({ clock, policy }: Shared, { headers }: Answer): Quota | null {
  const now = clock.now();
  const sentAt = httpDateMs(one(headers.date) ?? '', now) ?? now;
  return quotaOf(headers, sentAt, policy.retryAfterLimitMs);
}

/** The first of a header that may have come several times. */
function one(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : header?.[0];
}
