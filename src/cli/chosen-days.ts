/** The days that a person chose: dates, months, and words for days near today, in the calendar of the source. */
import { systemClock } from '../clock.ts';
import { describeFuture } from '../days/gaps.ts';
import { SettingsError } from '../errors.ts';
import type { Day, DayRange, OpenRange } from '../model.ts';
import { addDays, dayAt, lastClosedDay, lastDayOf } from '../plan/days.ts';
import { Wrong } from '../settings/problems.ts';
import type { Settings } from '../settings/settings.ts';
import { writeDuration } from '../settings/values/quantity.ts';
import { EARLIEST, parseDay } from '../settings/values/time.ts';
import { DAYS_TAKEN, type Options } from './verb.ts';

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
  { from, to }: Options,
  latest: Latest,
  calendar: Calendar,
  now = systemClock.now(),
): OpenRange {
  const read = (given: unknown, flag: string) =>
    given === undefined ? null : readDays(String(given), `flag ${flag}`, latest, calendar, now);
  const first = read(from, '--from');
  const last = read(to, '--to');
  if (first && last && first.from > last.to)
    throw new SettingsError(`flag --from: ${first.from} is after --to ${last.to}; swap the two`);
  const { timezone, settle } = calendar;
  const newest = latest === 'closed' ? lastClosedDay(now, timezone, settle) : null;
  return { from: first?.from ?? null, to: last?.to ?? newest };
}

/** As {@link chosenRange} has it for those who export; without a beginning, from the earliest day on. */
export function closedRange(options: Options, calendar: Calendar): DayRange {
  const { from, to } = chosenRange(options, 'closed', calendar);
  return { from: from ?? EARLIEST, to: to ?? EARLIEST };
}

/**
 * The one day that an argument names; it may be today.
 * @throws {SettingsError} if it names none.
 */
export function chosenDay(text: string, calendar: Calendar, now = systemClock.now()): Day {
  const { from, to } = readDays(text, 'the day', 'today', calendar, now);
  if (from === to) return from;
  throw new SettingsError(`the day: ${JSON.stringify(text)} is a month; name one day of it`);
}

/** Streams that begin in the future, which is a slip of the finger more often than a plan. */
export function notBegun({ streams, since, timezone }: Settings, now = systemClock.now()) {
  const today = dayAt(now, timezone);
  return describeFuture(streams.map(({ name }) => ({ stream: name, since: since ?? null, today })));
}

/** The span that `text` names, a month only as far as it can be had. */
function readDays(
  text: string,
  place: string,
  latest: Latest,
  { timezone, settle }: Calendar,
  now: number,
): DayRange {
  const today = dayAt(now, timezone);
  const span = spanOf(text, today);
  if (span instanceof Wrong) throw new SettingsError(`${place}: ${span.about(text)}`);
  const { from, to } = span;
  const newest = latest === 'closed' ? lastClosedDay(now, timezone, settle) : today;
  if (from <= newest) return to <= newest ? span : { from, to: newest };
  const why =
    from > today
      ? 'is in the future'
      : `is not closed yet, which it is ${writeDuration(settle)} after its end (settle)`;
  const last = latest === 'closed' ? 'the newest closed day' : 'today';
  throw new SettingsError(`${place}: ${from} ${why}; ${last} is ${newest}`);
}

/** `text` as a date, a month, or a word for a day near today. */
function spanOf(text: string, today: Day): DayRange | Wrong {
  const word = text.trim().toLowerCase();
  const ago = { today: 0, yesterday: 1 }[word] ?? /^(\d{1,5})d$/.exec(word)?.[1];
  if (ago === undefined && !/^\d{4}-\d{2}(-\d{2})?$/.test(word))
    return new Wrong(`is no day; write ${DAYS_TAKEN}`);
  if (/^\d{4}-\d{2}$/.test(word)) {
    const from = parseDay(`${word}-01`);
    return from instanceof Wrong ? from : { from, to: lastDayOf(word) };
  }
  const day = parseDay(ago === undefined ? word : addDays(today, -Number(ago)));
  return day instanceof Wrong ? day : { from: day, to: day };
}
