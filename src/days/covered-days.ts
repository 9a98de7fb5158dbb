/** The state of each day of each stream over a range, for the terminal and for the status page. */
import type { Day } from '../model.ts';
import { dayAt, daysBetween, lastClosedDay } from '../plan/days.ts';
import type { Database } from '../store/database.ts';
import { readStreams } from '../store/streams.ts';
import { databaseNow } from '../store/windows.ts';
import { type DayState, dayState } from './day-states.ts';
import { type KnownDay, readKnownDays } from './rows.ts';

/** A day and how it stands; a day without windows has no figures. */
export interface DayInState extends Omit<KnownDay, 'stream' | 'standing'> {
  readonly state: DayState;
}

const NO_FIGURES = { windows: 0, completeWindows: 0, records: 0, gone: 0, pages: 0, bytes: 0 };
/** What is known of a day that has no window. */
const NO_WINDOW = { ...NO_FIGURES, proof: null, dueAt: null, lastError: null };

/** The days of one stream. */
export type StreamDays = Awaited<ReturnType<typeof readStreamDays>>[number];

/** What days add up to. */
export const sumOf = (days: readonly DayInState[], what: 'records' | 'pages' | 'bytes'): number =>
  days.reduce((sum, day) => sum + day[what], 0);

/** How many days are in each state. */
export function countStates(days: readonly Pick<DayInState, 'state'>[]) {
  const counts = new Map<DayState, number>();
  for (const { state } of days) counts.set(state, (counts.get(state) ?? 0) + 1);
  return counts;
}

/** What is asked: streams by name, and an inclusive range of days. */
export interface DaysAsked {
  readonly streams: readonly string[];
  readonly from: Day;
  /** Absent: today, where the source is. */
  readonly to?: Day;
  /** The calendar of streams that were never planned. */
  readonly timeZone: string;
  readonly settleMs: number;
}

/**
 * The state of every day of the range, in the order of the names asked for. Three small reads, of which one grows with
 * the range: 13 months of 20 streams are 7,900 rows.
 */
export async function readStreamDays(database: Database, asked: DaysAsked) {
  const [now, known] = await Promise.all([
    databaseNow(database),
    readStreams(database, asked.streams),
  ]);
  const calendars = asked.streams.map((name) => {
    const stream = known.find((candidate) => candidate.name === name);
    const { timeZone, settleMs } = stream ?? asked;
    const lastClosed = lastClosedDay(now, timeZone, settleMs);
    return { name, stream, lastClosed, today: dayAt(now, timeZone) };
  });
  const todays = calendars.map(({ today }) => today).sort();
  const range = { from: asked.from, to: asked.to ?? todays.at(-1) ?? asked.from };
  const rows = await readKnownDays(database, asked.streams, range);
  return calendars.map(({ name, stream, lastClosed, today }) => {
    const { since, until } = stream ?? { since: null, until: null };
    const scope = { since, until, lastClosed, today };
    const own = rows.filter((row) => row.stream === name);
    const byDay = new Map(own.map((facts) => [facts.day, facts]));
    return {
      stream: name,
      /** Null where the stream was never planned in this database; then all closed days are out of scope. */
      streamId: stream?.streamId ?? null,
      since,
      until,
      /** The newest day that is closed, and the day that it is now, in the calendar of the source. */
      lastClosed,
      today,
      /** Every day of the range, oldest first. */
      days: daysBetween(range.from, range.to).map((day): DayInState => {
        const facts = byDay.get(day);
        const figures = facts === undefined ? NO_WINDOW : figuresOf(facts);
        return { day, state: dayState(day, facts, scope), ...figures };
      }),
    };
  });
}

const figuresOf = ({ stream: _, day: __, standing: ___, ...figures }: KnownDay) => figures;
