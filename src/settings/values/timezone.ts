/** Time zones, by their IANA names. */
import { Temporal } from 'temporal-polyfill';
import { Wrong } from '../problems.ts';
import { didYouMean } from './spelling.ts';

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

/** `Berlin` is meant as a city, `Europe/Berln` as a whole name. */
function suggestion(text: string): string {
  const zones = ['UTC', ...Intl.supportedValuesOf('timeZone')];
  const city = zones.find((zone) => zone.toLowerCase().endsWith(`/${text.toLowerCase()}`));
  return city === undefined ? didYouMean(text, zones) : `; did you mean ${city}?`;
}
