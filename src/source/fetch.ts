/** How one page is fetched: the attempts, what is tried again at once, and what is told while the API is away. */
import { createHash } from 'node:crypto';
import type { Dispatcher } from 'undici';
import { letOthersGo } from '../clock.ts';
import { RefusedError } from '../errors.ts';
import type { Page, PageRequest, Priority } from '../model.ts';
import type { Api } from './api.ts';
import { askOnce, type Body } from './ask.ts';
import type { PageFetch } from './exchange.ts';
import { LostBeforeAnswerError } from './exchange-failure.ts';
import { pageTarget } from './request.ts';
import { type RetryNotice, untilItSucceeds } from './retry.ts';

/** How a page is fetched. */
export interface FetchOptions {
  readonly signal: AbortSignal;
  /** Who goes first when requests have to wait; absent: as scheduled work. */
  readonly priority?: Priority | undefined;
  /** Told before each wait. */
  readonly onRetry?: (notice: RetryNotice) => void | Promise<void>;
}

/** So long a refused key is not tried again by anybody; the run has ended by then. */
const REFUSED_MS = 10_000;

/**
 * So many turns of the event loop pass before anything is made of an answer, so that the request that waited for its place is sent
 * first: in the first turn undici looks whether the kept connection still stands, in the next it writes.
 */
const TURNS_TO_SEND = 2;

/** How often it is told that the API is away. */
const AWAY_MS = 15_000;

/** As `Source.fetchPage`. */
export async function fetchPage(
  api: Api,
  request: PageRequest,
  { signal, onRetry, priority = { purpose: 'scheduled' } }: FetchOptions,
): Promise<Page> {
  const { clock, watch } = api.options;
  const url = `${api.address.shown}/api/${request.resource}`;
  const place = `${url} (start ${request.start}, length ${request.length})`;
  const page: PageFetch = {
    path: pageTarget(api.address.prefix, request),
    url,
    place,
    signal,
    priority,
    ms: 0,
    namedMs: 0,
    pauseMs: null,
    requests: 0,
    startedAt: null,
    freshConnection: false,
    freshKey: false,
  };
  const answered = await untilItSucceeds(() => attempt(api, page), {
    policy: api.policy,
    clock,
    signal,
    place,
    spent: page,
    onRetry: async (notice) => {
      watch?.retried(notice.waitMs);
      tellAway(api, notice);
      await onRetry?.(notice);
    },
  });
  await letOthersGo(TURNS_TO_SEND);
  return {
    ...answered,
    start: request.start,
    length: request.length,
    sha256: createHash('sha256').update(answered.body).digest(),
    durationMs: clock.monotonic() - (page.startedAt ?? clock.monotonic()),
    requests: page.requests,
  };
}

/**
 * One counted attempt. Two things are tried once more at once, and once for each page: a connection that was lost
 * before an answer (a kept one may have been closed just then), and a key that was refused, if there is another now.
 */
async function attempt(api: Api, page: PageFetch): Promise<Body> {
  let fresh: Dispatcher | undefined;
  try {
    for (;;) {
      const permit = await api.limiter.acquire(page.priority, page.signal);
      const key = await api.credentials.current();
      const mayBeKept = api.everAnswered;
      try {
        refuseAsBefore(api, key);
        page.requests++;
        return await askOnce(api, page, key, fresh ?? api.dispatcher, permit);
      } catch (error) {
        if (error instanceof LostBeforeAnswerError && mayBeKept && !page.freshConnection) {
          page.freshConnection = true;
          fresh = api.freshDispatcher();
        } else if (error instanceof RefusedError && (await isKeyRenewed(api, page, key, error))) {
          page.freshKey = true;
        } else throw error;
      } finally {
        // Where an answer came, the limiter has heard of it already.
        permit.release({ kind: 'lost' });
      }
    }
  } finally {
    await fresh?.destroy();
  }
}

/** Right after a key was refused everyone is, without a request: others stood in line, and a lock-out may follow. */
function refuseAsBefore({ refusal, options }: Api, key: string): void {
  if (refusal?.key === key && options.clock.monotonic() - refusal.at < REFUSED_MS)
    throw refusal.error;
}

/** Whether there is another key after this refusal, once for each page; where there is none, it holds for all in line. */
async function isKeyRenewed(api: Api, page: PageFetch, key: string, error: RefusedError) {
  const renewed = !page.freshKey && (await api.credentials.renew(key));
  // Who was refused without a request makes that no younger.
  if (!renewed && api.refusal?.error !== error)
    api.refusal = { key, at: api.options.clock.monotonic(), error };
  return renewed;
}

/** Tells that the API is away, now and then. */
function tellAway({ away, options: { clock, onAway } }: Api, { leftMs }: RetryNotice): void {
  const now = clock.monotonic();
  if (away === null || now - away.toldAt < AWAY_MS) return;
  away.toldAt = now;
  onAway?.({ awayMs: now - away.since, until: clock.now() + leftMs });
}
