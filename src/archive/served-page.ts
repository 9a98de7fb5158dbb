/** Answers one request of the served archive: which stream, which days, which pages, in the source's own envelope. */
import type { Clock } from '../clock.ts';
import type { Day, Filters, Resource } from '../model.ts';
import { addDays } from '../plan/days.ts';
import type { Database, Query } from '../store/database.ts';
import {
  type EnvelopeText,
  readEnvelopeText,
  readServedDays,
  readServedStreams,
  readWanted,
  type ServedDay,
  type ServedStream,
  type Wanted,
} from '../store/served.ts';
import { canonicalFilters } from '../store/streams.ts';
import { Refusal } from './refusal.ts';
import { type FieldMap, type Predicate, placesOf, predicateOf } from './served-filter.ts';
import { changedMeanwhile, IndexMemory, locate } from './served-index.ts';
import { daysOf, pieceOf, type ServedQuery } from './served-query.ts';

/** What the served archive needs of the settings. */
export interface ArchiveOptions {
  /** In the order in which they are looked through for one that fits a request. */
  readonly streams: readonly string[];
  readonly fields: FieldMap;
  /** Where a record may hold its time, best first. */
  readonly timePaths: readonly (readonly string[])[];
  /** The zone of the source's wall clock. */
  readonly timeZone: string;
  /** Answer from what is published of days that are not complete, too. */
  readonly allowIncomplete: boolean;
}

/** A page as the source would have given it. */
export interface ServedPage {
  readonly body: string;
  readonly records: number;
  readonly total: number;
  /** Days in it that are not complete; only where that is allowed. */
  readonly incomplete: readonly Day[];
}

/** No request touches more days than these. */
const MOST_DAYS = 4_000;
/** An error or a header lists no more than these. */
export const MOST_DAYS_TOLD = 100;
const ENVELOPE_KEPT_MS = 60_000;

/** The archive as a source of pages. */
export class ServedArchive {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #options: ArchiveOptions;
  readonly #indexes = new IndexMemory();
  readonly #envelopes = new Map<number, { readonly envelope: Envelope; readonly at: number }>();

  constructor(database: Database, clock: Clock, options: ArchiveOptions) {
    this.#database = database;
    this.#clock = clock;
    this.#options = options;
  }

  /**
   * The page that is asked for; totals are exact, and the order is that of day, walk, page and position.
   * @throws {Refusal} for what cannot be honoured, days that are not complete or not kept any more among it.
   */
  page(resource: Resource, asked: ServedQuery, signal: AbortSignal): Promise<ServedPage> {
    // One snapshot: what is counted is what is read.
    return this.#database.snapshot((query) => this.#answer(query, resource, asked, signal));
  }

  async #answer(
    query: Query,
    resource: Resource,
    asked: ServedQuery,
    signal: AbortSignal,
  ): Promise<ServedPage> {
    const streams = await readServedStreams(query, this.#options.streams);
    const { stream, filter } = chooseStream(streams, resource, asked.filters, this.#options.fields);
    const { first, last } = daysOf(asked);
    if (addDays(first, MOST_DAYS) < last)
      throw new Refusal(400, `toDate: a request may reach over ${MOST_DAYS} days at most`);
    const days = await readServedDays(query, stream.streamId, first, last);
    const pruned = days.filter((day) => day.pruned).map(({ day }) => day);
    if (pruned.length > 0) throw notKept(stream, pruned);
    const incomplete = days.filter(({ complete }) => !complete).map(({ day }) => day);
    if (incomplete.length > 0 && !this.#options.allowIncomplete)
      throw notComplete(stream, incomplete);
    const envelope = await this.#envelope(query, stream);
    let total = 0;
    const texts: string[] = [];
    for (const day of days) {
      const wanted = this.#wanted(asked, filter, day);
      const name = JSON.stringify([stream.streamId, wanted, day.overlaps]);
      const index = await this.#indexes.of(query, name, wanted, signal);
      const offset = Math.max(0, asked.start - total);
      const missing = asked.length - texts.length;
      if (offset < index.records && missing > 0) {
        const found = locate(index, offset, missing);
        const read = await readWanted(query, wanted, found.pages);
        if (read.length !== found.records) throw changedMeanwhile(day.day);
        texts.push(...read.slice(found.before, found.before + missing));
      }
      total += index.records;
    }
    return { body: envelope(texts, total), records: texts.length, total, incomplete };
  }

  #wanted(asked: ServedQuery, filter: Predicate | null, { day, walks, pages }: ServedDay): Wanted {
    return {
      day,
      walks,
      pages,
      filter,
      between: pieceOf(asked, day),
      timePaths: this.#options.timePaths.flatMap(placesOf).map(asArray),
      timeZone: this.#options.timeZone,
    };
  }

  async #envelope(query: Query, stream: ServedStream): Promise<Envelope> {
    const known = this.#envelopes.get(stream.streamId);
    const now = this.#clock.monotonic();
    if (known !== undefined && now - known.at < ENVELOPE_KEPT_MS) return known.envelope;
    const id = this.#clock.uuid();
    const marks = { records: `records ${id}`, total: `total ${id}` };
    const found = await readEnvelopeText(query, stream.streamId, marks);
    if (found === null)
      throw new Refusal(409, `nothing is stored of stream ${stream.name} yet`, {
        hint: 'How the source wraps its records is known from the first page that is stored.',
      });
    const envelope = envelopeOf(found, marks);
    this.#envelopes.set(stream.streamId, { envelope, at: now });
    return envelope;
  }
}

type Envelope = (records: readonly string[], total: number) => string;

/** The stored body around other records: everything else in it is as it was. */
function envelopeOf(
  { text, totalIsText }: EnvelopeText,
  marks: { records: string; total: string },
): Envelope {
  const [before = '', after = ''] =
    text === null ? ['', ''] : text.split(JSON.stringify(marks.records));
  return (records, total) => {
    const told = totalIsText ? `"${total}"` : String(total);
    const filled = (part: string) => part.replaceAll(JSON.stringify(marks.total), told);
    return `${filled(before)}[${records.join(',')}]${filled(after)}`;
  };
}

/**
 * A stream that was exported with the very filters of the request answers it as the source did; otherwise the one
 * without filters does, and the filters are looked for in its records.
 */
function chooseStream(
  streams: readonly ServedStream[],
  resource: Resource,
  filters: Filters,
  fields: FieldMap,
): { stream: ServedStream; filter: Predicate | null } {
  const ours = streams.filter((stream) => stream.resource === resource);
  const asText = (some: Filters) => JSON.stringify(canonicalFilters(some));
  const same = ours.find((stream) => asText(stream.filters) === asText(filters));
  if (same !== undefined) return { stream: same, filter: null };
  const whole = ours.find((stream) => asText(stream.filters) === '{}');
  if (whole !== undefined) return { stream: whole, filter: predicateOf(filters, fields) };
  const listed = ours.map(({ name }) => name).join(', ');
  throw new Refusal(409, `no stream of ${resource} without filters is stored`, {
    hint:
      listed === ''
        ? 'This archive holds nothing of that resource.'
        : `Only requests with exactly the filters of these streams can be answered: ${listed}.`,
  });
}

/**
 * No switch answers without these: they had events, and an empty list would say that there were none. Not 410, by which
 * clients may understand that the whole resource is gone.
 */
function notKept({ name }: ServedStream, days: readonly Day[]): Refusal {
  return new Refusal(409, `not kept in the archive any more: ${name} ${firstOf(days)}`, {
    hint: `Retention has removed what was older than it is wanted. Ask for later days than ${days.at(-1)}.`,
    more: { stream: name, pruned: days.slice(0, MOST_DAYS_TOLD) },
  });
}

function notComplete({ name }: ServedStream, days: readonly Day[]): Refusal {
  return new Refusal(409, `not complete in the archive: ${name} ${firstOf(days)}`, {
    hint: 'An answer with a hole in it would look whole. daywalk why tells of a day; serve-archive --allow-incomplete answers all the same.',
    more: { stream: name, incomplete: days.slice(0, MOST_DAYS_TOLD) },
  });
}

const firstOf = (days: readonly Day[]): string =>
  days.length === 1 ? String(days[0]) : `${days[0]} and ${days.length - 1} more`;

/** Keys as Postgres reads an array. */
const asArray = (path: readonly string[]): string =>
  `{${path.map((key) => JSON.stringify(key)).join(',')}}`;
