/** `daywalk worker`: the daemon; a catch-up pass at the start and at every tick of the schedule. */
import { type Clock, systemClock } from '../../clock.ts';
import { firstTickAfter } from '../../days/ticks.ts';
import { DaywalkError, outcomeOf, RefusedError, SettingsError } from '../../errors.ts';
import type { Logger } from '../../log.ts';
import { expectationOf, type Settings } from '../../settings/settings.ts';
import { noActivity } from '../../status-page/activity.ts';
import { Metrics } from '../../status-page/metrics.ts';
import { StatusServer, type StatusServerParts } from '../../status-page/status-server.ts';
import { noteRefusedKey, type RefusedKey, readRefusedKey } from '../../store/refused-keys.ts';
import { catchUp, isDone, planScheduled, type RunEvent } from '../../walk/run.ts';
import { packageVersion } from '../package-version.ts';
import { type ExportSession, notified, notifyingFailure, withExport } from '../pass.ts';
import { redactor } from '../process-redactor.ts';
import { openProgress } from '../terminal/progress.ts';
import { describeRun } from '../terminal/run-text.ts';
import type { Invocation } from '../verb.ts';
import { exportOptions } from '../walk-wiring.ts';
import { askedOfApi } from '../wiring.ts';

/** Those who are told what the worker does. */
type Watchers = Pick<StatusServerParts, 'activity' | 'metrics'>;
type Watched = ExportSession & Watchers;

/** What happens only when something was answered. */
const ANSWERED: ReadonlySet<RunEvent['kind']> = new Set(['page', 'complete', 'split', 'unchanged']);
/** While the key is refused, it is looked so often whether there is another one in its file. */
const LOOK_AGAIN_MS = 5_000;

/** So often it is looked whether the tick has come: the clock may be set, and a machine that sleeps stops timers. */
const LOOK_AT_CLOCK_MS = 60_000;

/** Runs until it is stopped, or until the settings are refused. */
export function worker(invocation: Invocation): Promise<number> {
  const asked = askedOfApi(invocation);
  const watchers = { activity: noActivity(), metrics: new Metrics() };
  const work = (session: ExportSession) => eachTick({ ...session, ...watchers });
  return withExport(asked, 'tables', work, {
    openPage: (log) => openStatusPage(asked.settings, log, watchers),
    watch: watchers.metrics.watch,
  });
}

/**
 * Serves the page, unless it is off. An address that somebody chose and that is taken is an error; the default one may
 * be taken by another worker on this machine, and then this one goes on without a page.
 * It is there before the database is, and says that it waits.
 * @returns null: there is no page.
 * @throws SettingsError
 */
async function openStatusPage(settings: Settings, log: Logger, watchers: Watchers) {
  const { statusListen: address } = settings;
  if (address === null) return null;
  try {
    const server = new StatusServer({
      ...watchers,
      address,
      hosts: settings.statusHosts ?? [],
      streams: settings.streams.map(({ name }) => name),
      expectation: expectationOf(settings),
      version: packageVersion(),
      clock: systemClock,
      log,
      strike: redactor.redact,
    });
    await server.listen();
    return server;
  } catch (error) {
    const chosen = settings.origins['status.listen'] !== undefined;
    if (chosen || !(error instanceof SettingsError)) throw error;
    log.warn({ err: error }, 'this worker has no status page');
    return null;
  }
}

/**
 * Makes a pass at once and at every tick, never two at a time: a tick during a pass asks for one more pass after it.
 * A tick only wakes the planner, so a missed one loses nothing.
 * @throws what a pass throws; the signal's reason.
 */
async function eachTick(session: Watched): Promise<never> {
  const { log, settings, activity, source, signal } = session;
  activity.limits = source.limits;
  for (;;) {
    signal.throwIfAborted();
    const began = systemClock.now();
    await untilAsked(session);
    let told: number | null = null;
    await untilTick(systemClock, settings.schedule, began, signal, (next) => {
      activity.nextTick = next;
      if (told !== next) log.info({ next: new Date(next) }, 'waiting for the next tick');
      told = next;
    });
    activity.nextTick = null;
  }
}

/**
 * Waits for the first tick after an instant; where the clock is set back meanwhile, after what it shows then.
 * @param onNext is told when it comes, each time that the clock is looked at.
 */
export async function untilTick(
  clock: Clock,
  schedule: string,
  sinceMs: number,
  signal: AbortSignal,
  onNext: (next: number) => void,
): Promise<void> {
  for (let since = sinceMs; ; ) {
    const now = clock.now();
    since = Math.min(since, now);
    const next = firstTickAfter(schedule, since);
    if (next <= now) return;
    onNext(next);
    await clock.sleep(Math.min(next - now, LOOK_AT_CLOCK_MS), signal);
  }
}

/**
 * Calls `work`, and plans at each tick that comes meanwhile: what closes during a long backfill, which a pass goes on with, does
 * not wait for its end.
 */
async function planningAtTicks<T>(
  { database, settings, log, signal }: ExportSession,
  work: () => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const either = AbortSignal.any([signal, over.signal]);
  const plan = async (): Promise<void> => {
    for (;;) {
      await untilTick(systemClock, settings.schedule, systemClock.now(), either, () => {});
      await planScheduled(database, exportOptions(settings)).catch((error: unknown) =>
        log.warn({ err: error }, 'what has closed meanwhile is planned when the pass is over'),
      );
    }
  };
  const planning = plan().catch((error: unknown) => {
    if (!either.aborted) throw error;
  });
  try {
    return await work();
  } finally {
    over.abort();
    await planning;
  }
}

/** Passes until one is not ended by a refused key: a process that ends is started again, and would send the key again. */
async function untilAsked(session: Watched): Promise<void> {
  for (let logged = 0; ; ) {
    await pass(session);
    const { refused } = session.activity;
    if (refused === null) return;
    if (logged !== refused.until.getTime())
      session.log.error(
        { ...refused },
        'the API refuses the key; it is sent again in an hour, or when another one is in the key file',
      );
    logged = refused.until.getTime();
    await systemClock.sleep(LOOK_AGAIN_MS, session.signal);
  }
}

/** One pass. An API or a database that is away is no reason to end: the next tick finds everything still due. */
async function pass(session: Watched): Promise<void> {
  const { settings, database, source, parts, log, signal, activity, metrics } = session;
  const { apiUrl } = settings;
  const progress = openProgress(systemClock, log, { requests: source.limits });
  const onEvent = (event: RunEvent) => {
    progress.onEvent(event);
    metrics.onEvent(event);
    if (ANSWERED.has(event.kind)) activity.refused = null;
  };
  let endedEarly: string | null = null;
  // What is told of a key that was refused an hour ago stays until something is answered.
  let refused: RefusedKey | null = null;
  try {
    const key = await source.currentKey();
    const look = () => database.retry(() => readRefusedKey(database, apiUrl, key), signal);
    refused = await notifyingFailure(session, look);
    if (refused !== null) return;
    activity.pass = progress.state;
    const report = await notified(session, () =>
      planningAtTicks(session, () =>
        catchUp(parts, exportOptions(settings), 'schedule', signal, onEvent),
      ).finally(progress.end),
    );
    activity.notInStep = report.notInStep.map(({ what, reason }) => ({
      what,
      reason: redactor.redact(reason),
    }));
    const { gaps, failures, stopped, lost, ...counts } = report;
    const good = isDone(report);
    metrics.onRunEnd(good ? 'done' : 'gaps');
    log[good ? 'info' : 'warn'](
      { ...counts, gaps: gaps.length, lost: lost.length, stopped },
      describeRun(report, progress.end()).join(' '),
    );
  } catch (error) {
    signal.throwIfAborted();
    metrics.onRunEnd(outcomeOf(error));
    if (error instanceof SettingsError || !(error instanceof DaywalkError)) throw error;
    endedEarly = error.message;
    const key = source.refusedKey();
    if (error instanceof RefusedError && key !== null) {
      const note = () => noteRefusedKey(database, apiUrl, key, error.message, systemClock.uuid());
      refused = await database.retry(note, signal, Number.POSITIVE_INFINITY);
      return;
    }
    log.error({ err: error }, 'the run ended early; the next one goes on where it stopped');
  } finally {
    progress.end();
    activity.pass = null;
    activity.endedEarly = endedEarly;
    activity.refused = refused;
  }
}
