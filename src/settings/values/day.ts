/** Days of the calendar, as text. */
import { Temporal } from 'temporal-polyfill';
import type { Day } from '../../model.ts';
import { Wrong } from '../problems.ts';

/** An earlier year is a slip of the finger that would plan hundreds of thousands of windows. */
export const EARLIEST: Day = '1970-01-01';

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
