/** Time zones and instants where days are odd, and what the calendar of the runtime says of them. */
import fc from 'fast-check';

/** Whole and broken offsets, changes at, over and beside midnight, on both sides of the date line. */
export const ZONES = [
  'UTC',
  'America/New_York',
  'America/Santiago',
  'Africa/Cairo',
  'America/Sao_Paulo',
  'America/Havana',
  'America/St_Johns',
  'America/Toronto',
  'Asia/Beirut',
  'Asia/Gaza',
  'Asia/Kathmandu',
  'Asia/Tokyo',
  'Europe/London',
  'Africa/Casablanca',
  'Antarctica/Troll',
  'Australia/Lord_Howe',
  'Pacific/Apia',
  'Pacific/Kiritimati',
  'Etc/GMT+12',
] as const;

const SECOND = 1000;
export const HOUR = 3600 * SECOND;
export const DAY_MS = 24 * HOUR;

const formats = new Map<string, Intl.DateTimeFormat>();

/** The date and hour of the wall clock, by `Intl` (the oracle: not what the code under test uses). */
export function wallClock(epochMs: number, timeZone: string): { day: string; hour: number } {
  let format = formats.get(timeZone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-CA-u-hc-h23', {
      timeZone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
    });
    formats.set(timeZone, format);
  }
  const part = Object.fromEntries(format.formatToParts(epochMs).map((p) => [p.type, p.value]));
  return { day: `${part.year}-${part.month}-${part.day}`, hour: Number(part.hour) };
}

export const zone = fc.constantFrom(...ZONES);

function offsetAt(epochMs: number, timeZone: string): number {
  const { day, hour } = wallClock(epochMs, timeZone);
  return Date.parse(`${day}T${String(hour).padStart(2, '0')}:00:00Z`) - epochMs;
}

/** Hours in which a zone's clocks are changed, from 2004 to 2030 (two changes within five days may be overlooked). */
function changesOf(timeZone: string): number[] {
  const changes: number[] = [];
  const end = Date.UTC(2030, 0, 1);
  for (let at = Date.UTC(2004, 0, 1); at < end; at += 5 * DAY_MS) {
    if (offsetAt(at, timeZone) === offsetAt(at + 5 * DAY_MS, timeZone)) continue;
    for (let hour = at; hour < at + 5 * DAY_MS; hour += HOUR) {
      if (offsetAt(hour, timeZone) !== offsetAt(hour + HOUR, timeZone)) changes.push(hour + HOUR);
    }
  }
  return changes;
}

const changes = new Map(ZONES.map((timeZone) => [timeZone, changesOf(timeZone)]));

/** A zone and an instant: any, or within two days of a change of its clocks. */
export const zoneAndInstant = zone.chain((timeZone) => {
  const around = changes.get(timeZone) ?? [];
  const any = fc.integer({ min: Date.UTC(2004, 0, 1), max: Date.UTC(2030, 0, 1) });
  if (around.length === 0) return fc.record({ timeZone: fc.constant(timeZone), now: any });
  const near = fc
    .tuple(fc.constantFrom(...around), fc.integer({ min: -2 * DAY_MS, max: 2 * DAY_MS }))
    .map(([change, by]) => change + by);
  return fc.record({ timeZone: fc.constant(timeZone), now: fc.oneof(any, near, near) });
});

/** A settle delay up to a day. */
export const settle = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: DAY_MS }));
