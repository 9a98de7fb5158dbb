/** The planner: which windows are due, as a pure function of the settings, the time and what the store knows (DESIGN 4). */
import type { Day, Purpose, Window, WindowState } from '../model.ts';
import { PURPOSES } from '../model.ts';
import { daysBetween, dayWindow, lastClosedDay } from './days.ts';

/** What the store knows of a day's window. */
export interface KnownWindow {
  readonly state: WindowState;
  readonly purpose: Purpose;
  /** When a failed window may be tried again, milliseconds since the epoch; null: never by itself, only by a backfill. */
  readonly retryAt: number | null;
  /** It was complete, and is not kept any more: never walked again. */
  readonly pruned?: boolean;
}

/** The days of a stream that have a window; a day that is not in it has none. */
export type KnownDays = ReadonlyMap<Day, KnownWindow>;

export interface PlanInput {
  /** In the order in which they take turns within a day. */
  readonly streams: readonly {
    readonly name: string;
    /** The first day that the stream wants; windows before it exist by backfill only. */
    readonly since: Day;
    readonly known: KnownDays;
  }[];
  /** The zone of the source's calendar. */
  readonly timeZone: string;
  /** How long after its end a day still gets events. */
  readonly settleMs: number;
  /** Milliseconds since the epoch, by the database's clock. */
  readonly now: number;
}

/** A window that is due now. */
export interface PlannedWindow {
  readonly stream: string;
  readonly window: Window;
  readonly purpose: Purpose;
  /** What was found: `missing` windows are to be created, the others wait in the store. */
  readonly found: 'missing' | 'pending' | 'failed';
}

/**
 * The windows that are due, in the order in which to walk them: by purpose, then oldest day first, the streams in turn.
 * A day that is not closed is never in it, whatever the store says (I8).
 */
export function plan({ streams, timeZone, settleMs, now }: PlanInput): PlannedWindow[] {
  const last = lastClosedDay(now, timeZone, settleMs);
  const due: Record<Purpose, PlannedWindow[]> = { scheduled: [], recheck: [], backfill: [] };
  for (const day of daysBetween(firstDay(streams, last), last)) {
    const window = dayWindow(day);
    for (const { name, since, known } of streams) {
      const there = known.get(day);
      const found = dueState(there, now);
      if (!found || (found === 'missing' && day < since)) continue;
      const purpose = there?.purpose ?? 'scheduled';
      due[purpose].push({ stream: name, window, purpose, found });
    }
  }
  return PURPOSES.flatMap((purpose) => due[purpose]);
}

function dueState(known: KnownWindow | undefined, now: number): PlannedWindow['found'] | null {
  if (!known) return 'missing';
  if (known.state === 'pending') return 'pending';
  const retry = known.state === 'failed' && known.retryAt !== null && known.retryAt <= now;
  return retry ? 'failed' : null;
}

/** The oldest day that any stream wants or has a window of; `last` when there is none before it. */
function firstDay(streams: PlanInput['streams'], last: Day): Day {
  let first = last;
  for (const { since, known } of streams) {
    if (since < first) first = since;
    for (const day of known.keys()) if (day < first) first = day;
  }
  return first;
}
