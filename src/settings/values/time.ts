/** Times as settings say them: days of the calendar, time zones, schedules, and how a time is written. */

import { parse as readCron } from 'node-cron';
import { Temporal } from 'temporal-polyfill';
import type { Day, TimeFormat } from '../../model.ts';
import { Wrong } from '../problems.ts';
import { didYouMean } from './spelling.ts';

/** An earlier year is a slip of the finger that would plan hundreds of thousands of windows. */
export const EARLIEST: Day = '1970-01-01';

/** `text` as a day, if it is one. */
export function parseDay(text: string): Day | Wrong {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return new Wrong('is not a date such as 2024-01-31');
  try {
    Temporal.PlainDate.from(text);
  } catch {
    return new Wrong('is not a day of the calendar');
  }
  return text < EARLIEST ? new Wrong(`is before ${EARLIEST}`) : text;
}

/** Names that Postgres reads as abbreviations of fixed offsets (pg_timezone_abbrevs) before it looks for a zone. */
const ABBREVIATIONS: ReadonlySet<string> = new Set(['CET', 'EET', 'MET', 'WET']);

/** The zone that `text` names, in the spelling of the time zone database. */
export function parseTimezone(text: string): string | Wrong {
  if (ABBREVIATIONS.has(text.toUpperCase()))
    return new Wrong(
      'means an offset without summer time to Postgres and a zone with it elsewhere; name a place such as Europe/Berlin',
    );
  try {
    // It would also take the zone out of a whole date with a zone behind it.
    if (/^[A-Z][\w+/-]*$/i.test(text))
      return Temporal.PlainDate.from('2024-01-01').toZonedDateTime(text).timeZoneId;
  } catch {
    // The calendar that plans the windows does not know it.
  }
  return new Wrong(
    `is not a time zone such as Europe/Berlin, or Etc/GMT-5 for five hours east${suggestion(text)}`,
  );
}

/** The zone or the city that is meant. */
function suggestion(text: string): string {
  const zones = ['UTC', ...Intl.supportedValuesOf('timeZone')];
  const cityOf = (zone: string) => zone.slice(zone.lastIndexOf('/') + 1);
  return didYouMean(text, zones, text.includes('/') ? undefined : cityOf);
}

/** Of a schedule, as node-cron reads them. */
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
    const { minute, hour, dayOfMonth, month, dayOfWeek } = readCron(schedule);
    const values: unknown[] = [minute, hour, dayOfMonth, month, dayOfWeek].flat();
    // The last day of a month, or the second Monday, is no number.
    if (!values.every(Number.isInteger))
      return new Wrong(`is taken with numbers, ranges, lists and steps only: ${FIELDS}`);
    // cron ticks on either, and node-cron on what is both.
    if (new Set(dayOfMonth).size < 31 && new Set(dayOfWeek).size < 7)
      return new Wrong(
        'names days of the month and weekdays; name one of them, with * for the other',
      );
    return schedule;
  } catch (error) {
    const reason = (error as Error).message.replace(
      /^.* is an? invalid expression/,
      'not possible',
    );
    return new Wrong(`is no schedule (${reason}): ${FIELDS}`);
  }
}

/** The parts of a time: how each looks, and where it goes in `YYYY-MM-DDTHH:MI:SS.FTZ`, behind what. */
const PARTS = [
  { word: 'YYYY', looks: '([0-9]{4})', goes: 'year', behind: '' },
  { word: 'Mon', looks: '([A-Za-z]{3})', goes: 'month', behind: '-' },
  { word: 'MM', looks: '([0-9]{2})', goes: 'month', behind: '-' },
  { word: 'DD', looks: '([0-9]{2})', goes: 'day', behind: '-' },
  { word: 'HH', looks: '([0-9]{2})', goes: 'hour', behind: 'T' },
  { word: 'MI', looks: '([0-9]{2})', goes: 'minute', behind: ':' },
  { word: 'SS', looks: '([0-9]{2})', goes: 'second', behind: ':' },
  { word: 'F', looks: '([0-9]+)', goes: 'fraction', behind: '.' },
  { word: 'TZ', looks: '([Zz]|[+-][0-9]{2}:?[0-9]{2})', goes: 'zone', behind: '' },
] as const;
type Part = (typeof PARTS)[number];
const WORDS = new RegExp(`${PARTS.map(({ word }) => word).join('|')}|.`, 'gsu');

/** Reads a format; every part once, and no time without its date. */
export function parseTimeFormat(text: string): TimeFormat | Wrong {
  const found: Part[] = [];
  const has = (place: Part['goes']) => found.some(({ goes }) => goes === place);
  let pattern = '';
  for (const [word] of text.matchAll(WORDS)) {
    const part = PARTS.find((one) => one.word === word);
    if (part === undefined) {
      if (/[A-Za-z0-9]/.test(word))
        return new Wrong(
          `holds "${word}", which is no part of a time; the parts are ${PARTS.map((one) => one.word).join(', ')}`,
        );
      pattern += word.replace(/[^ /:,]/u, '\\$&');
      continue;
    }
    if (has(part.goes)) return new Wrong(`says the ${part.goes} twice`);
    found.push(part);
    pattern += part.looks;
  }
  for (const needed of ['year', 'month', 'day', 'hour', 'minute'] as const)
    if (!has(needed)) return new Wrong(`lacks the ${needed}, such as in YYYY-MM-DD HH:MI:SS`);
  if (has('fraction') && !has('second')) return new Wrong('has a fraction without a second');
  const put = PARTS.filter((part) => found.includes(part));
  const replacement = put.map((part) => `${part.behind}\\${found.indexOf(part) + 1}`).join('');
  return { text, pattern: `^${pattern}$`, replacement };
}
