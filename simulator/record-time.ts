/** Finds the time of a record that somebody else wrote. */

/** The keys that may hold a record's time, best first; a key whose value cannot be read is passed over. */
const TIME_KEYS = [
  'timestamp',
  '@timestamp',
  'EventTime',
  'TimeCreated',
  'eventTime',
  '_time',
  'UtcTime',
  'time',
  'event_time',
  'eventtime',
  'TimeGenerated',
  'created_at',
  'createdAt',
  'EventReceivedTime',
  'datetime',
  'date',
  'ts',
] as const;

/** The time of a parsed record in milliseconds since the epoch, or undefined when none of `TIME_KEYS` holds one. */
export function recordTime(record: object): number | undefined {
  for (const key of TIME_KEYS) {
    if (!Object.hasOwn(record, key)) continue;
    const time = readTime((record as Record<string, unknown>)[key]);
    if (time !== undefined) return time;
  }
  return undefined;
}

const WRITTEN =
  /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}:\d{2})(?:[.,](\d+))? ?(Z|UTC|[+-]\d{2}:?\d{2})?$/i;

/** Reads a written time (UTC unless it says otherwise) or a number of seconds, milli-, micro- or nanoseconds. */
export function readTime(value: unknown): number | undefined {
  if (typeof value === 'number') return readCount(value);
  if (typeof value !== 'string') return undefined;
  if (/^\d{9,19}(\.\d+)?$/.test(value)) return readCount(Number(value));
  const match = WRITTEN.exec(value);
  if (match === null) return undefined;
  const [, date, clock, fraction = '', zone = 'Z'] = match;
  const offset = /^[+-]/.test(zone) ? zone.replace(/^(...):?/, '$1:') : 'Z';
  // Cut, not rounded: 23:59:59.9999 belongs to the day that it says.
  const time = Date.parse(`${date}T${clock}.${fraction.slice(0, 3).padEnd(3, '0')}${offset}`);
  return Number.isNaN(time) ? undefined : time;
}

/** Which unit a count has is told by its size: 1973 to 2286 in seconds, and the same years in the finer ones. */
function readCount(count: number): number | undefined {
  if (!(count >= 1e8)) return undefined;
  if (count < 1e10) return Math.floor(count * 1000);
  if (count < 1e13) return Math.floor(count);
  if (count < 1e16) return Math.floor(count / 1e3);
  if (count < 1e19) return Math.floor(count / 1e6);
  return undefined;
}
