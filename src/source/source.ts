/** The source: asks the Event Query API for pages, and gives back each page's bytes or an error that says what to do. */
import type { Dispatcher } from 'undici';
import type { Clock } from '../clock.ts';
import type { Page, PageRequest } from '../model.ts';
import { excerpt, openRedactor, type Redactor } from '../redactor.ts';
import { parseBase } from './address.ts';
import type { Away, Shared, SourceWatch } from './ask.ts';
import { BodyMemory } from './body-memory.ts';
import { openCredentials } from './credentials.ts';
import { openDispatcher, type ProxyOptions, type TlsOptions } from './dispatcher.ts';
import { type FetchOptions, fetchPage } from './fetch.ts';
import { type ContractHints, type FoundContract, findContract } from './find-contract.ts';
import { Limiter, type LimiterState } from './limiter.ts';
import type { Budget } from './slots.ts';

export type { Away, SourceWatch } from './ask.ts';

/** The range of the first wait and the first pause, and the widest of both: no settings, and given by tests alone. */
const RETRY_BASE_MS = 1_000;
const RETRY_CAP_MS = 15_000;
/** A timer that is set for longer fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export interface SourceOptions {
  readonly baseUrl: string;
  readonly key: string;
  readonly clock: Clock;
  /** Most bytes of a body, before decompression and after; its values are bounded by it too. */
  readonly bodyLimitBytes: number;
  /** Reads the key again after a 401; undefined: there is none any more. */
  readonly refreshKey?: () => Promise<string | undefined>;
  /** Is told of every key and password; absent: one of its own. */
  readonly redactor?: Redactor;
  readonly tls?: TlsOptions;
  readonly proxy?: ProxyOptions;
  /** Plain HTTP to hosts other than this machine. */
  readonly allowHttp: boolean;
  /** Whether to ask for compressed answers. */
  readonly gzip: boolean;
  /** Most requests under way at a time, each on a connection of its own; further ones wait for their turn. */
  readonly connections: number;
  /** Requests a second that are never exceeded, as several share them. */
  readonly budget?: Budget;
  readonly connectTimeoutMs: number;
  /** The whole of one attempt: waiting for a connection, headers and body. */
  readonly pageTimeoutMs: number;
  /** How long a page is tried, without pauses that the API names. */
  readonly retryTimeMs: number;
  /** A longer pause that the API names is taken for this; and so long all of them may be for one page. */
  readonly retryAfterLimitMs: number;
  readonly retryBaseMs?: number;
  readonly retryCapMs?: number;
  /** Told when the limiter's state may have changed. */
  readonly onLimits?: (state: LimiterState) => void;
  /** Told each 15 s or so as long as the API is away. */
  readonly onAway?: (away: Away) => void;
  readonly watch?: SourceWatch;
}

export interface Source {
  /**
   * Fetches one page. A 204, or a 404 in JSON, is one too: some sources answer so where there are no records.
   * @throws RefusedError, RequestError, EnvelopeError, TooLargeError, SettingsError (TLS) at once; UnavailableError
   *   after retries, whose cause is the last TransientError; the signal's reason.
   */
  fetchPage(request: PageRequest, options: FetchOptions): Promise<Page>;
  /** As `findContract`, with the key struck out of its messages. */
  findContract(body: Buffer, hints?: ContractHints): FoundContract;
  /** What may be shown of text that this source sent: short, one line, without the key. */
  excerpt(content: string | Uint8Array): string;
  /** What the limiter of this source does now. */
  limits(): LimiterState;
  /** The key of the next request, read again from where it came. */
  currentKey(): Promise<string>;
  /** The key that was refused last, by an answer that names no time; null: none was. */
  refusedKey(): string | null;
  /** Drops all connections; what is under way fails. */
  close(): Promise<void>;
}

/**
 * Opens a source; no connection is made yet.
 * @throws SettingsError for a URL, key, certificate or proxy that cannot be used.
 */
export function openSource(options: SourceOptions): Source {
  const { tls = {}, proxy = {}, clock, connections, connectTimeoutMs, budget } = options;
  const { redactor = openRedactor(), retryBaseMs = RETRY_BASE_MS } = options;
  const { retryCapMs = RETRY_CAP_MS } = options;
  const address = parseBase(options.baseUrl, options.allowHttp);
  const connect = (count: number): Dispatcher =>
    openDispatcher({ address, tls, proxy, connections: count, connectTimeoutMs });
  const shared: Shared = {
    clock,
    gzip: options.gzip,
    connectTimeoutMs,
    pageTimeoutMs: Math.min(options.pageTimeoutMs, LONGEST_TIMER_MS),
    bodyLimitBytes: options.bodyLimitBytes,
    address,
    policy: {
      timeMs: options.retryTimeMs,
      baseMs: retryBaseMs,
      capMs: retryCapMs,
      retryAfterLimitMs: options.retryAfterLimitMs,
    },
    credentials: openCredentials(options.key, options.refreshKey, redactor),
    limiter: new Limiter({
      clock,
      most: connections,
      pauseMs: retryBaseMs,
      longestPauseMs: retryCapMs,
      budget,
      onChange: options.onLimits,
    }),
    dispatcher: connect(connections),
    freshDispatcher: () => connect(1),
    watch: options.watch,
    onAway: options.onAway,
    refusal: null,
    everAnswered: false,
    away: null,
    memory: new BodyMemory(),
  };
  return {
    fetchPage: (request, fetch) => fetchPage(shared, request, fetch),
    findContract: (body, hints) =>
      findContract(body, { ...hints, secrets: shared.credentials.secrets() }),
    excerpt: (content) => excerpt(content, shared.credentials.secrets()),
    limits: () => shared.limiter.state,
    currentKey: async () => {
      await shared.credentials.renew(shared.credentials.current());
      return shared.credentials.current();
    },
    refusedKey: () => shared.refusal?.key ?? null,
    close: () => shared.dispatcher.destroy(),
  };
}
