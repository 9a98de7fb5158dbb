/** How one page is fetched: the attempts, what is tried again at once, and what an answer is taken for. */
import { createHash } from 'node:crypto';
import type { Dispatcher } from 'undici';
import type { Clock } from '../clock.ts';
import { RefusedError, TransientError } from '../errors.ts';
import type { Page, PageRequest, Priority } from '../model.ts';
import type { Address } from './address.ts';
import { type RetryNotice, untilItSucceeds } from './attempts.ts';
import { decodeBody, refuseNonJson } from './body.ts';
import { type Answer, exchange } from './exchange.ts';
import { ConnectionLostError } from './failure.ts';
import type { Keyring } from './keyring.ts';
import type { Limiter, Turn } from './limiter.ts';
import { pageHeaders, pageUrl } from './request.ts';
import type { RetryPolicy } from './retry.ts';
import { errorOfStatus } from './status.ts';

export interface FetchOptions {
  readonly signal: AbortSignal;
  /** Who goes first when requests have to wait; absent: as scheduled work. */
  readonly priority?: Priority | undefined;
  /** Told before each wait. */
  readonly onRetry?: (notice: RetryNotice) => void;
}

/** What the requests of one source share. */
export interface Shared {
  readonly clock: Clock;
  readonly policy: RetryPolicy;
  readonly baseUrl: string;
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
}

/** What fetching a page has taken so far. */
interface Spent {
  requests: number;
  /** When its first request went; null: none did. */
  startedAt: number | null;
  /** Milliseconds in the limiter's line after that. */
  waitedMs: number;
  freshConnection: boolean;
  freshKey: boolean;
}

/** A body as a page holds it. */
type Body = Pick<Page, 'body' | 'framed'>;

/** As `Source.fetchPage`. */
export async function fetchPage(
  shared: Shared,
  request: PageRequest,
  { signal, onRetry, priority = { purpose: 'scheduled' } }: FetchOptions,
): Promise<Page> {
  const { clock } = shared;
  const url = `${shared.address.shown}/api/${request.resource}`;
  const place = `${url} (start ${request.start}, length ${request.length})`;
  const asked = { path: pageUrl(shared.baseUrl, request), url, place, signal, priority };
  const spent: Spent = {
    requests: 0,
    startedAt: null,
    waitedMs: 0,
    freshConnection: false,
    freshKey: false,
  };
  const elapsedMs = (): number =>
    spent.startedAt === null ? 0 : clock.monotonic() - spent.startedAt;
  const { body, framed } = await untilItSucceeds(() => attempt(shared, asked, spent), {
    policy: shared.policy,
    clock,
    signal,
    place,
    onRetry,
    // Standing in line is no fault of the API, and must not use up its time.
    elapsedMs: () => elapsedMs() - spent.waitedMs,
  });
  return {
    start: request.start,
    length: request.length,
    body,
    framed,
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
      spent.requests++;
      try {
        return await ask(shared, asked, key, fresh ?? shared.dispatcher);
      } catch (error) {
        if (error instanceof ConnectionLostError && mayBeKept && !spent.freshConnection) {
          spent.freshConnection = true;
          fresh = shared.freshDispatcher();
        } else if (error instanceof RefusedError && error.status === 401 && !spent.freshKey) {
          spent.freshKey = true;
          if (!(await shared.keyring.renew(key))) throw error;
        } else throw error;
      } finally {
        turn.end();
      }
    }
  } finally {
    await fresh?.destroy();
  }
}

async function waitForTurn({ clock, limiter }: Shared, asked: Asked, spent: Spent): Promise<Turn> {
  const since = clock.monotonic();
  const turn = await limiter.pass(asked.priority, asked.signal);
  if (spent.startedAt === null) spent.startedAt = clock.monotonic();
  else spent.waitedMs += clock.monotonic() - since;
  return turn;
}

/** One request; its body when it is one that may be a page. */
async function ask(
  shared: Shared,
  asked: Asked,
  key: string,
  dispatcher: Dispatcher,
): Promise<Body> {
  const { address, keyring, bodyLimitBytes } = shared;
  const answer = await exchange({
    dispatcher,
    clock: shared.clock,
    origin: address.origin,
    path: asked.path,
    headers: pageHeaders(key, shared.gzip),
    timeoutMs: shared.pageTimeoutMs,
    limitBytes: bodyLimitBytes,
    signal: asked.signal,
    place: {
      host: address.host,
      connectTimeoutMs: shared.connectTimeoutMs,
      secrets: keyring.secrets(),
      asked: asked.place,
    },
  });
  shared.everAnswered = true;
  if (answer.status !== 200) throw await refusal(shared, asked, answer);
  const encoding = answer.headers['content-encoding'];
  const body = await decodeBody({ wire: answer.wire, encoding }, bodyLimitBytes, asked.place);
  refuseNonJson(body, keyring.secrets(), asked.place);
  return { body, framed: body === answer.wire ? answer.framed : undefined };
}

/** The error of an answer that is not a 200; a wait that 429 or 503 asks for holds everyone. */
async function refusal(shared: Shared, asked: Asked, answer: Answer): Promise<Error> {
  const { clock, policy, keyring, limiter } = shared;
  const { status, headers, wire } = answer;
  const encoding = headers['content-encoding'];
  const body = await decodeBody({ wire, encoding }, wire.length * 50, asked.place).catch(() =>
    Buffer.alloc(0),
  );
  const error = errorOfStatus(
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
  if (error instanceof TransientError && (status === 429 || status === 503))
    limiter.hold(error.retryAfterMs ?? 0);
  return error;
}

/** The first of a header that may have come several times. */
function one(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : header?.[0];
}
