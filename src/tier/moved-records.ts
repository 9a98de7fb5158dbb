/** What days that moved hold, read from their objects by ranges, and compared with what Postgres says of them. */
import { createHash } from 'node:crypto';
import { orAborted } from '../clock.ts';
import { SettingsError } from '../errors.ts';
import type { MovedDay, MovedPage, MovedRecords, PageRange } from '../store/moved-days.ts';
import type { ShownRecord } from '../store/shown-records.ts';
import { LineDigest } from '../written.ts';
import { readEvents } from './event-file.ts';
import { readObject, spoiledObject } from './object-file.ts';
import type { ObjectStore } from './object-store.ts';
import type { TieredPage } from './page-file.ts';

/** Of one read while an object is compared with its SHA-256. */
const CHECK_BYTES = 8_000_000;
/** About so much text of records at a time: a row group may have more. */
const CHUNK_LETTERS = 2_000_000;

/** What cannot be read without a folder or bucket: nothing of days that moved, and their names are told. */
function unreachable(days: readonly MovedDay[], why: string): SettingsError {
  const [first] = days;
  const named = days.slice(0, 10).map(({ stream, day }) => `${stream} ${day}`);
  const more = days.length > named.length ? ` and ${days.length - named.length} more` : '';
  return new SettingsError(`${named.join(', ')}${more} moved to ${first?.place}: ${why}`, {
    hint: 'Set tier.url in daywalk.yaml to where they are; docs/tier.md tells more.',
  });
}

const nowhere = (days: readonly MovedDay[]) => unreachable(days, 'tier.url is not set');

/** Days that moved, where no setting says where they are. */
export const UNREACHED_RECORDS: MovedRecords = {
  reach(days) {
    if (days.length > 0) throw nowhere(days);
  },
  read(day) {
    throw nowhere([day]);
  },
  async check(day) {
    throw nowhere([day]);
  },
  pages(day) {
    throw nowhere([day]);
  },
};

/** Days that moved, in this folder or bucket. */
export class StoredRecords implements MovedRecords {
  readonly #store: ObjectStore;
  /** Objects that are what they should be, or are being looked at. */
  readonly #checked = new Map<string, Promise<void>>();

  constructor(store: ObjectStore) {
    this.#store = store;
  }

  reach(days: readonly MovedDay[]): void {
    const elsewhere = days.filter(({ place }) => place !== this.#store.name);
    if (elsewhere.length > 0) throw unreachable(elsewhere, `tier.url is ${this.#store.name}`);
  }

  async *read(
    moved: MovedDay,
    signal: AbortSignal,
    from = 0,
  ): AsyncGenerator<readonly ShownRecord[]> {
    await this.#requireSize(moved, signal);
    const { events, records, recordsSha256 } = moved;
    const lines = new LineDigest();
    const range = { from, to: Number.POSITIVE_INFINITY };
    let count = from;
    for await (const group of readEvents(this.#store, events.key, signal, range)) {
      count += group.length;
      for (const chunk of chunksOf(group)) {
        if (from === 0) lines.take(chunk);
        yield chunk;
      }
    }
    const isWhole = from > 0 || lines.end().recordsSha256 === recordsSha256;
    if (count !== records || !isWhole) throw spoiledObject(this.#store, events.key);
  }

  async check(moved: MovedDay, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { key } = moved.events;
    const checking = this.#checked.get(key) ?? this.#compare(moved);
    this.#checked.set(key, checking);
    // Whoever does not wait any more leaves it to the next one who asks.
    checking.catch(() => this.#checked.delete(key));
    await orAborted(checking, signal);
  }

  async #compare(moved: MovedDay): Promise<void> {
    const { signal } = new AbortController();
    await this.#requireSize(moved, signal);
    const { key, bytes, sha256 } = moved.events;
    const hash = createHash('sha256');
    for (let start = 0; start < bytes; start += CHECK_BYTES) {
      const end = Math.min(start + CHECK_BYTES, bytes);
      const part = await this.#store.read(key, signal, { start, end });
      if (part === null) throw spoiledObject(this.#store, key);
      hash.update(part);
    }
    if (hash.digest('hex') !== sha256) throw spoiledObject(this.#store, key);
  }

  async #requireSize(moved: MovedDay, signal: AbortSignal): Promise<void> {
    this.reach([moved]);
    const { key, bytes } = moved.events;
    if ((await this.#store.size(key, signal)) !== bytes) throw spoiledObject(this.#store, key);
  }

  async *pages(
    moved: MovedDay,
    walkId: number,
    signal: AbortSignal,
    range?: PageRange,
  ): AsyncGenerator<MovedPage[]> {
    this.reach([moved]);
    const { key } = moved.pages;
    let found = 0;
    for await (const group of readObject<TieredPage>(this.#store, key, signal, range)) {
      const pages = group.filter(({ walk_id }) => Number(walk_id) === walkId).map(movedPage);
      if (pages.some(({ pageNo }, index) => pageNo !== found + index))
        throw spoiledObject(this.#store, key);
      found += pages.length;
      if (pages.length > 0) yield pages;
    }
    if (found === 0 || (range !== undefined && found !== range.to - range.from))
      throw spoiledObject(this.#store, key);
  }
}

function* chunksOf(group: readonly ShownRecord[]): Generator<readonly ShownRecord[]> {
  let [first, letters] = [0, 0];
  for (const [index, { text }] of group.entries()) {
    letters += text.length;
    if (letters < CHUNK_LETTERS) continue;
    yield group.slice(first, index + 1);
    [first, letters] = [index + 1, 0];
  }
  if (first < group.length) yield group.slice(first);
}

const movedPage = (page: TieredPage): MovedPage => ({
  pageNo: page.page_no,
  start: Number(page.start),
  length: page.length,
  skip: page.skip,
  hashes: page.record_hashes.match(/-?\d+/g) ?? [],
  body: page.body,
});
