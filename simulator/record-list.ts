/** What a record is, and lists of records sorted by time that are searched without being copied. */

/** A record: its instant, its raw text as bytes, and a number that no other record of its stream has. */
export interface StoredRecord {
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** The JSON text, byte for byte as it is sent. */
  readonly bytes: Buffer;
  readonly serial: number;
}

/** Records in ascending order of time; they may be made only when asked for. */
export interface RecordList {
  readonly length: number;
  timeAt(index: number): number;
  at(index: number): StoredRecord;
}

/** Where records come from. */
export interface RecordSource {
  /** The lists that hold every record with `from <= time < to`, in ascending order of time. */
  lists(from: number, to: number): readonly RecordList[];
  /** The list for records of this time, as one that can be changed. */
  editable(time: number): HeldRecords;
  /** The same for every list that exists, or undefined where there is no end of them. */
  allEditable(): readonly HeldRecords[] | undefined;
  /** How many records the whole store has, as seen at this instant. */
  size(at: number): number;
}

/** The first index whose record is at or after `time`. */
export function firstAtOrAfter(list: RecordList, time: number): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (list.timeAt(middle) < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A list that is wholly in memory and can be changed. */
export class HeldRecords implements RecordList {
  readonly #records: StoredRecord[];

  /** Takes `records` over; they must be sorted by time. */
  constructor(records: StoredRecord[]) {
    this.#records = records;
  }

  get length(): number {
    return this.#records.length;
  }

  timeAt(index: number): number {
    return this.at(index).time;
  }

  at(index: number): StoredRecord {
    const record = this.#records[index];
    if (record === undefined) throw new RangeError(`no record at ${index}`);
    return record;
  }

  /** Puts `record` behind the records of the same time. */
  insert(record: StoredRecord): void {
    this.#records.splice(firstAtOrAfter(this, record.time + 1), 0, record);
  }

  /** Takes out the records that `gone` accepts and returns how many those were. */
  remove(gone: (record: StoredRecord) => boolean): number {
    const kept = this.#records.filter((record) => !gone(record));
    const removed = this.#records.length - kept.length;
    // In place and without spread: a list may be longer than a call may have arguments.
    for (const [index, record] of kept.entries()) this.#records[index] = record;
    this.#records.length = kept.length;
    return removed;
  }
}

/** A source of which every record is in memory: a file's, or those that a test gives. */
export class HeldSource implements RecordSource {
  readonly #all: HeldRecords;

  /** Sorts `records` by time; records of the same time keep their order. */
  constructor(records: StoredRecord[]) {
    this.#all = new HeldRecords(records.sort((one, other) => one.time - other.time));
  }

  lists(): readonly RecordList[] {
    return [this.#all];
  }

  editable(): HeldRecords {
    return this.#all;
  }

  allEditable(): readonly HeldRecords[] {
    return [this.#all];
  }

  size(): number {
    return this.#all.length;
  }
}
