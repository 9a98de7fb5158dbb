/** How one request is made, what its answer is taken for, and what the limiter learns from it. */
import type { Dispatcher } from 'undici';
import type { Clock } from '../clock.ts';
import { type DaywalkError, RefusedError, TransientError } from '../errors.ts';
import type { Page, Priority } from '../model.ts';
import { holdsSecret } from '../redactor.ts';
import type { Address } from './address.ts';
import { decodeBody, emptyAnswer, refuseKey, refuseManyValues, refuseNonJson } from './body.ts';
import type { BodyMemory } from './body-memory.ts';
import type { Credentials } from './credentials.ts';
import { exchange, type HttpAnswer } from './exchange.ts';
import { httpDateMs } from './http-date.ts';
import type { Limiter, Permit } from './limiter.ts';
import { type Quota, quotaOf } from './quota.ts';
import { pageHeaders } from './request.ts';
import { parseRetryAfter, type RetryPolicy, type Spent } from './retry.ts';
import { asksForLater, errorOfStatus } from './status-code.ts';

/** Watches the requests of a source, for those who count them. Told as it happens; what it does must not throw. */
export interface SourceWatch {
  /** A request has ended: with an answer of this status, or without one. */
  answered(status: number | 'none', durationMs: number): void;
  /** A page is asked for again, after this wait. */
  retried(waitMs: number): void;
  /** The source asked everyone to wait; 0: it did not say how long. */
  refused(ms: number): void;
}

/** The API does not answer, or only with 5xx. */
export interface Away {
  readonly awayMs: number;
  /** When the page that failed last is given up; milliseconds since the epoch. */
  readonly until: number;
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
  readonly credentials: Credentials;
  readonly limiter: Limiter;
  readonly dispatcher: Dispatcher;
  /** A dispatcher that has no connection yet. */
  readonly freshDispatcher: () => Dispatcher;
  /** The last refusal of a key: whoever asks right after it would only be refused too. */
  refusal: { readonly key: string; readonly at: number; readonly error: RefusedError } | null;
  readonly watch: SourceWatch | undefined;
  readonly memory: BodyMemory;
  readonly onAway: ((away: Away) => void) | undefined;
  /** Whether an answer ever came, so that a connection may be a kept one. */
  everAnswered: boolean;
  /** When the first request went that failed since the last answer, and when that was told last; null: the API is there. */
  away: { readonly since: number; toldAt: number } | null;
}

/** What is asked for, as messages show it. */
export interface FetchTarget {
  readonly path: string;
  readonly url: string;
  readonly place: string;
  readonly signal: AbortSignal;
  readonly priority: Priority;
}

/** What fetching a page has taken so far. */
export class FetchSpent implements Spent {
  ms = 0;
  namedMs = 0;
  pauseMs: number | null = null;
  requests = 0;
  /** When its first request went. */
  startedAt: number | null = null;
  freshConnection = false;
  freshKey = false;
}

/** A body as a page holds it. */
export type Body = Pick<Page, 'body' | 'release' | 'status' | 'refused'>;

/** One request; its body when it is one that may be a page. The limiter learns from it whatever comes. */
export async function askOnce(
  shared: Shared,
  asked: FetchTarget,
  key: string,
  dispatcher: Dispatcher,
  permit: Permit,
  spent: FetchSpent,
): Promise<Body> {
  const { address, credentials, clock, bodyLimitBytes } = shared;
  const startedAt = clock.monotonic();
  spent.startedAt ??= startedAt;
  spent.pauseMs = null;
  const ended = (status: number | 'none'): void => {
    const took = clock.monotonic() - startedAt;
    spent.ms += took;
    shared.watch?.answered(status, took);
    if (status !== 'none' && status < 500) shared.away = null;
    else shared.away ??= { since: startedAt, toldAt: startedAt };
  };
  const answer = await exchange({
    dispatcher,
    clock,
    origin: address.origin,
    path: asked.path,
    headers: pageHeaders(key, shared.gzip),
    timeoutMs: shared.pageTimeoutMs,
    limitBytes: bodyLimitBytes,
    signal: asked.signal,
    memory: shared.memory,
    place: {
      host: address.host,
      connectTimeoutMs: shared.connectTimeoutMs,
      secrets: credentials.secrets(),
      asked: asked.place,
    },
  }).catch((error: unknown) => {
    if (error instanceof TransientError && error.timedOut) permit.release({ kind: 'late' });
    ended('none');
    throw error;
  });
  ended(answer.status);
  shared.everAnswered = true;
  const quota = quotaOf(
    answer.headers,
    serverNow(answer.headers, clock),
    shared.policy.retryAfterLimitMs,
  );
  if (answer.status !== 200) {
    const { error, body } = await errorOf(shared, asked, answer, quota);
    if (asksForLater(error)) {
      const { retryAfterMs = null } = error;
      shared.watch?.refused(retryAfterMs ?? 0);
      spent.pauseMs = permit.release({ kind: 'refused', retryAfterMs, quota });
    }
    // A refused key keeps its place until there is another one, so that nobody goes with the old one meanwhile.
    if (!(error instanceof RefusedError)) permit.release({ kind: 'answered', quota });
    const empty = emptyAnswer(answer.status, body);
    // A body that says the key back is not stored.
    if (empty === null || holdsSecret(empty.body, credentials.keys())) throw error;
    return { ...empty, refused: error };
  }
  permit.release({ kind: 'answered', quota });
  const encoding = answer.headers['content-encoding'];
  const wire = { wire: answer.wire, encoding, secrets: credentials.secrets() };
  const body = await decodeBody(wire, bodyLimitBytes, asked.place);
  refuseNonJson(body, credentials.secrets(), asked.place);
  refuseKey(body, credentials.keys(), asked.place);
  refuseManyValues(body, bodyLimitBytes, asked.place);
  const { lent } = answer;
  const release = (): void => {
    if (lent !== null) shared.memory.giveBack(lent);
  };
  if (body === answer.wire) return { body, release };
  release();
  return { body };
}

/** The error of an answer that is not a 200, and its body. */
async function errorOf(
  { policy, credentials, clock }: Shared,
  { url, place }: FetchTarget,
  { status, headers, wire }: HttpAnswer,
  quota: Quota | null,
): Promise<{ error: DaywalkError; body: Buffer }> {
  const encoding = headers['content-encoding'];
  const secrets = credentials.secrets();
  const body = await decodeBody({ wire, encoding, secrets }, wire.length * 50, place).catch(() =>
    Buffer.alloc(0),
  );
  const retryAfterMs =
    parseRetryAfter(
      one(headers['retry-after']),
      serverNow(headers, clock),
      policy.retryAfterLimitMs,
    ) ?? (quota?.remaining === 0 ? quota.resetMs : undefined);
  const error = errorOfStatus(
    { status, retryAfterMs, location: one(headers.location), body },
    { url, place, secrets },
  );
  return { error, body };
}

/** The time by the server's own clock where it tells it, so that ours need not agree. */
function serverNow({ date }: HttpAnswer['headers'], clock: Clock): number {
  const now = clock.now();
  return httpDateMs(one(date) ?? '', now) ?? now;
}

/** The first of a header that may have come several times. */
function one(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : header?.[0];
}
