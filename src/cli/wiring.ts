/** The wiring of every verb: settings, the log and the database. */
import { systemClock } from '../clock.ts';
import { TransientError } from '../errors.ts';
import { createLogger, type Logger, type ProcessLogger } from '../log.ts';
import { secretsOf } from '../settings/describe.ts';
import { readEnvironment } from '../settings/environment.ts';
import { loadSettings } from '../settings/load.ts';
import type { Need } from '../settings/rules.ts';
import type { ApiSettings, Settings } from '../settings/settings.ts';
import { skipsCertificateCheck } from '../settings/values/url.ts';
import { Database } from '../store/database.ts';
import { requireEmbedded, startEmbedded } from '../store/embedded.ts';
import { migrate, newerDatabase, olderDatabase, readSchemaState } from '../store/migrations.ts';
import { closing } from './closing.ts';
import { redactor } from './process-redactor.ts';
import { stderrLines } from './terminal/live-lines.ts';
import { wantsColour } from './terminal/output.ts';
import type { Invocation } from './verb.ts';

/** The settings of a verb that needs a database, unless it says what it needs; from now on nothing shows their secrets. */
export function settingsOf(
  { options: flags }: Invocation,
  needs: readonly Need[] = ['database'],
): Settings {
  const places = { flags, environment: readEnvironment(), cwd: process.cwd() };
  const settings = loadSettings({ ...places, require: needs });
  redactor.add(...secretsOf(settings));
  return settings;
}

/** The settings of a verb that talks to the API. */
export const apiSettingsOf = (invocation: Invocation): ApiSettings =>
  settingsOf(invocation, ['api', 'database']) as ApiSettings;

/** The log of this process, on stderr, with every secret struck out. */
export function openLog(settings: Settings): Promise<ProcessLogger> {
  const isTerminal = process.stderr.isTTY === true;
  return createLogger({
    level: settings.logLevel === 'fatal' ? 'error' : settings.logLevel,
    format: settings.logFormat,
    redact: redactor.redact,
    isTerminal,
    colour: wantsColour(readEnvironment(), isTerminal),
    ...(isTerminal && { destination: stderrLines.writable() }),
  });
}

/** A database that is there: the one of the URL, or the embedded one. */
export interface OpenDatabase {
  readonly database: Database;
  readonly url: string;
  readonly embedded: boolean;
  close(): Promise<void>;
}

/** Tells how to look into the embedded Postgres, where it stays: with other verbs it ends at once. */
export function tellUrl({ embedded, url }: Pick<OpenDatabase, 'embedded' | 'url'>, log: Logger) {
  if (embedded)
    log.info(`as long as this runs, the embedded Postgres can be looked into: psql '${url}'`);
}

/** What a verb may make where it is not there: nothing, the tables in a database, or even the embedded Postgres. */
export type Makes = 'nothing' | 'tables' | 'cluster';

/** Starts the embedded Postgres where that is set; makes no connection otherwise. */
export async function reachDatabase(
  settings: Settings,
  log: ProcessLogger,
  signal: AbortSignal,
  makes: Makes,
): Promise<{ url: string; embedded: boolean; release(): Promise<void> }> {
  const { databaseUrl, directory } = settings;
  if (databaseUrl !== undefined) {
    if (skipsCertificateCheck(databaseUrl))
      log.warn(
        'DATABASE_URL switches the check of the database certificate off: whoever stands between can read and change everything; use sslmode=verify-full with sslrootcert',
      );
    return { url: databaseUrl.reveal(), embedded: false, release: async () => {} };
  }
  if (makes !== 'cluster') await requireEmbedded(directory);
  const started = await startEmbedded({ directory, signal, log });
  return { url: started.url, embedded: true, release: () => started.release() };
}

/** How long one try to reach a database may take. */
const ONE_TRY_MS = 3_000;

/** What a verb expects of its database. */
interface Expectation {
  /** What may be made where it is not there; nothing by default. */
  readonly makes?: Makes;
  /** For how long: one try, or the patience of the settings. */
  readonly waits?: 'once' | 'patiently';
  /** Told why, each time that it did not answer. */
  readonly onAway?: (error: TransientError) => void;
}

/**
 * Opens the database with the schema in it, and refuses a newer one. Verbs that make nothing try once, unless they say
 * otherwise: somebody who only looks wants to know at once that it is away.
 */
export async function openDatabase(
  settings: Settings,
  log: ProcessLogger,
  signal: AbortSignal,
  {
    makes = 'nothing',
    waits = makes === 'nothing' ? 'once' : 'patiently',
    onAway = () => {},
  }: Expectation = {},
): Promise<OpenDatabase> {
  const reached = await reachDatabase(settings, log, signal, makes);
  const patienceMs = waits === 'once' ? 0 : undefined;
  const { statementTimeout } = settings;
  const limitMs = waits === 'once' ? Math.min(statementTimeout, ONE_TRY_MS) : statementTimeout;
  const database = new Database({
    url: reached.url,
    connections: windowsAtATime(settings) + 2,
    statementTimeoutMs: settings.statementTimeout,
    patienceMs: settings.databasePatience,
    clock: systemClock,
    log,
  });
  const close = async () => {
    await database.close();
    await reached.release();
  };
  const persist = <T>(attempt: () => Promise<T>): Promise<T> => {
    const telling = async () => {
      try {
        return await attempt();
      } catch (error) {
        if (error instanceof TransientError) onAway(error);
        throw error;
      }
    };
    return database.retry(telling, signal, patienceMs);
  };
  try {
    const state = await persist(() => readSchemaState(reached.url, limitMs));
    if (state.newer.length > 0) throw newerDatabase(state);
    if (state.pending.length > 0 && makes === 'nothing') throw olderDatabase(state);
    if (state.pending.length > 0) {
      const applied = await persist(() => migrate(reached.url, log));
      log.info({ migrations: applied }, 'the schema was brought up');
    }
    return { database, url: reached.url, embedded: reached.embedded, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Opens log and database for a verb that works on what is stored, calls `work`, and closes them whatever happens. */
export function withStore<T>(
  settings: Settings,
  signal: AbortSignal,
  work: (database: Database, log: ProcessLogger, opened: OpenDatabase) => Promise<T>,
): Promise<T> {
  return closing(async (later) => {
    const log = await openLog(settings);
    later(() => log.flush());
    const opened = await openDatabase(settings, log, signal);
    later(opened.close);
    return work(opened.database, log, opened);
  });
}

/**
 * The limiter bounds requests; while some windows are claimed, opened and published, the others keep the source busy.
 */
export const windowsAtATime = ({ concurrency }: Settings): number => Math.ceil(1.5 * concurrency);
