/** The planner: which windows a stream lacks, as a pure function of the settings, the time and what the store knows. */
import type { Day, DayRange, Window } from '../model.ts';
import { addDays, daysBetween, dayWindow, lastClosedDay } from './days.ts';

export interface PlanInput {
  /** The first day that the stream wants; windows before it exist by backfill only. */
  readonly since: Day;
  /** The last one; null: it goes on. */
  readonly until: Day | null;
  /** The days that have a window, whatever its state, as spans; in any order, and they may overlap. */
  readonly known: readonly DayRange[];
  /** The zone of the source's calendar. */
  readonly timeZone: string;
  /** How long after its end a day still gets events. */
  readonly settleMs: number;
  /** Milliseconds since the epoch, by the database's clock. */
  readonly now: number;
}

/**
 * The windows that are missing, oldest first: one for each closed day from `since` to `until` that has none. Those that are there
 * wait in the store until they are due, so none is ever planned twice; nor is a day that is not closed (I8).
 */
export function plan({ since, until, known, timeZone, settleMs, now }: PlanInput): Window[] {
  const last = lastClosedDay(now, timeZone, settleMs);
  return free(known, { from: since, to: until !== null && until < last ? until : last })
    .flatMap(({ from, to }) => daysBetween(from, to))
    .map(dayWindow);
}

/** What the known spans leave free of a range, oldest first. */
function free(known: readonly DayRange[], { from: first, to: last }: DayRange): DayRange[] {
  const left: DayRange[] = [];
  let next = first;
  for (const { from, to } of [...known].sort((a, b) => (a.from < b.from ? -1 : 1))) {
    if (from > last) break;
    if (from > next) left.push({ from: next, to: addDays(from, -1) });
    if (to >= last) return left;
    if (to >= next) next = addDays(to, 1);
  }
  if (next <= last) left.push({ from: next, to: last });
  return left;
}
