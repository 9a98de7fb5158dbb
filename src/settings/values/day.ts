/** Days and ranges of days, as somebody typed them; only days of the calendar pass. */
import { Temporal } from 'temporal-polyfill';
import type { Day } from '../../model.ts';
import { Problems, Wrong } from '../problems.ts';

/** An earlier year is a slip of the finger that would plan hundreds of thousands of windows. */
const EARLIEST: Day = '1970-01-01';

/** `text` as a day, if it is one. */
export function dayOf(text: string): Day | Wrong {
  const found = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (!found) return new Wrong('is not a date such as 2024-01-31');
  const [year, month, day] = found.slice(1).map(Number) as [number, number, number];
  try {
    Temporal.PlainDate.from({ year, month, day }, { overflow: 'reject' });
  } catch {
    return new Wrong('is not a day of the calendar');
  }
  return text < EARLIEST ? new Wrong(`is before ${EARLIEST}`) : text;
}

/**
 * Reads the day that was typed at `place` (`flag --from`).
 * @throws SettingsError if it is none.
 */
export function parseDay(text: string, place: string): Day {
  const problems = new Problems();
  const day = checkedDay(text, place, problems);
  problems.throwIfAny();
  return day as Day;
}

/** Days from the first to the last, both inclusive. */
export interface DayRange {
  readonly from: Day;
  readonly to: Day;
}

/**
 * Reads the range of `--from` and `--to`; none of it may lie after `latest`, where that is given.
 * @throws SettingsError that tells everything wrong with it.
 */
export function parseRange(from: string, to: string, latest?: Day): DayRange {
  const problems = new Problems();
  const range = {
    from: checkedDay(from, 'flag --from', problems, latest),
    to: checkedDay(to, 'flag --to', problems, latest),
  };
  if (range.from !== undefined && range.to !== undefined && range.from > range.to)
    problems.add('flag --from', `${range.from} is after --to ${range.to}; swap the two`);
  problems.throwIfAny();
  return range as DayRange;
}

function checkedDay(
  text: string,
  place: string,
  problems: Problems,
  latest?: Day,
): Day | undefined {
  const day = dayOf(text.trim());
  if (day instanceof Wrong) {
    problems.addWrong(place, text, day);
    return undefined;
  }
  if (latest !== undefined && day > latest)
    problems.add(place, `${day} is in the future; the latest day is ${latest}`);
  return day;
}
