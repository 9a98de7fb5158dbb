/** A backfill's plan: what to do with each window of a range that a person asked for; `--dry-run` prints it. */
import { SettingsError } from '../errors.ts';
import type { Day, DayRange, Window, WindowState } from '../model.ts';
import { closesAt, daysBetween, dayWindow, lastClosedDay } from './days.ts';
import type { PlanInput } from './planner.ts';

/** What `--only` may name: windows that are missing (or pending), that failed, or all, complete ones too. */
export const BACKFILL_ONLY = ['missing', 'failed', 'all'] as const;
export type BackfillOnly = (typeof BACKFILL_ONLY)[number];

/** Why a day that is not kept here any more is skipped. */
export const PRUNED = 'it was pruned';
export const TIERED = 'it moved to the tier; daywalk tier --restore brings it back';

/** What the store knows of a day that has windows. */
export interface PlannedDay {
  readonly state: WindowState;
  /** It was complete, and is not kept here any more: never walked again. */
  readonly pruned?: boolean;
  /** It moved to a folder or bucket. */
  readonly tiered?: boolean;
}

/** The days of a stream that have windows; a day that is not in it has none. */
export type KnownDays = ReadonlyMap<Day, PlannedDay>;

export interface BackfillInput extends DayRange, Pick<PlanInput, 'timeZone' | 'settleMs' | 'now'> {
  /** Absent: missing and failed windows. */
  readonly only?: BackfillOnly;
  readonly newestFirst: boolean;
  /** In the order in which they take turns within a day. */
  readonly streams: readonly { readonly name: string; readonly known: KnownDays }[];
}

/** What a backfill does with one window, and why. */
export interface BackfillStep {
  readonly stream: string;
  readonly window: Window;
  /** How the window stands: as the store knows it, `missing` when it has none, `open` while the day is not closed. */
  readonly state: WindowState | 'missing' | 'open';
  /** `rewalk` walks a complete window again; what it has stays published until the new walk is proven. */
  readonly action: 'walk' | 'rewalk' | 'skip';
  /** For people. */
  readonly reason: string;
  /** When an open day closes, milliseconds since the epoch; null for a closed one. */
  readonly closesAt: number | null;
}

/**
 * One step for each day of the inclusive range and each stream: oldest day first (or newest), the streams in turn.
 * Failed windows are walked at once, before their retry time; a day that is not closed is never walked (I8).
 * @throws SettingsError when the range is empty or an end of it is not a day.
 */
export function planBackfill(input: BackfillInput): BackfillStep[] {
  const { from, to, streams, timeZone, settleMs, now } = input;
  const days = daysBetween(from, to);
  if (days.length === 0) {
    throw new SettingsError(`the range is empty: ${from} is after ${to}`, {
      hint: 'Give the older day as --from and the newer one as --to; both are included.',
    });
  }
  if (input.newestFirst) days.reverse();
  const last = lastClosedDay(now, timeZone, settleMs);
  return days.flatMap((day) => {
    const closes = day <= last ? null : closesAt(day, timeZone, settleMs);
    return streams.map(({ name, known }): BackfillStep => {
      const step = { stream: name, window: dayWindow(day), closesAt: closes };
      if (closes !== null)
        return {
          ...step,
          state: 'open',
          ...skip(`the day is not over: it closes at ${isoSecond(closes)}`),
        };
      const found = known.get(day);
      return { ...step, state: found?.state ?? 'missing', ...choose(found, input.only) };
    });
  });
}

type Choice = Pick<BackfillStep, 'action' | 'reason'>;

const skip = (reason: string): Choice => ({ action: 'skip', reason });

function choose(day: PlannedDay | undefined, only: BackfillOnly | undefined): Choice {
  if (day?.tiered === true) return skip(TIERED);
  if (day?.pruned === true) return skip(PRUNED);
  switch (day?.state) {
    case undefined:
    case 'pending': {
      const what = day === undefined ? 'there is no window yet' : 'the window waits to be walked';
      if (only === 'failed') return skip(`${what}, and only failed are asked`);
      return { action: 'walk', reason: what };
    }
    case 'failed':
      if (only === 'missing') return skip('it failed, and only missing are asked');
      return { action: 'walk', reason: 'it failed; it is tried again at once' };
    case 'complete':
      if (only === 'all') return { action: 'rewalk', reason: 'it is complete, and all are asked' };
      return skip('it is complete');
    case 'split':
      return skip('it was split; its parts are walked instead');
  }
}

function isoSecond(epochMs: number): string {
  return new Date(epochMs).toISOString().replace('.000Z', 'Z');
}
