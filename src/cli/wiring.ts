/** The wiring of every verb: settings, the log and the database. */
import { styleText } from 'node:util';
import { systemClock } from '../clock.ts';
import { TransientError } from '../errors.ts';
import { createLogger, type Logger, type ProcessLogger } from '../log.ts';
import type { Stream } from '../model.ts';
import { settingsSecrets } from '../settings/describe.ts';
import { readEnvironment } from '../settings/environment.ts';
import { loadSettings } from '../settings/load.ts';
import type { Need } from '../settings/rules.ts';
import type { ApiSettings, Settings } from '../settings/settings.ts';
import { skipsCertificateCheck } from '../settings/values/url.ts';
import { Database } from '../store/database.ts';
import { requireEmbedded, startEmbedded } from '../store/embedded.ts';
import { migrate, newerDatabase, olderDatabase, readSchemaState } from '../store/migrations.ts';
import { readStreamNames } from '../store/streams.ts';
import { chosen } from './flags.ts';
import { redactor } from './process-redactor.ts';
import { stderrLines } from './terminal/live-lines.ts';
import type { Invocation } from './verb.ts';

/** What a person asked for, with the settings that hold for it. */
export interface Asked<S extends Settings = Settings> extends Invocation {
  readonly settings: S;
  /** Those that were chosen with `--stream`; all where none were. */
  readonly streams: readonly Stream[];
  /** Theirs. */
  readonly names: readonly string[];
}

/** What was asked of a verb that needs a database, unless it says what it needs; from now on nothing shows the secrets of its settings. */
export function askedOf(invocation: Invocation, needs: readonly Need[] = ['database']): Asked {
  const { options: flags } = invocation;
  const places = { flags, environment: readEnvironment(), cwd: process.cwd() };
  const loaded = loadSettings({ ...places, require: needs });
  redactor.add(...settingsSecrets(loaded));
  const isQuiet = flags.quiet === true && loaded.logLevel !== 'error';
  const settings: Settings = isQuiet ? { ...loaded, logLevel: 'warn' } : loaded;
  const streams = chosen(settings.streams, flags.stream);
  return { ...invocation, settings, streams, names: streams.map(({ name }) => name) };
}

/** The same of a verb that talks to the API. */
export const askedOfApi = (invocation: Invocation): Asked<ApiSettings> =>
  askedOf(invocation, ['api', 'database']) as Asked<ApiSettings>;

/** Streams that the database has and the settings do not define, or choose, any more; none where a flag chose some. */
export async function endedStreams({ options, names }: Asked, database: Database) {
  if (options.stream !== undefined || options.streams !== undefined) return [];
  return (await readStreamNames(database)).filter((name) => !names.includes(name));
}

/** The log of this process, on stderr, with every secret struck out. */
export function openLog(settings: Settings): Promise<ProcessLogger> {
  const isTerminal = process.stderr.isTTY === true;
  return createLogger({
    level: settings.logLevel,
    format: settings.logFormat,
    redact: redactor.redact,
    isTerminal,
    colour: styleText('dim', ' ', { stream: process.stderr }) !== ' ',
    ...(isTerminal && { destination: stderrLines.writable() }),
  });
}

/** What is opened, and is to be closed whatever happens. */
interface Closable {
  close(): Promise<unknown>;
}

/** Takes what is to be closed when the work is done. */
export type Later = (opened: Closable) => void;

/** Calls `work`, and closes whatever happens what it left for later, the last first. */
export async function closing<T>(work: (later: Later) => Promise<T>): Promise<T> {
  let closeAll: () => Promise<unknown> = async () => {};
  try {
    return await work((opened) => {
      const others = closeAll;
      closeAll = () => opened.close().finally(others);
    });
  } finally {
    await closeAll();
  }
}

/** The same with a log. */
export function withLog<T>(
  settings: Settings,
  work: (log: ProcessLogger, later: Later) => Promise<T>,
): Promise<T> {
  return closing(async (later) => {
    const log = await openLog(settings);
    later({ close: () => log.flush() });
    return work(log, later);
  });
}

/** A database that is there: the one of the URL, or the embedded one. */
export interface OpenDatabase extends Closable {
  readonly database: Database;
  readonly url: string;
}

/** Tells how to look into the embedded Postgres, where it stays: with other verbs it ends at once. */
export function tellUrl({ settings, url }: Pick<Store, 'settings' | 'url'>, log: Logger) {
  if (settings.embedded)
    log.info(`as long as this runs, the embedded Postgres can be looked into: psql '${url}'`);
}

/** The settings that hold, and what stops the program. */
type Setup = Pick<Asked, 'settings' | 'signal'>;

/** What a verb may make where it is not there: nothing, the tables in a database, or even the embedded Postgres. */
export type Makes = 'nothing' | 'tables' | 'cluster';

/** Starts the embedded Postgres where that is set; makes no connection otherwise. */
export async function reachDatabase({ settings, signal }: Setup, log: ProcessLogger, makes: Makes) {
  const { databaseUrl, directory } = settings;
  if (databaseUrl !== undefined) {
    if (skipsCertificateCheck(databaseUrl))
      log.warn(
        'DATABASE_URL switches the check of the database certificate off: whoever stands between can read and change everything; use sslmode=verify-full with sslrootcert',
      );
    return { url: databaseUrl.reveal(), close: async () => {} };
  }
  if (makes !== 'cluster') await requireEmbedded(directory);
  const started = await startEmbedded({ directory, signal, log });
  return { url: started.url, close: () => started.release() };
}

/** How long one try to reach a database may take. */
const ONE_TRY_MS = 3_000;

/** What a verb expects of its database. */
interface Expectation {
  /** What may be made where it is not there; nothing by default. */
  readonly makes?: Makes;
  /** Whether it is tried once, and not for as long as the settings say. */
  readonly once?: boolean;
  /** Told why, each time that it did not answer. */
  readonly onAway?: (error: TransientError) => void;
  /** How many connections there may be; by default as many as a run has work for. */
  readonly connections?: number;
}

/**
 * Opens the database with the schema in it, and refuses a newer one. Verbs that make nothing try once, unless they say
 * otherwise: somebody who only looks wants to know at once that it is away.
 */
export async function openDatabase(setup: Setup, log: ProcessLogger, expected: Expectation = {}) {
  const { settings, signal } = setup;
  const { makes = 'nothing', once = makes === 'nothing', onAway = () => {} } = expected;
  const { connections = windowsAtATime(settings) + 2 } = expected;
  const { url, close: leave } = await reachDatabase(setup, log, makes);
  const { statementTimeout } = settings;
  const database = new Database({
    url,
    connections,
    statementTimeoutMs: statementTimeout,
    patienceMs: settings.databasePatience,
    signal,
    clock: systemClock,
    log,
  });
  const close = () => database.close().finally(leave);
  const limitMs = once ? Math.min(statementTimeout, ONE_TRY_MS) : statementTimeout;
  const noteAway = (error: unknown): never => {
    if (error instanceof TransientError) onAway(error);
    throw error;
  };
  const persist = <T>(attempt: () => Promise<T>): Promise<T> =>
    database.retry(() => attempt().catch(noteAway), signal, once ? 0 : undefined);
  try {
    const state = await persist(() => readSchemaState(url, limitMs));
    if (state.newer.length > 0) throw newerDatabase(state);
    if (state.pending.length > 0 && makes === 'nothing') throw olderDatabase(state);
    if (state.pending.length > 0) {
      const applied = await persist(() => migrate(url, log));
      log.info({ migrations: applied }, 'the schema of the database was brought up to date');
    }
    return { url, database, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** What a verb that works on what is stored has at hand. */
export interface Store extends Asked, OpenDatabase {
  readonly log: ProcessLogger;
  readonly later: Later;
}

/** Opens log and database, calls `work`, and closes them whatever happens. */
export function withStore<T>(
  asked: Asked,
  work: (store: Store) => Promise<T>,
  expectation?: Expectation,
): Promise<T> {
  return withLog(asked.settings, async (log, later) => {
    const opened = await openDatabase(asked, log, expectation);
    later(opened);
    return work({ ...asked, ...opened, log, later });
  });
}

/** The same for verbs that ask much at once: each connection learns the schema anew, which takes Postgres longer than all their answers. */
export const withFewConnections = <T>(asked: Asked, work: (store: Store) => Promise<T>) =>
  withStore(asked, work, { connections: 2 });

const SAY_EVERY_MS = 30_000;

/** Says in the log how far a long work is, not more often than is read. */
export function sayingSeldom(log: Logger): Logger['info'] {
  let said = systemClock.monotonic();
  return (...line) => {
    if (systemClock.monotonic() - said < SAY_EVERY_MS) return;
    said = systemClock.monotonic();
    log.info(...line);
  };
}

/**
 * The limiter bounds requests; while some windows are claimed, opened and published, the others keep the source busy.
 */
export const windowsAtATime = ({ concurrency }: Settings): number => Math.ceil(1.5 * concurrency);
