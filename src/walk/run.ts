/** A run: registers the streams, plans, drains and reports; by schedule, by hand, or as a backfill. */

import { type GapRow, readGaps } from '../days/coverage-rows.ts';
import { outcomeOf, type RunOutcome } from '../errors.ts';
import type { Day, DayRange, Stream } from '../model.ts';
import { type BackfillOnly, type BackfillStep, planBackfill } from '../plan/backfill.ts';
import { addDays, lastClosedDay } from '../plan/days.ts';
import { plan } from '../plan/planner.ts';
import type { Database } from '../store/database.ts';
import { countDue, type LeaseScope } from '../store/leases.ts';
import { type Gone, readGone } from '../store/publications.ts';
import { beginRun, endRun, type RunCounts, type RunTrigger } from '../store/runs.ts';
import { type RegisteredStream, registerStreams } from '../store/streams.ts';
import {
  askAgain,
  databaseNow,
  dropUnwantedDays,
  listDays,
  listKnownSpans,
  planLooks,
  planWindows,
  takeOver,
} from '../store/windows.ts';
import { runDueWindows, type WalkOptions, type WalkParts } from './due.ts';
import { Tally, type WalkEvent } from './events.ts';
import { type Follower, Followers, type NotInStep, notInStepText } from './followers.ts';

/** What a run needs. */
export interface ExportParts extends WalkParts {
  /** What is kept in step with what is published. */
  readonly followers: readonly Follower[];
}

/** What is exported, and in which calendar. */
export interface ExportOptions extends WalkOptions {
  readonly streams: readonly Stream[];
  /** First day of the schedule; null: the remembered one, or seven closed days at the first run. */
  readonly since: Day | null;
  readonly settleMs: number;
}

/** What a run did. */
export interface RunReport extends RunCounts, Pick<Tally, 'failures' | 'stopped'> {
  /** Days in the scope that are not complete now. */
  readonly gaps: readonly GapRow[];
  /** Days of which the source lost records in numbers; what was stored of them stays. */
  readonly lost: readonly LostDay[];
  /** What follows the data, and failed when it was last tried. */
  readonly notInStep: readonly NotInStep[];
}

/** A day of which the source does not show records in numbers that it showed before. */
export type LostDay = Pick<Gone, 'stream'> & Gone['failures'][number];

/** A range and choice of windows that a person asked for. */
export interface BackfillRequest extends DayRange {
  readonly only?: BackfillOnly;
  readonly newestFirst: boolean;
}

/** For those who watch a run. */
export type RunEvent =
  | WalkEvent
  | { readonly kind: 'planned'; readonly windows: number }
  /** The walking is done, and has brought something new: what follows the data is brought in step. */
  | { readonly kind: 'following' };

/** Days that a new stream goes back, where `since` is not set. */
const DAYS_BACK = 7;

/** One catch-up pass: everything that is due, scheduled work first. */
export async function catchUp(
  parts: ExportParts,
  options: ExportOptions,
  trigger: Exclude<RunTrigger, 'backfill'>,
  signal: AbortSignal,
  onEvent: (event: RunEvent) => void = () => {},
): Promise<RunReport> {
  const calendar = await openRun(parts, options);
  const planMissing = () => planBy(calendar);
  await planMissing();
  const scope = { trigger, range: null, newestFirst: false, planMissing };
  return runAndReport(parts, calendar, scope, signal, onEvent);
}

/** Plans what has closed by now: a pass that still runs, on whatever it was asked for, takes it first. @returns how many windows. */
export async function planScheduled(database: Database, options: ExportOptions): Promise<number> {
  return planBy(await openCalendar(database, options));
}

async function planBy(calendar: Calendar): Promise<number> {
  const { database, options, streamIds } = calendar;
  const { timeZone, settleMs, recheckDays } = options;
  await planLooks(database, streamIds, recheckDays);
  const spans = await listKnownSpans(database, streamIds);
  let planned = 0;
  for (const { streamId, since, until } of calendar.streams) {
    await takeOver(database, streamId, since);
    const known = spans.filter((span) => span.streamId === streamId);
    const missing = plan({ since, until, known, timeZone, settleMs, now: calendar.now });
    planned += await planWindows(database, streamId, 'scheduled', missing);
  }
  return planned;
}

/** What a backfill would do, window by window; nothing is changed but the streams' registration. */
export async function previewBackfill(
  database: Database,
  options: ExportOptions,
  request: BackfillRequest,
): Promise<BackfillStep[]> {
  return stepsOf(await openCalendar(database, options), request);
}

/** Plans and walks an inclusive range of days. */
export async function backfill(
  parts: ExportParts,
  options: ExportOptions,
  request: BackfillRequest,
  signal: AbortSignal,
  onEvent: (event: RunEvent) => void = () => {},
): Promise<RunReport> {
  const calendar = await openRun(parts, options);
  const all = await stepsOf(calendar, request);
  const steps = all.filter((step) => step.action !== 'skip');
  await planSteps(calendar, steps, null);
  const { from, to, newestFirst } = request;
  const scope = {
    trigger: 'backfill',
    range: { from, to },
    newestFirst,
    planMissing: () => planSteps(calendar, steps, calendar.now),
  } as const;
  return runAndReport(parts, calendar, scope, signal, onEvent);
}

/**
 * Plans what is missing, and asks again for what is there.
 * @param asked when that was done before: a failover may have taken away what was planned, asked for or proven last.
 * @returns how many windows.
 */
async function planSteps(
  { database, streams }: Calendar,
  steps: readonly BackfillStep[],
  asked: number | null,
): Promise<number> {
  let planned = 0;
  for (const { name, streamId } of streams) {
    const own = steps.filter((step) => step.stream === name);
    for (const action of ['walk', 'rewalk'] as const) {
      const there = own.filter((step) => step.action === action && step.state !== 'missing');
      const days = there.map(({ window }) => window.day);
      planned += await askAgain(database, streamId, days, action === 'rewalk', asked);
    }
    const windows = own.map(({ window }) => window);
    planned += await planWindows(database, streamId, 'backfill', windows);
  }
  return planned;
}

/** The streams as they are registered, in the order of the settings, and the time by which days are closed or not. */
interface Calendar {
  readonly database: Database;
  readonly options: ExportOptions;
  readonly now: number;
  readonly streams: readonly RegisteredStream[];
  readonly streamIds: readonly number[];
}

async function openCalendar(database: Database, options: ExportOptions): Promise<Calendar> {
  const now = await databaseNow(database);
  const { streams, since, timeZone, settleMs } = options;
  const firstSince = addDays(lastClosedDay(now, timeZone, settleMs), 1 - DAYS_BACK);
  const calendar = { since, firstSince, timeZone, settleMs };
  const registered = await registerStreams(database, streams, calendar);
  const streamIds = registered.map(({ streamId }) => streamId);
  return { database, options, now, streams: registered, streamIds };
}

/** As {@link openCalendar}; days that an earlier `since` wanted, and that failed, are dropped and told. */
async function openRun({ database, log }: ExportParts, options: ExportOptions): Promise<Calendar> {
  const calendar = await openCalendar(database, options);
  for (const dropped of await dropUnwantedDays(database, calendar.streamIds))
    log.warn(
      dropped,
      'these days are before since now: they failed, nothing of them is stored, and they are not asked for any more',
    );
  return calendar;
}

async function stepsOf(calendar: Calendar, request: BackfillRequest): Promise<BackfillStep[]> {
  const { database, options, now, streamIds } = calendar;
  const days = await listDays(database, streamIds, request);
  const streams = calendar.streams.map(({ name, streamId }) => {
    const own = days.filter((one) => one.streamId === streamId);
    return { name, known: new Map(own.map((one) => [one.day, one])) };
  });
  const { timeZone, settleMs } = options;
  return planBackfill({ ...request, streams, timeZone, settleMs, now });
}

interface Scope extends Omit<LeaseScope, 'streamIds'> {
  readonly trigger: RunTrigger;
  /** Plans what is not there any more. @returns how many windows. */
  readonly planMissing: () => Promise<number>;
}

/** So often a run walks and plans again: a failover may take away what was planned. */
const MOST_PASSES = 3;

async function runAndReport(
  parts: ExportParts,
  { options, streamIds }: Calendar,
  scope: Scope,
  signal: AbortSignal,
  onEvent: (event: RunEvent) => void,
): Promise<RunReport> {
  const { database, owner, log } = parts;
  const runId = await beginRun(database, scope.trigger, parts.clock.uuid(), owner, scope.range);
  const due = await countDue(database, { ...scope, streamIds });
  onEvent({ kind: 'planned', windows: due });
  const tally = new Tally(due);
  const streams = new Map(
    options.streams.map((stream, index) => [streamIds[index] as number, stream]),
  );
  const followers = new Followers(parts.followers, streamIds, log, signal);
  const end = (outcome: RunOutcome, error: string | null) =>
    endRun(database, runId, outcome, tally.counts, error).catch((failure) =>
      log.warn({ err: failure, runId }, 'the end of the run could not be noted'),
    );
  try {
    // What another process holds is due, too; so may cuts be, which are not counted.
    for (let pass = 0, left = 1; left > 0 && pass < MOST_PASSES; pass += 1) {
      await runDueWindows(parts, options, streams, scope, signal, (event) => {
        tally.add(event);
        if (event.kind === 'complete') followers.wake();
        onEvent(event);
      });
      if (tally.counts.windowsComplete > 0) onEvent({ kind: 'following' });
      await followers.finish();
      // They leave off without a word.
      signal.throwIfAborted();
      // As late as can be: behind it nobody notices what a failover takes away.
      left = await scope.planMissing();
    }
    const names = options.streams.map(({ name }) => name);
    const gaps = await readGaps(database, names, scope.range);
    const lost = (await readGone(database, names)).flatMap(({ stream, failures }) =>
      failures.map((failure) => ({ stream, ...failure })),
    );
    const { counts, failures, stopped } = tally;
    const { notInStep } = followers;
    const report = { ...counts, gaps, lost, failures, stopped, notInStep };
    await end(isDone(report) ? 'done' : 'gaps', notInStep.map(notInStepText).join('\n') || null);
    return report;
  } catch (error) {
    await followers.stop();
    await end(outcomeOf(error), error instanceof Error ? error.message : String(error));
    throw error;
  }
}

/** Whether a run left nothing to do and nothing to tell. */
export const isDone = ({ gaps, lost, failures, stopped, notInStep }: RunReport): boolean =>
  gaps.length + lost.length + failures.length + stopped.length + notInStep.length === 0;
