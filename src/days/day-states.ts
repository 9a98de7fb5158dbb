/** The state of each day of a stream, as people are shown it: a pure function of what the store knows and of the calendar. */
import type { Day } from '../model.ts';

/** What people are told of a state of a day: in calendars, gaps and stories. */
export const DAY_STATE_WORDS = {
  complete: 'complete',
  empty: 'complete, no events',
  open: 'not closed yet',
  running: 'being walked',
  failed: 'failed',
  walked: 'walked, midnight not checked yet',
  begun: 'begun, not proven yet',
  missing: 'not walked yet',
  out: 'out of scope',
} as const;

/**
 * How a day stands: complete with records · complete without any · not closed yet · being walked · failed ·
 * walked (whole, but a midnight beside it was not asked for across yet) · begun (some of it is stored, and not proven yet) ·
 * missing (closed and wanted, but not walked yet) ·
 * out of scope (before the stream begins, after it ends, in the future, or pruned).
 */
export type DayState = keyof typeof DAY_STATE_WORDS;
export const DAY_STATES = Object.keys(DAY_STATE_WORDS) as DayState[];

/** How the windows of a day stand, and the cuts at its ends; `pending`: none of it is stored. */
export type Standing =
  | 'pruned'
  | 'complete'
  | 'running'
  | 'failed'
  | 'walked'
  | 'begun'
  | 'pending';

/** What the store knows of a day that has a window. */
export interface DayFacts {
  readonly standing: Standing;
  /** Records that readers see. */
  readonly records: number;
}

/** Where the days of a stream begin and end. */
export interface DayScope {
  /** The first day that the stream wants; null: the stream was never planned. */
  readonly since: Day | null;
  /** The last one; null: it goes on. */
  readonly until: Day | null;
  /** The newest day that is closed. */
  readonly lastClosed: Day;
  /** The day that it is now in the source's time zone. */
  readonly today: Day;
}

/** How one day stands; `facts` are absent where it has no windows. */
export function dayState(day: Day, facts: DayFacts | undefined, scope: DayScope): DayState {
  if (facts?.standing === 'pruned') return 'out';
  if (facts?.standing === 'complete') return facts.records === 0 ? 'empty' : 'complete';
  if (facts?.standing === 'running') return 'running';
  const isOver = facts === undefined && scope.until !== null && day > scope.until;
  // It may have windows: the settle delay was made longer since they were planned.
  if (day > scope.lastClosed) return day > scope.today || isOver ? 'out' : 'open';
  if (facts === undefined)
    return scope.since === null || day < scope.since || isOver ? 'out' : 'missing';
  return facts.standing === 'pending' ? 'missing' : facts.standing;
}
