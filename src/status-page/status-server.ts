/** The status server: pages for people, health for machines, metrics for Prometheus; it shows and never changes anything. */

import { hostname } from 'node:os';
import { type Answer, json, words } from '../answer.ts';
import type { Clock } from '../clock.ts';
import { readStreamDays } from '../days/covered-days.ts';
import type { Expectation } from '../days/health.ts';
import { type Lateness, readLateness } from '../days/lateness-rows.ts';
import { readDayPages } from '../days/page-rows.ts';
import { readStatus, statusDocument } from '../days/status.ts';
import { readDayStory } from '../days/story-rows.ts';
import { DaywalkError, TransientError } from '../errors.ts';
import { type IncomingRequest, type Listener, listen, type Work } from '../listener.ts';
import type { Logger } from '../log.ts';
import { lastDayOf } from '../plan/days.ts';
import { Wrong } from '../settings/problems.ts';
import { dayOf } from '../settings/values/day.ts';
import { type ListenAddress, listensOnLoopback } from '../settings/values/listen.ts';
import type { LimiterState } from '../source/limiter.ts';
import { Database, readTogether } from '../store/database.ts';
import { databaseNow } from '../store/windows.ts';
import type { Activity } from './activity.ts';
import { isOurHost } from './allowed-hosts.ts';
import { type FactsParts, type Kept, keep, readStanding, type Standing } from './facts.ts';
import { healthAnswer, refusedSentence, unknownHealth, withNotInStep } from './health-answers.ts';
import { page } from './html.ts';
import type { Metrics } from './metrics.ts';
import { awayPage } from './pages/away-page.ts';
import { dayPage, PAGES_SHOWN } from './pages/day-page.ts';
import { monthPage } from './pages/month-page.ts';
import { ICON } from './pages/page-frame.ts';
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

/**
 * Two connections of its own, so that the export has all others: one for what is the same for all who ask, one for the
 * pages of which visitors choose the number. No statement may take longer than this.
 */
const STATEMENT_MS = 4_000;
/** What was read is shown for so long: a little less than the pages take to ask again. */
const KEPT_MS = 2_000;
/** Pages of days and months that are kept. */
const MOST_KEPT = 64;
/** So many answers are worked on at a time; fewer than there may be connections, so that some are left for machines. */
const MOST_ANSWERS = 32;
const LONGEST_URL = 512;

/** A status server, which shows what is stored as soon as it has a database. */
export class StatusServer {
  readonly #parts: StatusServerParts;
  #listener: Listener | null = null;
  #shared: Database | null = null;
  #chosen: Database | null = null;
  #waitsFor = 'the worker has just begun to open its database';
  readonly #standing: Kept<Standing>;
  readonly #lateness: Kept<readonly Lateness[]>;
  readonly #document: Kept<unknown>;
  readonly #readiness: Kept<unknown>;
  /** By their paths; the one that was asked for last is the last. */
  readonly #pages = new Map<string, Kept<Answer>>();

  constructor(parts: StatusServerParts) {
    this.#parts = parts;
    parts.metrics.begin(parts.streams);
    const kept = <T>(read: (facts: FactsParts) => Promise<T>) =>
      keep(parts.clock, KEPT_MS, async () => read(this.#facts(this.#shared)));
    this.#standing = kept(readStanding);
    this.#lateness = kept(({ database, streams }) => readLateness(database, streams));
    this.#document = kept(async ({ database, streams, expectation }) =>
      statusDocument(await readStatus(database, streams, expectation), expectation.schedule),
    );
    this.#readiness = kept(({ database }) => databaseNow(database));
  }

  /**
   * Begins to answer.
   * @returns at which URL.
   * @throws SettingsError where the address cannot be listened on.
   */
  async listen(): Promise<string> {
    const { address, clock, log } = this.#parts;
    this.#listener = await listen({
      name: 'the status page',
      hint: 'Set status.listen (DAYWALK_STATUS_LISTEN) to another address and port, or to off.',
      address,
      longestUrl: LONGEST_URL,
      most: MOST_ANSWERS,
      clock,
      log,
      route: (asked) => this.#route(asked),
      refuse: words,
    });
    const { url } = this.#listener;
    log.info({ url }, 'the status page is served');
    if (!listensOnLoopback(address))
      log.warn(
        'the status page can be reached from other machines, by whoever reaches this port; it asks for no password',
      );
    return url;
  }

  /** From now on the database with the schema in it is there; `postgres://…`. */
  attach(url: string): void {
    const { clock, log } = this.#parts;
    const limits = { connections: 1, statementTimeoutMs: STATEMENT_MS, patienceMs: 0 };
    const open = () => new Database({ url, ...limits, clock, log });
    [this.#shared, this.#chosen] = [open(), open()];
    // What is kept so far says that there is no database, and would say it for KEPT_MS more.
    for (const kept of [this.#standing, this.#lateness, this.#document, this.#readiness])
      kept.forget();
    this.#pages.clear();
  }

  /** Until then: what is waited for, in words that hold no secret. */
  waiting(what: string): void {
    this.#waitsFor = what;
  }

  async close(): Promise<void> {
    await this.#listener?.close();
    await Promise.all([this.#shared?.close(), this.#chosen?.close()]);
  }

  /** @throws {TransientError} as long as there is no database. */
  #facts(database: Database | null) {
    if (database === null) throw new TransientError(this.#waitsFor);
    return { ...this.#parts, database };
  }

  /** What needs no database is answered at once, however many wait for theirs. */
  #route({ path, headers }: IncomingRequest): Answer | Work {
    if (!isOurHost(headers.host, [hostname(), ...this.#parts.hosts]))
      return words(
        421,
        'This server is not known under this name. If it should be, add the name to status.hosts (DAYWALK_STATUS_HOSTS).',
      );
    switch (path) {
      case '/page.css':
        return { status: 200, type: 'text/css; charset=utf-8', body: STYLE };
      case '/page.js':
        return { status: 200, type: 'text/javascript; charset=utf-8', body: SCRIPT };
      case '/icon.svg':
        return { status: 200, type: 'image/svg+xml', body: ICON };
      case '/livez':
        return words(200, 'alive');
      default:
        return async () => (await this.#answer(path)) ?? words(404, 'There is nothing here.');
    }
  }

  /** The answer; null: there is nothing at this path. */
  async #answer(path: string): Promise<Answer | null> {
    const { activity, strike } = this.#parts;
    switch (path) {
      case '/':
        return this.#page('', () => this.#statusPage());
      case '/now':
        return this.#page('', async () =>
          page(livePart({ standing: await this.#standingNow(), doing: activity })),
        );
      case '/readyz':
        return this.#orAway(
          () => this.#ready(),
          (why) => words(503, `the database is away: ${why}`),
        );
      case '/healthz':
        return this.#orAway(
          async () => healthAnswer((await this.#standingNow()).health, activity.notInStep, strike),
          unknownHealth,
        );
      case '/status.json':
        return this.#orAway(
          async () => json(200, await this.#document.get()),
          (error) => json(503, { error }),
        );
      case '/metrics':
        return this.#metrics();
      default:
        return this.#below(path);
    }
  }

  async #below(path: string): Promise<Answer | null> {
    const { streams, version, expectation } = this.#parts;
    const [, kind, stream = '', text = ''] = BELOW.exec(path) ?? [];
    if (!streams.includes(stream) || !isShown(kind === 'day' ? text : `${text}-01`)) return null;
    if (kind === 'day')
      return this.#chosenPage(path, async ({ database }) => {
        const story = readDayStory(database, stream, text);
        const pages = readDayPages(database, stream, text, PAGES_SHOWN);
        return page(dayPage({ version, ...(await readTogether({ story, pages })) }));
      });
    return this.#chosenPage(path, async ({ database }) => {
      const range = { from: `${text}-01`, to: lastDayOf(text) };
      const [days] = await readStreamDays(database, {
        streams: [stream],
        ...range,
        ...expectation,
      });
      return page(monthPage({ version, stream, month: text, days: days?.days ?? [] }));
    });
  }

  /** A page of a day or a month: read once for all who ask for it meanwhile, and one after the other. */
  #chosenPage(path: string, read: (facts: FactsParts) => Promise<Answer>): Promise<Answer> {
    const { clock } = this.#parts;
    const kept =
      this.#pages.get(path) ?? keep(clock, KEPT_MS, async () => read(this.#facts(this.#chosen)));
    this.#pages.delete(path);
    this.#pages.set(path, kept);
    for (const [oldest] of this.#pages)
      if (this.#pages.size > MOST_KEPT) this.#pages.delete(oldest);
    return this.#page('../../', () => kept.get());
  }

  /** Where the export stands; a key that is refused goes before all else. */
  async #standingNow(): Promise<Standing> {
    const { activity, strike } = this.#parts;
    const standing = await this.#standing.get();
    const { refused, notInStep } = activity;
    if (refused === null) return { ...standing, health: withNotInStep(standing.health, notInStep) };
    const sentence = strike(refusedSentence(refused));
    return { ...standing, health: { ...standing.health, level: 'refused', sentence } };
  }

  async #statusPage(): Promise<Answer> {
    const { version, activity, expectation } = this.#parts;
    const [standing, late] = await Promise.all([this.#standingNow(), this.#lateness.get()]);
    const { timeZone } = expectation;
    return page(statusPage({ version, standing, late, doing: activity, timeZone }));
  }

  /** A page, or the one that says that there is none. */
  #page(root: string, read: () => Promise<Answer>): Promise<Answer> {
    const { version, activity } = this.#parts;
    return this.#orAway(read, (why) => page(awayPage(version, root, why, activity), 503));
  }

  /** What is read, or what is said where the database is away. */
  async #orAway(read: () => Promise<Answer>, away: (why: string) => Answer): Promise<Answer> {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof DaywalkError)) throw error;
      return away(this.#parts.strike(error.message));
    }
  }

  /** 200 as long as the database answers and the key is not refused. */
  async #ready(): Promise<Answer> {
    const { activity, strike } = this.#parts;
    if (activity.refused !== null) return words(503, strike(refusedSentence(activity.refused)));
    await this.#readiness.get();
    return words(200, 'ready');
  }

  async #metrics(): Promise<Answer> {
    const { metrics, version, expectation, activity, limits } = this.#parts;
    const standing = await this.#standing.get().catch(() => null);
    const { timeZone } = expectation;
    const state = { version, timeZone, standing, doing: activity, limits: limits() };
    return { status: 200, ...(await metrics.read(state)) };
  }
}

/** The pages of a day and of a month. */
const BELOW = /^\/(day|month)\/([\w-]{1,63})\/(\d{4}-\d{2}(?:-\d{2})?)$/;

/** A day of the calendar, with days before and after it. */
const isShown = (text: string): boolean => !(dayOf(text) instanceof Wrong) && text < '9999';
