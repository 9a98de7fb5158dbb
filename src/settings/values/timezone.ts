/** Time zones, by their IANA names. */
import { Temporal } from 'temporal-polyfill';
import { Wrong } from '../problems.ts';
import { didYouMean, nearest } from './spelling.ts';

/** Names that Postgres reads as abbreviations of fixed offsets (pg_timezone_abbrevs) before it looks for a zone. */
const ABBREVIATIONS: ReadonlySet<string> = new Set(['CET', 'EET', 'MET', 'WET']);

/** The zone that `text` names, in the spelling of the time zone database. */
export function parseTimezone(text: string): string | Wrong {
  if (ABBREVIATIONS.has(text.toUpperCase()))
    return new Wrong(
      'means an offset without summer time to Postgres and a zone with it elsewhere; name a place such as Europe/Berlin',
    );
  return (
    zoneOf(text) ??
    new Wrong(
      `is not a time zone such as Europe/Berlin, or Etc/GMT-5 for five hours east${suggestion(text)}`,
    )
  );
}

/** Undefined unless the calendar that plans the windows knows it, too. */
function zoneOf(text: string): string | undefined {
  // Temporal would also take the zone out of a whole date with a zone behind it.
  if (!/^[A-Z][\w+/-]*$/i.test(text)) return undefined;
  try {
    return Temporal.PlainDate.from('2024-01-01').toZonedDateTime(text).timeZoneId;
  } catch {
    return undefined;
  }
}

/** `Berlin` is meant as a city, `Europe/Berln` as a whole name, and `UTC+5` as hours east of Greenwich. */
function suggestion(text: string): string {
  const [, sign, hours] = /^(?:UTC|GMT)?([+-])(\d{1,2})(?::?00)?$/i.exec(text) ?? [];
  // POSIX, and so Etc/GMT…, counts hours west of it.
  const offset = sign && zoneOf(`Etc/GMT${sign === '+' ? '-' : '+'}${Number(hours)}`);
  if (offset) return `; did you mean ${offset}?`;
  const zones = ['UTC', ...Intl.supportedValuesOf('timeZone')];
  if (text.includes('/')) return didYouMean(text, zones);
  const cities = new Map(zones.map((zone) => [zone.slice(zone.lastIndexOf('/') + 1), zone]));
  const city = cities.get(nearest(text, cities.keys()) ?? '');
  return city === undefined ? '' : `; did you mean ${city}?`;
}
