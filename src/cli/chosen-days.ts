/** The days that a person chose: dates, months, and words for days near today, in the calendar of the source. */
import { systemClock } from '../clock.ts';
import { describeFuture } from '../days/gaps.ts';
import { SettingsError } from '../errors.ts';
import type { Day, DayRange } from '../model.ts';
import { addDays, dayAt, lastClosedDay, lastDayOf } from '../plan/days.ts';
import { Wrong } from '../settings/problems.ts';
import type { Settings } from '../settings/settings.ts';
import { dayOf, EARLIEST } from '../settings/values/day.ts';
import { writeDuration } from '../settings/values/quantity.ts';
import { didYouMean } from '../settings/values/spelling.ts';
import { DAYS_TAKEN } from './verb.ts';

/** When days begin and are closed where the source is. */
type Calendar = Pick<Settings, 'timezone' | 'settle'>;
/** The newest day that can be had: `closed` by those who export, `today` by those who only look. */
type Latest = 'closed' | 'today';

/**
 * The days of `--from` and `--to`, both inclusive. Without an end those who export get the newest closed day, and those who
 * look an open one; the beginning may be open.
 * @throws {SettingsError} that tells what is wrong with them.
 */
export function chosenRange(
  { from, to }: Readonly<Record<string, unknown>>,
  latest: Latest,
  calendar: Calendar,
  now = systemClock.now(),
): { readonly from: Day | null; readonly to: Day | null } {
  const days = new Days(calendar, now);
  const first = from === undefined ? null : days.read(String(from), 'flag --from', latest);
  const last = to === undefined ? null : days.read(String(to), 'flag --to', latest);
  if (first && last && first.from > last.to)
    throw new SettingsError(`flag --from: ${first.from} is after --to ${last.to}; swap the two`);
  const newest = latest === 'closed' ? days.lastClosed : null;
  return { from: first?.from ?? null, to: last?.to ?? newest };
}

/** As {@link chosenRange} has it for those who export; without a beginning, from the earliest day on. */
export function closedRange(
  options: Readonly<Record<string, unknown>>,
  calendar: Calendar,
): DayRange {
  const { from, to } = chosenRange(options, 'closed', calendar);
  return { from: from ?? EARLIEST, to: to ?? EARLIEST };
}

/**
 * The one day that an argument names; it may be today.
 * @throws {SettingsError} if it names none.
 */
export function chosenDay(text: string, calendar: Calendar, now = systemClock.now()): Day {
  const { from, to } = new Days(calendar, now).read(text, 'the day', 'today');
  if (from === to) return from;
  throw new SettingsError(`the day: ${JSON.stringify(text)} is a month; name one day of it`);
}

/** Streams that begin in the future, which is a slip of the finger more often than a plan. */
export function notBegun(
  { streams, since, timezone }: Settings,
  now = systemClock.now(),
): string[] {
  const today = dayAt(now, timezone);
  return describeFuture(streams.map(({ name }) => ({ stream: name, since: since ?? null, today })));
}

/** Reads days in the calendar of the source. */
class Days {
  readonly lastClosed: Day;
  readonly #today: Day;
  readonly #settle: number;

  constructor({ timezone, settle }: Calendar, now: number) {
    this.#today = dayAt(now, timezone);
    this.lastClosed = lastClosedDay(now, timezone, settle);
    this.#settle = settle;
  }

  /** The span that `text` names, a month only as far as it can be had. */
  read(text: string, place: string, latest: Latest): DayRange {
    const span = this.#spanOf(text.trim().toLowerCase(), place);
    if (span instanceof Wrong) throw new SettingsError(`${place}: ${span.about(text)}`);
    const { from, to } = span;
    const newest = latest === 'closed' ? this.lastClosed : this.#today;
    if (from > newest) throw new SettingsError(`${place}: ${from} ${this.#tooNew(from, latest)}`);
    return to <= newest ? span : { from, to: newest };
  }

  #spanOf(word: string, place: string): DayRange | Wrong {
    const near = { today: 0, yesterday: -1, tomorrow: 1 }[word];
    if (near !== undefined) return single(addDays(this.#today, near));
    const [, count, unit] = /^(\d{1,5})([dw])$/.exec(word) ?? [];
    if (count !== undefined) return this.#daysAgo(Number(count) * (unit === 'w' ? 7 : 1));
    if (/^\d{4}-\d{2}$/.test(word)) return monthOf(word);
    if (/^\d{4}-\d{2}-\d{2}$/.test(word)) {
      const day = dayOf(word);
      return day instanceof Wrong ? day : single(day);
    }
    const meant = didYouMean(word, ['today', 'yesterday']);
    const taken = place === 'the day' ? DAYS_TAKEN.replace(' 2026-10,', '') : DAYS_TAKEN;
    return new Wrong(`is no day${meant === '' ? `; write ${taken}` : meant}`);
  }

  #daysAgo(count: number): DayRange | Wrong {
    const day = addDays(this.#today, -count);
    return day < EARLIEST ? new Wrong(`is before ${EARLIEST}`) : single(day);
  }

  #tooNew(day: Day, latest: Latest): string {
    if (latest === 'today') return `is in the future; today is ${this.#today}`;
    const closed = `the newest closed day is ${this.lastClosed}`;
    if (day > this.#today) return `is in the future; ${closed}`;
    if (day === this.#today) return `is not over yet; ${closed}`;
    return `is not closed yet, which it is ${writeDuration(this.#settle)} after its end (settle); ${closed}`;
  }
}

const single = (day: Day) => ({ from: day, to: day });

function monthOf(month: string): DayRange | Wrong {
  const from = dayOf(`${month}-01`);
  if (from instanceof Wrong) return new Wrong('is not a month of the calendar');
  return { from, to: lastDayOf(month) };
}
