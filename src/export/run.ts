/** A run: registers the streams, plans, drains and reports; by schedule, by hand, or as a backfill (DESIGN 4). */
import { outcomeOf, type RunOutcome } from '../errors.ts';
import type { Day, DayRange, Stream, Window } from '../model.ts';
import {
  type BackfillOnly,
  type BackfillStep,
  type KnownDay,
  planBackfill,
} from '../plan/backfill.ts';
import { addDays, lastClosedDay, seamWindow } from '../plan/days.ts';
import { plan } from '../plan/planner.ts';
import { type GapRow, readGaps } from '../store/coverage.ts';
import type { Database } from '../store/database.ts';
import { countDue } from '../store/leases.ts';
import { beginRun, endRun, type RunCounts, type RunTrigger } from '../store/runs.ts';
import { type RegisteredStream, registerStreams } from '../store/streams.ts';
import {
  askAgain,
  databaseNow,
  listDays,
  listKnownSpans,
  type PlannedRow,
  planWindows,
} from '../store/windows.ts';
import {
  type DrainEvent,
  type DrainOptions,
  type DrainParts,
  drain,
  type WindowName,
} from './drain.ts';
import { Sealer } from './seal.ts';
import { Tally, type WindowFailed } from './tally.ts';

/** What is exported, and in which calendar. */
export interface ExportOptions extends DrainOptions {
  readonly streams: readonly Stream[];
  /** First day of the schedule; null: the remembered one, or seven closed days at the first run. */
  readonly since: Day | null;
  readonly settleMs: number;
  /** Whether the second on either side of each midnight is asked for as well (DESIGN 5.6). */
  readonly seams: boolean;
}

/** What a run did. */
export interface RunReport extends RunCounts {
  /** Days in the scope that are not complete now. */
  readonly gaps: readonly GapRow[];
  readonly failures: readonly WindowFailed[];
  /** Streams that were given up for this run. */
  readonly stopped: readonly { readonly stream: string; readonly reason: string }[];
}

/** A range and choice of windows that a person asked for. */
export interface BackfillRequest {
  readonly from: Day;
  readonly to: Day;
  readonly only?: BackfillOnly;
  readonly newestFirst: boolean;
}

/** For those who watch a run. */
export type RunEvent = DrainEvent | { readonly kind: 'planned'; readonly windows: number };

/** Days that a new stream goes back, where `since` is not set. */
const DAYS_BACK = 7;

/** One catch-up pass: everything that is due, scheduled work first. */
export async function catchUp(
  parts: DrainParts,
  options: ExportOptions,
  trigger: Exclude<RunTrigger, 'backfill'>,
  signal: AbortSignal,
  onEvent: (event: RunEvent) => void = () => {},
): Promise<RunReport> {
  const { database } = parts;
  const calendar = await readCalendar(database, options);
  const { timeZone, settleMs } = options;
  const spans = await listKnownSpans(database, idsOf(calendar));
  for (const { streamId, since } of calendar.streams) {
    const known = spans.filter((span) => span.streamId === streamId);
    const missing = plan({ since, known, timeZone, settleMs, now: calendar.now });
    await planWindows(database, streamId, 'scheduled', withSeams(missing, options));
  }
  return drainAndReport(
    parts,
    options,
    calendar,
    { trigger, range: null, newestFirst: false },
    signal,
    onEvent,
  );
}

/** What a backfill would do, window by window; nothing is changed but the streams' registration. */
export async function previewBackfill(
  database: Database,
  options: ExportOptions,
  request: BackfillRequest,
): Promise<BackfillStep[]> {
  return stepsOf(database, await readCalendar(database, options), options, request);
}

/** Plans and walks an inclusive range of days. */
export async function backfill(
  parts: DrainParts,
  options: ExportOptions,
  request: BackfillRequest,
  signal: AbortSignal,
  onEvent: (event: RunEvent) => void = () => {},
): Promise<RunReport> {
  const { database } = parts;
  const calendar = await readCalendar(database, options);
  const all = await stepsOf(database, calendar, options, request);
  const steps = all.filter((step) => step.action !== 'skip');
  for (const { name, streamId } of calendar.streams) {
    const own = steps.filter((step) => step.stream === name);
    const missing = own.filter((step) => step.state === 'missing');
    const windows = missing.map((step) => step.window);
    await planWindows(database, streamId, 'backfill', withSeams(windows, options));
    for (const action of ['walk', 'rewalk'] as const) {
      const there = own.filter((step) => step.action === action && step.state !== 'missing');
      const days = there.map((step) => step.window.day);
      await askAgain(database, streamId, days, action === 'rewalk');
    }
  }
  const range = { from: request.from, to: request.to };
  return drainAndReport(
    parts,
    options,
    calendar,
    { trigger: 'backfill', range, newestFirst: request.newestFirst },
    signal,
    onEvent,
  );
}

/** Day windows, each with the seam behind it where seams are asked for. */
function withSeams(days: readonly Window[], { seams }: ExportOptions): PlannedRow[] {
  return days.flatMap((window): PlannedRow[] => [
    { ...window, kind: 'day' },
    ...(seams ? [{ ...seamWindow(window.day), kind: 'seam' } as const] : []),
  ]);
}

/** The streams as they are registered, in the order of the settings, and the time by which days are closed or not. */
interface Calendar {
  readonly now: number;
  readonly streams: readonly RegisteredStream[];
}

const idsOf = ({ streams }: Calendar): number[] => streams.map(({ streamId }) => streamId);

async function readCalendar(database: Database, options: ExportOptions): Promise<Calendar> {
  const now = await databaseNow(database);
  const { streams, since, timeZone, settleMs } = options;
  const firstSince = addDays(lastClosedDay(now, timeZone, settleMs), 1 - DAYS_BACK);
  const calendar = { since, firstSince, timeZone, settleMs };
  return { now, streams: await registerStreams(database, streams, calendar) };
}

async function stepsOf(
  database: Database,
  calendar: Calendar,
  options: ExportOptions,
  request: BackfillRequest,
): Promise<BackfillStep[]> {
  const days = new Map<number, Map<Day, KnownDay>>(idsOf(calendar).map((id) => [id, new Map()]));
  for (const { streamId, day, ...known } of await listDays(database, idsOf(calendar), request))
    days.get(streamId)?.set(day, known);
  return planBackfill({
    ...request,
    streams: calendar.streams.map(({ name, streamId }) => ({
      name,
      known: days.get(streamId) ?? new Map(),
    })),
    timeZone: options.timeZone,
    settleMs: options.settleMs,
    now: calendar.now,
  });
}

interface Scope {
  readonly trigger: RunTrigger;
  readonly range: DayRange | null;
  readonly newestFirst: boolean;
}

async function drainAndReport(
  parts: DrainParts,
  options: ExportOptions,
  calendar: Calendar,
  scope: Scope,
  signal: AbortSignal,
  onEvent: (event: RunEvent) => void,
): Promise<RunReport> {
  const { database, owner, log } = parts;
  const runId = await beginRun(database, scope.trigger, parts.clock.uuid(), owner, scope.range);
  const streamIds = idsOf(calendar);
  const due = await countDue(database, { ...scope, streamIds });
  onEvent({ kind: 'planned', windows: due });
  const tally = new Tally(due);
  const streams = new Map(
    options.streams.map((stream, index) => [streamIds[index] as number, stream]),
  );
  const ids = new Map(calendar.streams.map(({ name, streamId }) => [name, streamId]));
  const dayOf = ({ stream, day }: WindowName) => ({ streamId: ids.get(stream) as number, day });
  const sealer = new Sealer({ database, log }, streamIds, signal);
  const end = (outcome: RunOutcome, error: string | null) =>
    endRun(database, runId, outcome, tally.counts, error).catch((failure) =>
      log.warn({ err: failure, runId }, 'the end of the run could not be noted'),
    );
  try {
    // What another process holds is due, too.
    if (due > 0)
      await drain(parts, options, streams, scope, signal, (event) => {
        tally.add(event);
        if (event.kind === 'page') sealer.stored(dayOf(event.window), event.bytes);
        if (event.kind === 'complete') sealer.wake(dayOf(event.window));
        onEvent(event);
      });
    await sealer.finish();
    const gaps = await readGaps(
      database,
      options.streams.map((stream) => stream.name),
      scope.range,
    );
    await end(gaps.length === 0 ? 'done' : 'gaps', null);
    return { ...tally.counts, gaps, failures: tally.failures, stopped: tally.stopped };
  } catch (error) {
    await sealer.stop();
    await end(outcomeOf(error), error instanceof Error ? error.message : String(error));
    throw error;
  }
}
