/** What days that moved hold, read from their objects by ranges, and compared with what Postgres says of them. */
import { orAborted } from '../clock.ts';
import { SettingsError } from '../errors.ts';
import type { RowRange } from '../parquet/read.ts';
import type { MovedDay, MovedPage, MovedRecords } from '../store/moved-days.ts';
import { WrittenDigest } from '../written.ts';
import { readEvents, type TieredPage } from './day-objects.ts';
import { checkObject, readObject, spoiledObject } from './object-file.ts';
import type { ObjectStore } from './object-store.ts';

/** What cannot be read with these settings: nothing of days that moved, and their names are told. */
function unreachable(days: readonly MovedDay[], store: ObjectStore | null): SettingsError {
  const [first] = days;
  const named = days.slice(0, 10).map(({ stream, day }) => `${stream} ${day}`);
  const more = days.length > named.length ? ` and ${days.length - named.length} more` : '';
  const why = store === null ? 'tier.url is not set' : `tier.url is ${store.name}`;
  return new SettingsError(`${named.join(', ')}${more} moved to ${first?.place}: ${why}`, {
    hint: 'Set tier.url in daywalk.yaml to where they are; docs/tier.md tells more.',
  });
}

/** Days that moved, in this folder or bucket; null: no setting says where they are. */
export class StoredRecords implements MovedRecords {
  readonly #store: ObjectStore | null;
  /** Objects that are what they should be, or are being looked at. */
  readonly #checked = new Map<string, Promise<void>>();

  constructor(store: ObjectStore | null) {
    this.#store = store;
  }

  reaches({ place }: MovedDay): boolean {
    return place === this.#store?.name;
  }

  reach(days: readonly MovedDay[]): void {
    const elsewhere = days.filter((day) => !this.reaches(day));
    if (elsewhere.length > 0) throw unreachable(elsewhere, this.#store);
  }

  #storeOf(moved: MovedDay): ObjectStore {
    this.reach([moved]);
    return this.#store as ObjectStore;
  }

  async *read(moved: MovedDay, signal: AbortSignal, from = 0) {
    const { events, records, recordsSha256 } = moved;
    const store = this.#storeOf(moved);
    if ((await store.size(events.key, signal)) !== events.bytes)
      throw spoiledObject(store, events.key);
    const digest = new WrittenDigest();
    const range = { from, to: Number.POSITIVE_INFINITY };
    let count = from;
    for await (const group of readEvents(store, events.key, signal, range)) {
      count += group.length;
      if (from === 0) digest.take(group);
      yield group;
    }
    const isWhole = from > 0 || digest.end().recordsSha256 === recordsSha256;
    if (count !== records || !isWhole) throw spoiledObject(store, events.key);
  }

  async check(moved: MovedDay, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { key } = moved.events;
    const { signal: never } = new AbortController();
    const check = () => checkObject(this.#storeOf(moved), moved.events, never);
    const checking = this.#checked.get(key) ?? check();
    this.#checked.set(key, checking);
    // Whoever does not wait any more leaves it to the next one who asks.
    checking.catch(() => this.#checked.delete(key));
    await orAborted(checking, signal);
  }

  async *pages(moved: MovedDay, walkId: number, signal: AbortSignal, range?: RowRange) {
    const store = this.#storeOf(moved);
    const { key } = moved.pages;
    let found = 0;
    for await (const group of readObject<TieredPage>(store, key, signal, range)) {
      const pages = group.filter(({ walk_id }) => Number(walk_id) === walkId).map(movedPage);
      if (pages.some(({ pageNo }, index) => pageNo !== found + index))
        throw spoiledObject(store, key);
      found += pages.length;
      if (pages.length > 0) yield pages;
    }
    if (found === 0 || (range !== undefined && found !== range.to - range.from))
      throw spoiledObject(store, key);
  }
}

/** Days that moved, where no setting says where they are. */
export const UNREACHED_RECORDS = new StoredRecords(null);

const movedPage = (page: TieredPage): MovedPage => ({
  pageNo: page.page_no,
  start: Number(page.start),
  length: page.length,
  skip: page.skip,
  hashes: page.record_hashes.match(/-?\d+/g) ?? [],
  body: page.body,
});
