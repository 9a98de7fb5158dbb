/** The records of one resource: a source, the changes made to it, and what a window with filters selects. */
import { matcher } from './filters.ts';
import type { Filters } from './query.ts';
import { HeldRecords, type RecordSource, type StoredRecord } from './record-list.ts';
import { Selection } from './selection.ts';
import type { Instants } from './wall-time.ts';

/** How many filtered selections are kept for the next page. */
const KEPT_SELECTIONS = 32;
/** Serial numbers of inserted records begin above all those of a source. */
const FIRST_INSERTED = 2 ** 50;

/** An inserted record: its instant and its raw text. */
export interface NewRecord {
  readonly time: number;
  readonly bytes: Buffer;
}

export class EventStream {
  readonly #source: RecordSource;
  readonly #kept = new Map<string, Selection>();
  #inserted = 0;

  constructor(source: RecordSource) {
    this.#source = source;
  }

  /** The records of these instants that pass the filters. The selection holds until the stream is changed. */
  select(instants: Instants, filters: Filters): Selection {
    const { from, to } = instants;
    const all = Selection.between(this.#source.lists(from, to), from, to);
    const passes = matcher(filters);
    if (passes === undefined) return all;
    const key = JSON.stringify([from, to, Object.entries(filters).sort()]);
    let selection = this.#kept.get(key);
    if (selection === undefined) {
      const passed: StoredRecord[] = [];
      for (const record of all) if (passes(record.bytes.toString())) passed.push(record);
      selection = Selection.between([new HeldRecords(passed)], from, to);
      for (const oldest of this.#kept.keys()) {
        if (this.#kept.size < KEPT_SELECTIONS) break;
        this.#kept.delete(oldest);
      }
      this.#kept.set(key, selection);
    }
    return selection;
  }

  /** How many records the whole store has, as seen at this instant. */
  size(at: number): number {
    return this.#source.size(at);
  }

  insert(records: readonly NewRecord[]): void {
    for (const { time, bytes } of records) {
      const serial = FIRST_INSERTED + this.#inserted++;
      this.#source.editable(time).insert({ time, bytes, serial });
    }
    this.#kept.clear();
  }

  /** Takes out exactly these records. */
  removeThese(records: readonly StoredRecord[]): void {
    const serials = new Set(records.map((record) => record.serial));
    for (const list of new Set(records.map((record) => this.#source.editable(record.time)))) {
      list.remove((record) => serials.has(record.serial));
    }
    this.#kept.clear();
  }

  /** Takes out all records that `gone` accepts; undefined when the source is endless. */
  removeEverywhere(gone: (record: StoredRecord) => boolean): number | undefined {
    const lists = this.#source.allEditable();
    if (lists === undefined) return undefined;
    this.#kept.clear();
    return lists.reduce((removed, list) => removed + list.remove(gone), 0);
  }
}
