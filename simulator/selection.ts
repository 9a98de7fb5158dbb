/** A selection is the records that one request is about, before paging; the order of its pages is decided here. */
import type { Dice } from './random.ts';
import { firstAtOrAfter, type RecordList, type StoredRecord } from './record-list.ts';

/** `unstable` is newest first with records of the same time in another order in every request; `shuffled` has no order. */
export const ORDERS = ['newest', 'oldest', 'unstable', 'shuffled'] as const;
export type Order = (typeof ORDERS)[number];

interface Run {
  readonly list: RecordList;
  readonly first: number;
  /** Where this run begins in the selection. */
  readonly offset: number;
}

/** Records in ascending order of time, seen through the lists that hold them. */
export class Selection implements RecordList {
  readonly #runs: readonly Run[];
  readonly length: number;

  private constructor(runs: readonly Run[], length: number) {
    this.#runs = runs;
    this.length = length;
  }

  /** The records of `lists` with `from <= time < to`. */
  static between(lists: readonly RecordList[], from: number, to: number): Selection {
    const runs: Run[] = [];
    let length = 0;
    for (const list of lists) {
      const first = firstAtOrAfter(list, from);
      const end = firstAtOrAfter(list, to);
      if (end <= first) continue;
      runs.push({ list, first, offset: length });
      length += end - first;
    }
    return new Selection(runs, length);
  }

  timeAt(index: number): number {
    const run = this.#runAt(index);
    return run.list.timeAt(run.first + index - run.offset);
  }

  at(index: number): StoredRecord {
    const run = this.#runAt(index);
    return run.list.at(run.first + index - run.offset);
  }

  *[Symbol.iterator](): Generator<StoredRecord> {
    for (let index = 0; index < this.length; index++) yield this.at(index);
  }

  #runAt(index: number): Run {
    let low = 0;
    let high = this.#runs.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if ((this.#runs[middle] as Run).offset <= index) low = middle;
      else high = middle - 1;
    }
    const run = this.#runs[low];
    if (run === undefined) throw new RangeError(`no record at ${index}`);
    return run;
  }
}

/** At most `length` records of the selection from `start` on, in this order; `dice` are those of the request. */
export function pageOf(
  selection: RecordList,
  start: number,
  length: number,
  order: Order,
  dice: Dice,
): StoredRecord[] {
  const end = Math.min(selection.length, start + length);
  if (start >= end) return [];
  if (order === 'shuffled') return shuffledPage(selection, start, end, dice);
  if (order === 'unstable') return unstablePage(selection, start, end, dice);
  const page: StoredRecord[] = [];
  for (let position = start; position < end; position++) {
    page.push(selection.at(order === 'oldest' ? position : selection.length - 1 - position));
  }
  return page;
}

function shuffledPage(
  selection: RecordList,
  start: number,
  end: number,
  dice: Dice,
): StoredRecord[] {
  const places = Uint32Array.from({ length: selection.length }, (_, index) => index);
  dice.shuffle(places, 0, places.length);
  return Array.from(places.subarray(start, end), (index) => selection.at(index));
}

function unstablePage(
  selection: RecordList,
  start: number,
  end: number,
  dice: Dice,
): StoredRecord[] {
  const timeAt = (position: number) => selection.timeAt(selection.length - 1 - position);
  // A group of equals that reaches over the edge of the page is shuffled whole: that is how
  // a record comes to stand on two pages and another one on none.
  let first = start;
  while (first > 0 && timeAt(first - 1) === timeAt(start)) first--;
  let last = end;
  while (last < selection.length && timeAt(last) === timeAt(end - 1)) last++;
  const wide: StoredRecord[] = [];
  for (let position = first; position < last; position++) {
    wide.push(selection.at(selection.length - 1 - position));
  }
  for (let group = 0; group < wide.length; ) {
    let next = group + 1;
    while (next < wide.length && wide[next]?.time === wide[group]?.time) next++;
    dice.shuffle(wide, group, next);
    group = next;
  }
  return wide.slice(start - first, end - first);
}
