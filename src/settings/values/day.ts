/** Days of the calendar, as text. */
import { Temporal } from 'temporal-polyfill';
import type { Day } from '../../model.ts';
import { Wrong } from '../problems.ts';

/** An earlier year is a slip of the finger that would plan hundreds of thousands of windows. */
export const EARLIEST: Day = '1970-01-01';

/** `text` as a day, if it is one. */
export function dayOf(text: string): Day | Wrong {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return new Wrong('is not a date such as 2024-01-31');
  try {
    Temporal.PlainDate.from(text);
  } catch {
    return new Wrong('is not a day of the calendar');
  }
  return text < EARLIEST ? new Wrong(`is before ${EARLIEST}`) : text;
}
