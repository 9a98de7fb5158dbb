/** The state of each day of a stream, as people are shown it: a pure function of what the store knows and of the calendar. */
import type { Day, DayRange } from '../model.ts';
import { daysBetween } from './days.ts';

/**
 * How a day stands: complete with records · complete without any · not closed yet · being walked · failed ·
 * walked (whole, but a midnight beside it was not asked for across yet) · begun (some of it is stored, and not proven yet) ·
 * missing (closed and wanted, but not walked yet) ·
 * out of scope (before the stream begins, in the future, or pruned).
 */
export const DAY_STATES = [
  'complete',
  'empty',
  'open',
  'running',
  'failed',
  'walked',
  'begun',
  'missing',
  'out',
] as const;
export type DayState = (typeof DAY_STATES)[number];

/** What people are told of a state: in calendars, gaps and stories. */
export const DAY_STATE_WORDS: Readonly<Record<DayState, string>> = {
  complete: 'complete',
  empty: 'complete, no events',
  open: 'not closed yet',
  running: 'being walked',
  failed: 'failed',
  walked: 'walked, midnight not checked yet',
  begun: 'begun, not proven yet',
  missing: 'not walked yet',
  out: 'out of scope',
};

/** What the store knows of a day that has a window. */
export interface DayFacts {
  readonly day: Day;
  /** Whether all of its windows are complete, and the cuts at both its ends. */
  readonly complete: boolean;
  /** Whether any window failed. */
  readonly failed: boolean;
  /** Whether a worker holds any window now. */
  readonly running: boolean;
  /** Whether it was complete and is not kept any more. */
  readonly pruned?: boolean;
  /** Whether all of it is complete but a cut at its ends. */
  readonly walked?: boolean;
  /** Whether pages of it are stored that are to be proven. */
  readonly begun?: boolean;
  /** Records that readers see. */
  readonly records: number;
}

/** Where the days of a stream begin and end. */
export interface DayScope {
  /** The first day that the stream wants; null: the stream was never planned. */
  readonly since: Day | null;
  /** The newest day that is closed. */
  readonly lastClosed: Day;
  /** The day that it is now in the source's time zone. */
  readonly today: Day;
}

/** How one day stands; `facts` are absent where it has no windows. */
export function dayState(day: Day, facts: DayFacts | undefined, scope: DayScope): DayState {
  if (facts?.pruned === true) return 'out';
  if (facts?.complete === true) return facts.records === 0 ? 'empty' : 'complete';
  if (facts?.running === true) return 'running';
  // It may have windows: the settle delay was made longer since they were planned.
  if (day > scope.lastClosed) return day > scope.today ? 'out' : 'open';
  if (facts === undefined) return scope.since === null || day < scope.since ? 'out' : 'missing';
  if (facts.failed) return 'failed';
  if (facts.walked === true) return 'walked';
  return facts.begun === true ? 'begun' : 'missing';
}

/** A state for every day of the inclusive range, oldest first, with what the store knows of it. */
export function dayStates<Facts extends DayFacts>(
  range: DayRange,
  known: readonly Facts[],
  scope: DayScope,
): { readonly day: Day; readonly state: DayState; readonly facts: Facts | null }[] {
  const byDay = new Map(known.map((facts) => [facts.day, facts]));
  return daysBetween(range.from, range.to).map((day) => {
    const facts = byDay.get(day);
    return { day, state: dayState(day, facts, scope), facts: facts ?? null };
  });
}
