/** Records that arrive and vanish between the pages of a walk. */
import type { EventStream, NewRecord } from './event-stream.ts';
import { Dice } from './random.ts';
import type { StoredRecord } from './record-list.ts';
import type { Selection } from './selection.ts';
import type { Change } from './switches.ts';
import type { Instants } from './wall-time.ts';
import { writeEvent } from './wazuh-records.ts';

/** Carries one change out; a new one is made whenever the switch is set. */
export class ChangeDuringWalk {
  readonly #change: Change;
  readonly #dice: Dice;
  #pages = 0;
  #records = 0;

  constructor(change: Change, seed: number) {
    this.#change = change;
    this.#dice = new Dice(seed);
  }

  /** To be called when a page of this window was served: returns how many records are due now. */
  due(): number {
    this.#pages++;
    if (this.#pages % this.#change.every !== 0) return 0;
    const left = (this.#change.limit ?? Number.POSITIVE_INFINITY) - this.#records;
    const due = Math.min(this.#change.count, left);
    this.#records += due;
    return due;
  }

  /** Puts `count` new records into the window. */
  arrive(stream: EventStream, selection: Selection, instants: Instants, count: number): void {
    const first = selection.length > 0 ? selection.timeAt(0) : instants.from;
    const last = selection.length > 0 ? selection.timeAt(selection.length - 1) : instants.from;
    const records = Array.from({ length: count }, (_, index): NewRecord => {
      const time = {
        newest: last,
        // Behind the records of the same time would not be the oldest.
        oldest: Math.max(instants.from, first - 1),
        inside: instants.from + this.#dice.below(instants.to - instants.from),
      }[this.#change.where];
      const serial = 2 ** 31 + this.#records - count + index;
      return { time, bytes: Buffer.from(writeEvent(time, serial, this.#dice)) };
    });
    stream.insert(records);
  }

  /** Takes `count` records out of the window. */
  vanish(stream: EventStream, selection: Selection, count: number): void {
    const left = Math.min(count, selection.length);
    const gone = new Map<number, StoredRecord>();
    while (gone.size < left) {
      const index = {
        newest: selection.length - 1 - gone.size,
        oldest: gone.size,
        inside: this.#dice.below(selection.length),
      }[this.#change.where];
      const record = selection.at(index);
      gone.set(record.serial, record);
    }
    stream.removeThese([...gone.values()]);
  }
}
