/** Seeded records: any day of any year exists, the same for the same seed, and is made only when it is asked for. */
import { Dice, mix, mixFraction, seedNumber } from './random.ts';
import {
  HeldRecords,
  type RecordList,
  type RecordSource,
  type StoredRecord,
} from './record-list.ts';
import type { RecordWriter } from './wazuh-records.ts';

export interface SeededOptions {
  readonly seed: string | number;
  /** Tells apart two streams of the same seed. */
  readonly stream: string;
  readonly write: RecordWriter;
  readonly perDay: number;
  /** How far a day's count may be from `perDay`, as a share of it; 0 makes all days alike. */
  readonly dayVariation: number;
  /** The share of days that have no records at all. */
  readonly emptyDays: number;
  /** Records exist from this instant on, and before the other one. */
  readonly from: number;
  readonly to: number;
  /** About how many bytes of records are kept instead of being written again. */
  readonly cacheBytes: number;
}

const DAY = 86_400_000;
const BLOCK = 512;
/** Room for 16 million records a day in a serial number. */
const DAY_SERIALS = 2 ** 24;
/** A store without bounds is said to hold this many days: the one asked for and those before it. */
const RETENTION_DAYS = 30;

export class SeededSource implements RecordSource {
  readonly #options: SeededOptions;
  readonly #seed: number;
  readonly #edited = new Map<number, HeldRecords>();
  readonly #blocks = new Map<number, { records: StoredRecord[]; bytes: number }>();
  #blockBytes = 0;

  constructor(options: SeededOptions) {
    this.#options = options;
    this.#seed = mix(seedNumber(options.seed), seedNumber(options.stream));
  }

  lists(from: number, to: number): readonly RecordList[] {
    const first = Math.floor(Math.max(from, this.#options.from) / DAY);
    const last = Math.floor((Math.min(to, this.#options.to) - 1) / DAY);
    const lists: RecordList[] = [];
    // Also the days that were given records out of the bounds.
    const edited = [...this.#edited.keys()].filter((day) => day < first || day > last);
    const days = Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
    for (const day of [...edited, ...days].sort((one, other) => one - other)) {
      lists.push(this.#edited.get(day) ?? this.#day(day));
    }
    return lists;
  }

  editable(time: number): HeldRecords {
    const day = Math.floor(time / DAY);
    let held = this.#edited.get(day);
    if (held === undefined) {
      const list = this.#day(day);
      held = new HeldRecords(Array.from({ length: list.length }, (_, index) => list.at(index)));
      this.#edited.set(day, held);
    }
    return held;
  }

  allEditable(): undefined {
    return undefined;
  }

  size(at: number): number {
    const last = Math.floor(at / DAY);
    let size = 0;
    for (let day = last - RETENTION_DAYS + 1; day <= last; day++) {
      size += this.#edited.get(day)?.length ?? this.#count(day);
    }
    return size;
  }

  #day(day: number): RecordList {
    return {
      length: this.#count(day),
      timeAt: (index) => this.#time(day, index),
      at: (index) => {
        const block = this.#block(day, Math.floor(index / BLOCK));
        const record = block[index % BLOCK];
        if (record === undefined) throw new RangeError(`no record at ${index} of day ${day}`);
        return record;
      },
    };
  }

  #count(day: number): number {
    const { perDay, dayVariation, emptyDays, from, to } = this.#options;
    if (day * DAY < from || (day + 1) * DAY > to) return 0;
    if (mixFraction(this.#seed, day, 1) < emptyDays) return 0;
    const share = 1 + dayVariation * (2 * mixFraction(this.#seed, day, 2) - 1);
    return Math.min(DAY_SERIALS, Math.round(perDay * share));
  }

  /** Ascending in `index` without knowing the neighbours, so that a day of millions needs no memory. */
  #time(day: number, index: number): number {
    const count = this.#count(day);
    // The edges of a day are where windows lose records: its first millisecond and its last half second are never empty.
    if (index === 0) return day * DAY;
    if (index === count - 1) return (day + 1) * DAY - 1 - (mix(this.#seed, day, 3) % 500);
    // One record in five has the very time of the one before, as bursts do.
    const tied = mix(this.#seed, day, index, 4) % 5 === 0 ? index - 1 : index;
    if (tied === 0) return day * DAY;
    const place = (tied + mixFraction(this.#seed, day, tied, 5)) / count;
    return day * DAY + Math.min(DAY - 501, Math.floor(place * DAY));
  }

  #block(day: number, number: number): readonly StoredRecord[] {
    const key = day * DAY_SERIALS + number;
    let block = this.#blocks.get(key);
    if (block !== undefined) {
      // Last used is last in the map, and the first ones are dropped.
      this.#blocks.delete(key);
      this.#blocks.set(key, block);
      return block.records;
    }
    block = this.#writeBlock(day, number);
    this.#blocks.set(key, block);
    this.#blockBytes += block.bytes;
    for (const [oldest, dropped] of this.#blocks) {
      if (this.#blockBytes <= this.#options.cacheBytes || oldest === key) break;
      this.#blocks.delete(oldest);
      this.#blockBytes -= dropped.bytes;
    }
    return block.records;
  }

  #writeBlock(day: number, number: number): { records: StoredRecord[]; bytes: number } {
    const end = Math.min(this.#count(day), (number + 1) * BLOCK);
    const records: StoredRecord[] = [];
    let bytes = 0;
    for (let index = number * BLOCK; index < end; index++) {
      const time = this.#time(day, index);
      const serial = day * DAY_SERIALS + index;
      const dice = new Dice(mix(this.#seed, day, index, 6));
      const record = { time, serial, bytes: Buffer.from(this.#options.write(time, serial, dice)) };
      records.push(record);
      bytes += record.bytes.length;
    }
    return { records, bytes };
  }
}
