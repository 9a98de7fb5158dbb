/** What a simulator is started with: where it listens, its records, and the switches. */
import { type DatasetReport, loadDataset } from './dataset.ts';
import { EventStream } from './event-stream.ts';
import { newRecord, type RecordInput } from './given-records.ts';
import { SimulatorInputError } from './input-error.ts';
import type { Resource } from './query.ts';
import { HeldSource, type RecordSource } from './record-list.ts';
import { SeededSource } from './seeded-source.ts';
import type { Switches } from './switches.ts';
import { readWallTime } from './wall-time.ts';
import { type RecordWriter, writeAlert, writeEvent } from './wazuh-records.ts';

/** Options that are fixed for the life of a simulator. */
export interface FixedOptions {
  /** 0 (the default in code) takes any free port. */
  readonly port?: number;
  /** The default is 127.0.0.1: other machines reach the simulator only when this says so. */
  readonly host?: string;
  /** A path in front of `/api`, like `/tenant-7`. */
  readonly prefix?: string;
  readonly seed?: string | number;
  /** Seeded events per day, and how far a day may be from it (a share, 0.2; 0 makes all days alike). */
  readonly eventsPerDay?: number;
  readonly dayVariation?: number;
  /** Seeded alerts of `smart-event` per day; one for 50 events when not given. */
  readonly alertsPerDay?: number;
  /** The share of days without any seeded records. */
  readonly emptyDays?: number;
  /** Seeded records exist from this UTC day to that one, inclusive (`YYYY-MM-DD`); without them, from 1970 to 2099. */
  readonly from?: string;
  readonly to?: string;
  /** About how many bytes of seeded records are kept in memory for each resource. */
  readonly cacheBytes?: number;
  /** An NDJSON file for `events` (and one for `smart-event`, which otherwise becomes empty). */
  readonly dataset?: string;
  readonly smartDataset?: string;
  /** Exactly these records, instead of seeded ones or a file. */
  readonly records?: readonly RecordInput[];
  readonly smartRecords?: readonly RecordInput[];
  /** How many requests the log keeps. */
  readonly logLimit?: number;
}

export type SimulatorOptions = FixedOptions & Partial<Switches>;

export const DEFAULT_FIXED = {
  port: 0,
  host: '127.0.0.1',
  prefix: '',
  seed: 'daywalk',
  eventsPerDay: 1000,
  dayVariation: 0.2,
  emptyDays: 0,
  from: '1970-01-01',
  to: '2099-12-31',
  cacheBytes: 128 * 1024 * 1024,
  logLimit: 10_000,
} as const;

/** The names of the fixed options; all others are switches. */
export const FIXED_NAMES: readonly string[] = [
  ...Object.keys(DEFAULT_FIXED),
  'alertsPerDay',
  'dataset',
  'smartDataset',
  'records',
  'smartRecords',
];

export type Streams = Readonly<Record<Resource, EventStream>>;

/**
 * The streams of both resources, with what was found in files.
 * @throws SimulatorInputError when an option or a file cannot be used.
 */
export async function openStreams(
  options: FixedOptions,
): Promise<{ streams: Streams; datasets: DatasetReport[] }> {
  checkFixed(options);
  const datasets: DatasetReport[] = [];
  const open = async (
    file: string | undefined,
    records: readonly RecordInput[] | undefined,
    otherwise: () => RecordSource,
  ): Promise<EventStream> => {
    if (file !== undefined) {
      const loaded = await loadDataset(file);
      datasets.push(loaded.report);
      return new EventStream(new HeldSource(loaded.records));
    }
    return new EventStream(records === undefined ? otherwise() : givenSource(records));
  };
  const seeded = options.dataset === undefined && options.records === undefined;
  const perDay = options.eventsPerDay ?? DEFAULT_FIXED.eventsPerDay;
  const alertsPerDay = options.alertsPerDay ?? Math.ceil(perDay / 50);
  const streams = {
    events: await open(options.dataset, options.records, () =>
      seededSource(options, 'events', writeEvent, perDay),
    ),
    'smart-event': await open(options.smartDataset, options.smartRecords, () =>
      seeded ? seededSource(options, 'smart-event', writeAlert, alertsPerDay) : new HeldSource([]),
    ),
  };
  return { streams, datasets };
}

function givenSource(records: readonly RecordInput[]): HeldSource {
  return new HeldSource(records.map((input, serial) => ({ ...newRecord(input), serial })));
}

function seededSource(
  options: FixedOptions,
  stream: string,
  write: RecordWriter,
  perDay: number,
): SeededSource {
  const { seed, dayVariation, emptyDays, from, to, cacheBytes } = { ...DEFAULT_FIXED, ...options };
  const [first = 0, last = 0] = [from, to].map((day) => readWallTime(`${day} 00:00:00`));
  return new SeededSource({
    seed,
    stream,
    write,
    perDay,
    dayVariation,
    emptyDays,
    from: first,
    to: last + 86_400_000,
    cacheBytes,
  });
}

function checkFixed(options: FixedOptions): void {
  const refuse = (name: keyof FixedOptions, expected: string) => {
    throw new SimulatorInputError(`${name}: ${JSON.stringify(options[name])} is not ${expected}`);
  };
  const number = (name: keyof FixedOptions, most: number, fraction: boolean, expected: string) => {
    const value = options[name];
    if (value === undefined) return;
    const holds = typeof value === 'number' && value >= 0 && value <= most;
    if (!holds || !(fraction || Number.isInteger(value))) refuse(name, expected);
  };
  number('port', 65_535, false, 'a port');
  // More do not fit the serial numbers of a day.
  for (const name of ['eventsPerDay', 'alertsPerDay'] as const) {
    number(name, 10_000_000, false, 'a whole number from 0 to 10000000');
  }
  for (const name of ['dayVariation', 'emptyDays'] as const) {
    number(name, 1, true, 'a share from 0 to 1');
  }
  number('cacheBytes', 2 ** 40, false, 'a number of bytes');
  number('logLimit', 2 ** 31, false, 'a whole number');
  for (const name of ['from', 'to'] as const) {
    const day = options[name];
    if (day !== undefined && readWallTime(`${day} 00:00:00`) === undefined) {
      refuse(name, 'a day, YYYY-MM-DD');
    }
  }
  if (options.prefix && !/^(\/[\w.~-]+)+$/.test(options.prefix)) {
    refuse('prefix', 'a path like /tenant-7');
  }
  for (const [file, records] of [
    ['dataset', 'records'],
    ['smartDataset', 'smartRecords'],
  ] as const) {
    if (options[file] !== undefined && options[records] !== undefined) {
      throw new SimulatorInputError(`${file} and ${records}: only one of them can be given`);
    }
  }
}
