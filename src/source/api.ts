/** The API as all requests of one source know it: how it is asked, and what one request leaves to the next. */
import type { Dispatcher } from 'undici';
import type { Clock } from '../clock.ts';
import { type RefusedError, SettingsError } from '../errors.ts';
import { openRedactor, type Redactor } from '../redactor.ts';
import { parseBase } from './address.ts';
import { BodyMemory } from './body-memory.ts';
import { Credentials, fitsHeader } from './credentials.ts';
import { openDispatcher, type ProxyOptions, type TlsOptions } from './dispatcher.ts';
import { Limiter } from './limiter.ts';
import type { Budget } from './slots.ts';

/** A first wait is drawn from 0 to this, and a first pause is so long; both double up to the cap. No settings: tests alone give others. */
const RETRY_BASE_MS = 1_000;
const RETRY_CAP_MS = 15_000;

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

/** What opening a source needs. */
export interface SourceOptions {
  readonly baseUrl: string;
  readonly key: string;
  readonly clock: Clock;
  /** Most bytes of a body, before decompression and after; its values are bounded by it too. */
  readonly bodyLimitBytes: number;
  /** Reads the key again when it was refused; undefined: there is none any more. */
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
  /** Told each 15 s or so as long as the API is away. */
  readonly onAway?: (away: Away) => void;
  readonly watch?: SourceWatch;
}

/** No connection is made yet. */
export function apiOf(options: SourceOptions) {
  const { tls = {}, proxy = {}, clock, connections, connectTimeoutMs, budget } = options;
  const { retryBaseMs = RETRY_BASE_MS, retryCapMs = RETRY_CAP_MS } = options;
  const { redactor = openRedactor(), retryTimeMs, retryAfterLimitMs } = options;
  const address = parseBase(options.baseUrl, options.allowHttp);
  const readKey = async () => (await options.refreshKey?.()) ?? '';
  const credentials = new Credentials(redactor, readKey, secretsOf);
  credentials.take(options.key);
  const connect = (count: number): Dispatcher =>
    openDispatcher({ address, tls, proxy, connections: count, connectTimeoutMs });
  return {
    options,
    policy: { timeMs: retryTimeMs, baseMs: retryBaseMs, capMs: retryCapMs, retryAfterLimitMs },
    address,
    credentials,
    /** Knows these keys, and every other secret. */
    redactor,
    limiter: new Limiter({
      clock,
      most: connections,
      pauseMs: retryBaseMs,
      longestPauseMs: retryCapMs,
      budget,
    }),
    memory: new BodyMemory(),
    dispatcher: connect(connections),
    /** A dispatcher that has no connection yet. */
    freshDispatcher: () => connect(1),
    /** The last refusal of a key: whoever asks right after it would only be refused too. */
    refusal: null as {
      readonly key: string;
      readonly at: number;
      readonly error: RefusedError;
    } | null,
    /** Whether an answer ever came, so that a connection may be a kept one. */
    everAnswered: false,
    /** By how many ms its clock is ahead of ours, by the newest answer that told the time; null: none did. */
    skewMs: null as number | null,
    /** When the first request went that failed since the last answer, and when that was told last; null: the API is there. */
    away: null as { readonly since: number; toldAt: number } | null,
  };
}

/** The API as one source knows it. */
export type Api = ReturnType<typeof apiOf>;

function secretsOf(key: string): string[] {
  if (fitsHeader(key)) return [key];
  throw new SettingsError('the API key is empty or holds a space or a non-ASCII character', {
    hint: 'a line break at the end of the key file is the usual reason; the key is not shown here',
  });
}
