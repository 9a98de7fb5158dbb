/** The status server: pages for people, health for machines, metrics for Prometheus; it shows and never changes anything. */
import { hostname } from 'node:os';
import type { Clock } from '../clock.ts';
import { dayOf } from '../config/day.ts';
import { isLoopback, type ListenAddress } from '../config/listen.ts';
import { Wrong } from '../config/problems.ts';
import { DaywalkError, TransientError } from '../errors.ts';
import type { Logger } from '../log.ts';
import type { Expectation } from '../report/health.ts';
import type { LimiterState } from '../source/limiter.ts';
import { Database } from '../store/database.ts';
import { databaseNow } from '../store/windows.ts';
import type { Activity } from './activity.ts';
import { type Answer, json, page, words } from './answer.ts';
import {
  type DayParts,
  readDayAnswer,
  readMonthAnswer,
  readStatusDocument,
} from './day-answers.ts';
import {
  type Changes,
  type FactsParts,
  Kept,
  readChanges,
  readStanding,
  type Standing,
} from './facts.ts';
import { healthAnswer, readyAnswer } from './health-answers.ts';
import { listen } from './listener.ts';
import type { Metrics } from './metrics.ts';
import { awayPage } from './pages/away-page.ts';
import { ICON } from './pages/layout.ts';
import { SCRIPT } from './pages/script.ts';
import { livePart, statusPage } from './pages/status-page.ts';
import { STYLE } from './pages/style.ts';

/** What the status server needs. */
export interface StatusServerParts {
  readonly address: ListenAddress;
  /** Names under which it may be asked for, besides addresses, `localhost` and the machine's own. */
  readonly hosts: readonly string[];
  readonly streams: readonly string[];
  readonly expectation: Expectation;
  readonly version: string;
  readonly activity: Activity;
  readonly metrics: Metrics;
  readonly limits: () => LimiterState;
  readonly clock: Clock;
  readonly log: Logger;
  /** Strikes secrets out of foreign text. */
  readonly strike: (text: string) => string;
}

/** A status server that listens, and shows what is stored as soon as it has a database. */
export interface StatusServer {
  readonly url: string;
  /** From now on the database with the schema in it is there; `postgres://…`. */
  attach(databaseUrl: string): void;
  /** Until then: what is waited for, in words that hold no secret. */
  waiting(what: string): void;
  close(): Promise<void>;
}

/** Connections of its own: so many at most, and no statement for longer than this, so that the export has all others. */
const CONNECTIONS = 2;
const STATEMENT_MS = 4_000;
/** What was read is shown for so long: a little less than the pages take to ask again. */
const KEPT_MS = 2_000;

/**
 * Starts it.
 * @throws SettingsError where the address cannot be listened on.
 */
export async function openStatusServer(parts: StatusServerParts): Promise<StatusServer> {
  const { log } = parts;
  const server = new Answering(parts);
  const listener = await listen({
    address: parts.address,
    names: [hostname(), ...parts.hosts],
    log,
    answer: (path) => server.answer(path),
  });
  log.info({ url: listener.url }, 'the status page is served');
  if (!isLoopback(parts.address))
    log.warn(
      'the status page can be reached from other machines, by whoever reaches this port; it asks for no password',
    );
  return {
    url: listener.url,
    attach: (databaseUrl) => server.attach(databaseUrl),
    waiting: (what) => server.waiting(what),
    close: async () => {
      await listener.close();
      await server.close();
    },
  };
}

/** Finds the answer to a path. */
class Answering {
  readonly #parts: StatusServerParts;
  #database: Database | null = null;
  #waitsFor = 'the worker has just begun to open its database';
  readonly #standing: Kept<Standing>;
  readonly #changes: Kept<Changes>;
  readonly #document: Kept<unknown>;

  constructor(parts: StatusServerParts) {
    this.#parts = parts;
    const kept = <T>(read: (facts: FactsParts & DayParts) => Promise<T>) =>
      new Kept(parts.clock, KEPT_MS, async () => read(this.#facts()));
    this.#standing = kept(readStanding);
    this.#changes = kept(readChanges);
    this.#document = kept(readStatusDocument);
  }

  attach(url: string): void {
    const { clock, log } = this.#parts;
    this.#database = new Database({
      url,
      connections: CONNECTIONS,
      statementTimeoutMs: STATEMENT_MS,
      patienceMs: 0,
      clock,
      log,
    });
    // What is kept so far says that there is no database, and would say it for KEPT_MS more.
    for (const kept of [this.#standing, this.#changes, this.#document]) kept.forget();
  }

  waiting(what: string): void {
    this.#waitsFor = what;
  }

  async close(): Promise<void> {
    await this.#database?.close();
  }

  /** @throws {TransientError} as long as there is no database. */
  #facts() {
    if (this.#database === null) throw new TransientError(this.#waitsFor);
    return { ...this.#parts, database: this.#database };
  }

  /** The answer; null: there is nothing at this path. */
  async answer(path: string): Promise<Answer | null> {
    switch (path) {
      case '/':
        return this.#page('', () => this.#statusPage());
      case '/now':
        return this.#page('', async () =>
          page(
            livePart({ standing: await this.#standing.get(), doing: this.#parts.activity.doing }),
          ),
        );
      case '/page.css':
        return { status: 200, type: 'text/css; charset=utf-8', body: STYLE };
      case '/page.js':
        return { status: 200, type: 'text/javascript; charset=utf-8', body: SCRIPT };
      case '/icon.svg':
        return { status: 200, type: 'image/svg+xml', body: ICON };
      case '/livez':
        return words(200, 'alive');
      case '/readyz':
        return readyAnswer(async () => databaseNow(this.#facts().database), this.#parts);
      case '/healthz':
        return healthAnswer(() => this.#standing.get(), this.#parts);
      case '/status.json':
        return this.#statusDocument();
      case '/metrics':
        return this.#metrics();
      default:
        return this.#below(path);
    }
  }

  async #below(path: string): Promise<Answer | null> {
    const { streams } = this.#parts;
    const day = /^\/day\/([\w-]{1,63})\/(\d{4}-\d{2}-\d{2})$/.exec(path);
    if (day !== null) {
      const [, stream = '', text = ''] = day;
      if (!streams.includes(stream) || !isShown(text)) return null;
      return this.#page('../../', async () => readDayAnswer(this.#facts(), stream, text));
    }
    const month = /^\/month\/([\w-]{1,63})\/(\d{4}-\d{2})$/.exec(path);
    if (month === null) return null;
    const [, stream = '', text = ''] = month;
    if (!streams.includes(stream) || !isShown(`${text}-01`)) return null;
    return this.#page('../../', async () => readMonthAnswer(this.#facts(), stream, text));
  }

  async #statusPage(): Promise<Answer> {
    const { version, activity, expectation } = this.#parts;
    const [standing, changes] = await Promise.all([this.#standing.get(), this.#changes.get()]);
    const { timeZone } = expectation;
    return page(statusPage({ version, standing, changes, doing: activity.doing, timeZone }));
  }

  /** A page, or the one that says that there is none. */
  async #page(root: string, read: () => Promise<Answer>): Promise<Answer> {
    const { version, activity, strike } = this.#parts;
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof DaywalkError)) throw error;
      const why = strike(error.message);
      return page(awayPage(version, root, why, activity.doing), 503);
    }
  }

  async #statusDocument(): Promise<Answer> {
    try {
      return json(200, await this.#document.get());
    } catch (error) {
      const { strike } = this.#parts;
      return json(503, { error: strike(error instanceof Error ? error.message : String(error)) });
    }
  }

  async #metrics(): Promise<Answer> {
    const { metrics, version, expectation, activity, limits } = this.#parts;
    const standing = await this.#standing.get().catch(() => null);
    const { timeZone } = expectation;
    const state = { version, timeZone, standing, doing: activity.doing, limits: limits() };
    return { status: 200, ...(await metrics.read(state)) };
  }
}

/** A day of the calendar, with days before and after it. */
const isShown = (text: string): boolean => !(dayOf(text) instanceof Wrong) && text < '9999';
