/** The status server: pages for people, health for machines, metrics for Prometheus; it shows and never changes anything. */

import { hostname } from 'node:os';
import { type Answer, json, words } from '../answer.ts';
import { readStreamDays, type StreamDays } from '../days/covered-days.ts';
import { readDayStory } from '../days/story-rows.ts';
import { DaywalkError, TransientError } from '../errors.ts';
import { isLoopbackHost } from '../hosts.ts';
import { type IncomingRequest, type Listener, type ListenerParts, listen } from '../listener.ts';
import { lastDayOf } from '../plan/days.ts';
import { Wrong } from '../settings/problems.ts';
import { parseDay } from '../settings/values/time.ts';
import { Database } from '../store/database.ts';
import type { Activity } from './activity.ts';
import { isOurHost } from './allowed-hosts.ts';
import { type FactsParts, type Overview, openFacts, type StatusFacts } from './facts.ts';
import { healthAnswer, refusedSentence, unknownHealth, withNotInStep } from './health-answers.ts';
import { page } from './html.ts';
import type { Metrics } from './metrics.ts';
import { dayPage } from './pages/day-page.ts';
import { monthPage } from './pages/month-page.ts';
import { ICON, layout, type PageContent } from './pages/page-frame.ts';
import { SCRIPT } from './pages/script.ts';
import { awayPage, livePart, statusPage } from './pages/status-page.ts';
import { STYLE } from './pages/style.ts';

/** What the status server needs. */
export interface StatusServerParts extends FactsParts, Pick<ListenerParts, 'address' | 'log'> {
  /** Names under which it may be asked for, besides addresses, `localhost` and the machine's own. */
  readonly hosts: readonly string[];
  readonly version: string;
  readonly activity: Activity;
  readonly metrics: Metrics;
  /** Strikes secrets out of foreign text. */
  readonly strike: (text: string) => string;
}

/**
 * Two connections of its own, so that the export has all others: one for what is the same for all who ask, one for the
 * pages of which visitors choose the number. No statement may take longer than this.
 */
const STATEMENT_MS = 4_000;
/** So many answers are worked on at a time; fewer than there may be connections, so that some are left for machines. */
const MOST_ANSWERS = 32;
const LONGEST_URL = 512;

/** A status server, which shows what is stored as soon as it has a database. */
export class StatusServer {
  readonly #parts: StatusServerParts;
  #listener: Listener | null = null;
  #databases: readonly Database[] = [];
  readonly #facts: StatusFacts;
  #waitsFor = 'the worker has just begun to open its database';

  constructor(parts: StatusServerParts) {
    this.#parts = parts;
    parts.metrics.begin(parts.streams);
    const way = (index: number) => () => {
      const database = this.#databases[index];
      if (database === undefined) throw new TransientError(this.#waitsFor);
      return database;
    };
    this.#facts = openFacts(parts, way(0), way(1));
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
    if (!isLoopbackHost(address.host))
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
    this.#databases = [open(), open()];
  }

  /** Until then: what is waited for, in words that hold no secret. */
  waiting(what: string): void {
    this.#waitsFor = what;
  }

  async close(): Promise<void> {
    await this.#listener?.close();
    await Promise.all(this.#databases.map((database) => database.close()));
  }

  /** What needs no database is answered at once, however many wait for theirs. */
  #route({ path, headers }: IncomingRequest) {
    if (!isOurHost(headers.host, [hostname(), ...this.#parts.hosts]))
      return words(
        421,
        'This server is not known under this name. If it should be, add the name to status.hosts (DAYWALK_STATUS_HOSTS).',
      );
    return FIXED.get(path) ?? (() => this.#answer(path));
  }

  async #answer(path: string): Promise<Answer> {
    try {
      return await this.#read(path);
    } catch (error) {
      if (!(error instanceof DaywalkError)) throw error;
      return this.#away(path, this.#parts.strike(error.message));
    }
  }

  async #read(path: string): Promise<Answer> {
    const { activity, strike } = this.#parts;
    switch (path) {
      case '/':
        return this.#statusPage();
      case '/now':
        return page(livePart({ standing: await this.#standingNow(), doing: activity }));
      case '/readyz':
        return this.#ready();
      case '/healthz':
        return healthAnswer((await this.#standingNow()).health, activity.notInStep, strike);
      case '/status.json':
        return json(200, await this.#facts.document());
      case '/metrics':
        return this.#metrics();
      default:
        return this.#below(path);
    }
  }

  /** What is said where the database is away. */
  #away(path: string, why: string): Answer {
    switch (path) {
      case '/readyz':
        return words(503, `the database is away: ${why}`);
      case '/healthz':
        return unknownHealth(why);
      case '/status.json':
        return json(503, { error: why });
      default:
        return this.#page(path, awayPage(why), 503);
    }
  }

  async #below(path: string): Promise<Answer> {
    const { streams, expectation } = this.#parts;
    const [, kind, stream = '', text = ''] = BELOW.exec(path) ?? [];
    if (!streams.includes(stream) || !isShown(kind === 'day' ? text : `${text}-01`))
      return words(404, 'There is nothing here.');
    const readDay = async (database: Database) =>
      this.#page(path, dayPage(await readDayStory(database, stream, text)));
    const readMonth = async (database: Database) => {
      const range = { from: `${text}-01`, to: lastDayOf(text) };
      const asked = { ...expectation, ...range, streams: [stream] };
      const [own] = (await readStreamDays(database, asked)) as [StreamDays];
      return this.#page(path, monthPage(own, text));
    };
    return this.#facts.page(path, kind === 'day' ? readDay : readMonth);
  }

  /** Where the export stands; a key that is refused goes before all else. */
  async #standingNow(): Promise<Overview> {
    const { activity, strike } = this.#parts;
    const standing = await this.#facts.standing();
    const { refused, notInStep } = activity;
    if (refused === null) return { ...standing, health: withNotInStep(standing.health, notInStep) };
    const sentence = strike(refusedSentence(refused));
    return { ...standing, health: { ...standing.health, level: 'refused', sentence } };
  }

  async #statusPage(): Promise<Answer> {
    const { activity, expectation } = this.#parts;
    const [standing, late] = await Promise.all([this.#standingNow(), this.#facts.lateness()]);
    const { timeZone } = expectation;
    return this.#page('/', statusPage({ standing, late, doing: activity, timeZone }));
  }

  #page(path: string, content: PageContent, status = 200): Answer {
    const root = BELOW.test(path) ? '../../' : '';
    return page(layout(content, root, this.#parts.version), status);
  }

  /** 200 as long as the database answers and the key is not refused. */
  async #ready(): Promise<Answer> {
    const { activity, strike } = this.#parts;
    if (activity.refused !== null) return words(503, strike(refusedSentence(activity.refused)));
    await this.#facts.readiness();
    return words(200, 'ready');
  }

  async #metrics(): Promise<Answer> {
    const { metrics, version, expectation, activity } = this.#parts;
    const standing = await this.#facts.standing().catch(() => null);
    const { timeZone } = expectation;
    const state = { version, timeZone, standing, doing: activity };
    return { status: 200, ...(await metrics.read(state)) };
  }
}

/** What is always the same. */
const FIXED = new Map<string, Answer>([
  ['/page.css', { status: 200, type: 'text/css; charset=utf-8', body: STYLE }],
  ['/page.js', { status: 200, type: 'text/javascript; charset=utf-8', body: SCRIPT }],
  ['/icon.svg', { status: 200, type: 'image/svg+xml', body: ICON }],
  ['/livez', words(200, 'alive')],
]);

/** The pages of a day and of a month. */
const BELOW = /^\/(day|month)\/([\w-]{1,63})\/(\d{4}-\d{2}(?:-\d{2})?)$/;

/** A day of the calendar, with days before and after it. */
const isShown = (text: string): boolean => !(parseDay(text) instanceof Wrong) && text < '9999';
