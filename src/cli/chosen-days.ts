/** The days that a person chose: dates, months, and words for days near today, in the calendar of the source. */
import { systemClock } from '../clock.ts';
import type { Day, DayRange } from '../model.ts';
import { addDays, dayAt, lastClosedDay, lastDayOf } from '../plan/days.ts';
import { Problems, Wrong } from '../settings/problems.ts';
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
 * @throws {SettingsError} that tells everything wrong with them.
 */
export function chosenRange(
  { from, to }: Readonly<Record<string, unknown>>,
  latest: Latest,
  calendar: Calendar,
  now = systemClock.now(),
): { readonly from: Day | null; readonly to: Day | null } {
  const days = new Days(calendar, now);
  const first = from === undefined ? null : days.read(String(from), 'flag --from', latest);
  // The same day that is wrong is told once.
  const last =
    to === undefined || (to === from && !first) ? null : days.read(String(to), 'flag --to', latest);
  if (first && last && first.from > last.to)
    days.problems.add('flag --from', `${first.from} is after --to ${last.to}; swap the two`);
  days.problems.throwIfAny();
  return {
    from: first?.from ?? null,
    to: last?.to ?? (latest === 'closed' ? days.lastClosed : null),
  };
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
  const days = new Days(calendar, now);
  const found = days.read(text, 'the day', 'today');
  if (found && found.from !== found.to)
    days.problems.add('the day', `${JSON.stringify(text)} is a month; name one day of it`);
  days.problems.throwIfAny();
  return found?.from as Day;
}

/** Reads days, and collects what is wrong with them. */
class Days {
  readonly problems = new Problems();
  readonly lastClosed: Day;
  readonly #today: Day;
  readonly #settle: number;

  constructor({ timezone, settle }: Calendar, now: number) {
    this.#today = dayAt(now, timezone);
    this.lastClosed = lastClosedDay(now, timezone, settle);
    this.#settle = settle;
  }

  /** The span that `text` names, a month only as far as it can be had; undefined where it is wrong. */
  read(text: string, place: string, latest: Latest): { from: Day; to: Day } | undefined {
    const span = this.#spanOf(text.trim().toLowerCase(), place);
    if (span instanceof Wrong) {
      this.problems.addWrong(place, text, span);
      return undefined;
    }
    const { from, to } = span;
    const newest = latest === 'closed' ? this.lastClosed : this.#today;
    if (to <= newest) return span;
    if (from <= newest) return { from, to: newest };
    this.problems.add(place, `${from} ${this.#tooNew(from, latest)}`);
    return undefined;
  }

  #spanOf(word: string, place: string): { from: Day; to: Day } | Wrong {
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

  #daysAgo(count: number): { from: Day; to: Day } | Wrong {
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

function monthOf(month: string): { from: Day; to: Day } | Wrong {
  const from = dayOf(`${month}-01`);
  if (from instanceof Wrong) return new Wrong('is not a month of the calendar');
  return { from, to: lastDayOf(month) };
}
