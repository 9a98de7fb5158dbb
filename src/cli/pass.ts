/** What `run` and `backfill` have in common: open everything, watch, report, close. */
import { systemClock } from '../clock.ts';
import { followerTrouble } from '../days/run-words.ts';
import { DaywalkError, EXIT, exitCodeOf, UnavailableError } from '../errors.ts';
import type { ProcessLogger } from '../log.ts';
import { type Notifier, openNotifier, type RunEnd } from '../notify/notifier.ts';
import { readEnvironment } from '../settings/environment.ts';
import type { ApiSettings } from '../settings/settings.ts';
import type { SourceWatch } from '../source/source.ts';
import type { StatusServer } from '../status-page/status-server.ts';
import type { Database } from '../store/database.ts';
import { forgetRefusedKey } from '../store/refused-keys.ts';
import type { RunEvent, RunReport } from '../walk/run.ts';
import { notBegun } from './chosen-days.ts';
import { redactor } from './process-redactor.ts';
import { stderrLines } from './terminal/live-lines.ts';
import { print, printEvent, printJson } from './terminal/output.ts';
import { openProgress } from './terminal/progress.ts';
import { describeRun, describeUnfinished, exitCodeOfRun } from './terminal/run-text.ts';
import { openWalking, type Walking } from './walk-wiring.ts';
import { type Asked, type Later, type Makes, openDatabase, tellUrl, withLog } from './wiring.ts';

/** Between tries to reach a database whose patience is over. */
const TRY_AGAIN_MS = 5_000;
const TELL_AGAIN_MS = 3_600_000;

/** What a verb that exports works with. */
export interface ExportSession extends Asked<ApiSettings>, Walking {
  readonly log: ProcessLogger;
  readonly database: Database;
  readonly notifier: Notifier;
}

/** What a daemon has and a single run has not. */
interface Daemon {
  /** Opens the page that people look at while it waits for its database, and later; null: there is none. */
  readonly openPage: (log: ProcessLogger) => Promise<StatusServer | null>;
  readonly watch: SourceWatch;
}

/**
 * Opens log, database and source, calls `work`, and closes them whatever happens; programs are told what ended it.
 * A daemon waits for a database that is away when it starts, as it does later.
 * @param makes what may be made where it is not there.
 */
export function withExport<T>(
  asked: Asked<ApiSettings>,
  makes: Makes,
  work: (session: ExportSession) => Promise<T>,
  daemon?: Daemon,
): Promise<T> {
  const { settings, signal, options } = asked;
  const exported = async (log: ProcessLogger, later: Later) => {
    for (const line of notBegun(settings)) log.warn(line);
    const notifier = openNotifier(settings, systemClock, log, redactor.redact);
    later(notifier);
    const told = <O>(opening: () => Promise<O>) => notifyingFailure({ notifier, signal }, opening);
    const page = daemon ? await told(() => daemon.openPage(log)) : null;
    if (page !== null) later(page);
    const onAway = (error: Error) => page?.waiting(error.message);
    const open = () => openDatabase(asked, log, { makes, onAway });
    const telling = () => told(open);
    const opened = await (daemon ? untilReached(telling, open, log, signal) : telling());
    later(opened);
    if (daemon) tellUrl({ settings, url: opened.url }, log);
    const { database } = opened;
    await notifier.attach(database);
    page?.attach(opened.url);
    const walking = await told(() => openWalking(asked, { database, log, later }, daemon?.watch));
    return work({ ...asked, ...walking, log, database, notifier });
  };
  // Before all of it is closed, which may take longer than a stopped program has.
  return withLog(settings, (log, later) =>
    exported(log, later).catch((error: unknown) => {
      if (options.jsonEvents === true) printEvent('error', errorFields(error));
      throw error;
    }),
  );
}

/** Opens the database, again and again while it is away; that is told once an hour, as far as it was not heard yet. */
async function untilReached<T>(
  telling: () => Promise<T>,
  open: () => Promise<T>,
  log: ProcessLogger,
  signal: AbortSignal,
): Promise<T> {
  for (let toldAt = Number.NEGATIVE_INFINITY; ; ) {
    const tells = systemClock.monotonic() - toldAt >= TELL_AGAIN_MS;
    if (tells) toldAt = systemClock.monotonic();
    try {
      return await (tells ? telling : open)();
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error;
      log.warn({ err: error }, 'the worker goes on trying');
      await systemClock.sleep(TRY_AGAIN_MS, signal);
    }
  }
}

/** Runs, and tells people that it began and how it ended; a key that was taken is refused no more. @throws what `run` throws. */
export async function notified(session: ExportSession, run: () => Promise<RunReport>) {
  const { database, settings, source, notifier, signal } = session;
  const ended = notifier.begin();
  const began = systemClock.monotonic();
  const report = await tellingFailure(ended, signal, run);
  const text = describeRun(report, systemClock.monotonic() - began).join('\n');
  const troubles = report.notInStep.map(followerTrouble);
  await ended({ exitCode: exitCodeOfRun(report), text, troubles });
  if (report.pages + report.windowsUnchanged > 0)
    await forgetRefusedKey(database, settings.apiUrl, await source.currentKey());
  return report;
}

/** Who tells people of a run, unless it is interrupted. */
type Telling = Pick<ExportSession, 'notifier' | 'signal'>;

/** Opens what a run needs; where it cannot be opened, that is told like a run that it ended. */
export const notifyingFailure = <T>({ notifier, signal }: Telling, open: () => Promise<T>) =>
  tellingFailure((end) => notifier.begin()(end), signal, open);

/** An interruption is not told, because it is no end of the work. */
async function tellingFailure<T>(
  ended: (end: RunEnd) => Promise<void>,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    if (!signal.aborted) await ended({ exitCode: exitCodeOf(error), text, error });
    throw error;
  }
}

/**
 * Watches a run and prints what it did: for people or, with `--json`, as one document; with `--json-events` as the last of
 * its events; with `--quiet` only when it was not done.
 */
export async function watched(
  session: ExportSession,
  run: (onEvent: (event: RunEvent) => void) => Promise<RunReport>,
): Promise<number> {
  const { quiet, json, jsonEvents: events } = session.options;
  const live = quiet !== true && isWatched() ? stderrLines : undefined;
  const audience = { live, events: events === true, requests: session.source.limits };
  const progress = openProgress(systemClock, session.log, audience);
  // Before anybody writes that the program is stopping.
  session.signal.addEventListener('abort', () => stderrLines.end(), { once: true });
  let report: RunReport;
  try {
    report = await notified(session, () => run(progress.onEvent).finally(progress.end));
  } catch (error) {
    if (error instanceof DaywalkError)
      error.addHint(...describeUnfinished(progress.state(), error, session.options.only === 'all'));
    throw error;
  }
  const elapsedMs = progress.end();
  const document = { ...report, elapsedMs: Math.round(elapsedMs), limits: session.source.limits() };
  const code = exitCodeOfRun(report);
  if (events === true) printEvent('report', { exitCode: code, report: document });
  else if (json === true) printJson(document);
  else if (quiet !== true || code !== EXIT.done)
    print(describeRun(report, elapsedMs), notBegun(session.settings));
  return code;
}

/** What programs are told of an error that ended a run. */
function errorFields(error: unknown): object {
  const message = redactor.redact(error instanceof Error ? error.message : String(error));
  const hint = (error instanceof DaywalkError ? error.hint : undefined) ?? null;
  return { exitCode: exitCodeOf(error), message, hint };
}

/** Whether someone watches how it goes. */
const isWatched = (): boolean => process.stderr.isTTY === true && readEnvironment().TERM !== 'dumb';
