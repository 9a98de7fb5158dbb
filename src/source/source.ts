/** The source: asks the Event Query API for pages, and gives back each page's bytes or an error that says what to do. */
import type { Dispatcher } from 'undici';
import type { Clock } from '../clock.ts';
import type { Envelope, Page, PageRequest } from '../model.ts';
import { parseBase } from './address.ts';
import { openDispatcher, type ProxyOptions, proxySecrets, type TlsOptions } from './dispatcher.ts';
import { type EnvelopeHints, findEnvelope } from './envelope.ts';
import { type FetchOptions, fetchPage, type Shared } from './fetch.ts';
import { openKeyring } from './keyring.ts';
import { type LimiterState, openLimiter } from './limiter.ts';
import { type Budget, ownBudget } from './slots.ts';
import { type SourceWatch, unwatched } from './watch.ts';

/** What holds where an option is absent. Milliseconds and bytes. */
export const SOURCE_DEFAULTS = {
  allowHttp: false,
  gzip: true,
  connections: 4,
  connectTimeoutMs: 10_000,
  pageTimeoutMs: 120_000,
  bodyLimitBytes: 32 * 1024 * 1024,
  retryAttempts: 6,
  retryTimeMs: 600_000,
  retryBaseMs: 1_000,
  retryCapMs: 30_000,
  retryAfterLimitMs: 300_000,
  watch: unwatched,
} as const;

/** A timer that is set for longer fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export interface SourceOptions {
  readonly baseUrl: string;
  readonly key: string;
  readonly clock: Clock;
  /** Reads the key again after a 401; undefined: there is none any more. */
  readonly refreshKey?: () => Promise<string | undefined>;
  readonly tls?: TlsOptions;
  readonly proxy?: ProxyOptions;
  /** Plain HTTP to hosts other than this machine. */
  readonly allowHttp?: boolean;
  /** Whether to ask for compressed answers. */
  readonly gzip?: boolean;
  /** Most requests under way at a time, each on a connection of its own; further ones wait for their turn. */
  readonly connections?: number;
  /** Requests a second that are never exceeded: a number for this process alone, or a budget that several share. */
  readonly rate?: number | Budget;
  /** Told when the limiter's state may have changed. */
  readonly onLimits?: (state: LimiterState) => void;
  readonly connectTimeoutMs?: number;
  /** The whole of one attempt: waiting for a connection, headers and body. */
  readonly pageTimeoutMs?: number;
  /** Most bytes of a body, before decompression and after. */
  readonly bodyLimitBytes?: number;
  /** Requests for one page at most, the first included and those that a 429 refused left out. */
  readonly retryAttempts?: number;
  /** From the first request for a page until no other one is begun. */
  readonly retryTimeMs?: number;
  readonly retryBaseMs?: number;
  readonly retryCapMs?: number;
  /** A longer `Retry-After` is taken for this. */
  readonly retryAfterLimitMs?: number;
  readonly watch?: SourceWatch;
}

export interface Source {
  /**
   * Fetches one page.
   * @throws RefusedError, RequestError, EnvelopeError, TooLargeError, SettingsError (TLS) at once; UnavailableError
   *   after retries, whose cause is the last TransientError; the signal's reason.
   */
  fetchPage(request: PageRequest, options: FetchOptions): Promise<Page>;
  /** As `findEnvelope`, with the key struck out of its messages. */
  findEnvelope(body: Buffer, hints?: EnvelopeHints): Envelope;
  /** What the limiter of this source does now. */
  limits(): LimiterState;
  /** Drops all connections; what is under way fails. */
  close(): Promise<void>;
}

/**
 * Opens a source; no connection is made yet.
 * @throws SettingsError for a URL, key, certificate or proxy that cannot be used.
 */
export function openSource(options: SourceOptions): Source {
  const { tls = {}, proxy = {}, key, refreshKey, ...given } = options;
  const settings = { ...SOURCE_DEFAULTS, ...given };
  const { connections, connectTimeoutMs, clock, rate } = settings;
  const address = parseBase(settings.baseUrl, settings.allowHttp);
  const connect = (count: number): Dispatcher =>
    openDispatcher({ address, tls, proxy, connections: count, connectTimeoutMs });
  const shared: Shared = {
    ...settings,
    pageTimeoutMs: Math.min(settings.pageTimeoutMs, LONGEST_TIMER_MS),
    address,
    policy: {
      attempts: settings.retryAttempts,
      timeMs: Math.min(settings.retryTimeMs, LONGEST_TIMER_MS),
      baseMs: settings.retryBaseMs,
      capMs: settings.retryCapMs,
      retryAfterLimitMs: Math.min(settings.retryAfterLimitMs, LONGEST_TIMER_MS),
    },
    keyring: openKeyring(key, refreshKey, proxySecrets(proxy)),
    limiter: openLimiter({
      clock,
      most: connections,
      pauseMs: settings.retryBaseMs,
      longestPauseMs: settings.retryCapMs,
      budget: typeof rate === 'number' ? ownBudget(rate, clock) : rate,
      onChange: options.onLimits,
    }),
    dispatcher: connect(connections),
    freshDispatcher: () => connect(1),
    refusal: null,
    everAnswered: false,
  };
  return {
    fetchPage: (request, fetch) => fetchPage(shared, request, fetch),
    findEnvelope: (body, hints) =>
      findEnvelope(body, { ...hints, secrets: shared.keyring.secrets() }),
    limits: () => shared.limiter.state(),
    close: () => shared.dispatcher.destroy(),
  };
}
