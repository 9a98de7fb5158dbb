/** Cron schedules of five fields, as node-cron reads them: minute, hour, day of the month, month, day of the week. */
import { parse } from 'node-cron';
import { Wrong } from '../problems.ts';

const FIELDS =
  'minute (0-59) hour (0-23) day (1-31) month (1-12) weekday (0-7), such as 15 * * * *';

/** `text` with single spaces, if it is a schedule that comes due at all. */
export function parseCron(text: string): string | Wrong {
  const fields = text.trim().split(/\s+/);
  if (fields.length !== 5)
    return new Wrong(
      `has ${fields.length === 1 ? 'one field' : `${fields.length} fields`}, not five: ${FIELDS}`,
    );
  const schedule = fields.join(' ');
  try {
    const { minute, hour, dayOfMonth, month, dayOfWeek } = parse(schedule);
    const values: unknown[] = [minute, hour, dayOfMonth, month, dayOfWeek].flat();
    // The last day of a month, or the second Monday, is no number.
    if (values.every(Number.isInteger)) return schedule;
    return new Wrong(`is taken with numbers, ranges, lists and steps only: ${FIELDS}`);
  } catch (error) {
    const reason = (error as Error).message.replace(
      /^.* is an? invalid expression/,
      'not possible',
    );
    return new Wrong(`is no schedule (${reason}): ${FIELDS}`);
  }
}
