/** Answers one request of the served archive: which stream, which days, which pages, in the source's own envelope. */
import { ObjectStoreError, SettingsError } from '../errors.ts';
import type { Day, FilterName, Filters, Resource } from '../model.ts';
import type { Database, Query } from '../store/database.ts';
import { listMovedDays, type MovedDay, type MovedRecords } from '../store/moved-days.ts';
import { Counts, locate, type ReadMoved, readMoved, readWanted } from './counts.ts';
import {
  findNewestWalk,
  listSampledDays,
  MOST_SAMPLED,
  type RecordField,
  readEnvelope,
  readRecordFields,
} from './envelope-rows.ts';
import { type FieldPaths, pathsOf, placesOf, predicateOf, presenceOf } from './filter.ts';
import { type ArchiveQuery, pieceOf, Refusal } from './query.ts';
import * as rows from './rows.ts';

/** What the served archive needs of the settings. */
export interface ArchiveOptions {
  /** In the order in which they are looked through for one that fits a request. */
  readonly streams: readonly string[];
  readonly fields: FieldPaths;
  /** The zone of the source's wall clock. */
  readonly timeZone: string;
}

/** What one answer is made from. */
interface Asking {
  readonly query: Query;
  readonly asked: ArchiveQuery;
  readonly stream: rows.ServedStream;
  readonly days: readonly rows.ServedDay[];
  /** Where those of them are that moved, by day. */
  readonly places: ReadonlyMap<Day, MovedDay>;
  readonly signal: AbortSignal;
}

/** An error lists no more days, and in words no more fields. */
const MOST_TOLD = 100;

/** The archive as a source of pages. */
export class ServedArchive {
  readonly #database: Database;
  readonly #options: ArchiveOptions;
  readonly #moved: MovedRecords;
  readonly #counts = new Counts();
  /** The last envelope that moved. */
  #page: { readonly walkId: number; readonly body: string } | undefined;

  constructor(database: Database, options: ArchiveOptions, moved: MovedRecords) {
    this.#database = database;
    this.#options = options;
    this.#moved = moved;
  }

  /**
   * The page that is asked for; totals are exact, and the order is that of day, walk, page and position.
   * @throws {Refusal} for what cannot be honoured, days that are not complete or not kept any more among it.
   */
  page(resource: Resource, asked: ArchiveQuery, signal: AbortSignal) {
    const { streams, fields } = this.#options;
    // One snapshot: what is counted is what is read.
    return this.#database.snapshot(async (query) => {
      const stream = await rows.readStream(query, streams, resource, asked.filters);
      if (stream === undefined) throw noStream(resource, streams);
      const filter = stream.exact ? null : predicateOf(asked.filters, fields);
      const days = await rows.readDays(query, stream, asked.from, asked.to);
      checkDays(stream, days);
      const places = await this.#placesOf(query, stream, days);
      const envelope = await this.#envelope(query, stream, signal);
      const asking = { query, asked, stream, days, places, signal };
      const { texts, total } = await this.#read(asking, filter);
      if (filter !== null) await this.#checkFields(asking, total);
      return { body: envelope(texts, total, asked.start + texts.length < total), total };
    });
  }

  /** Where the days are that moved. @throws {Refusal} where that cannot be reached. */
  async #placesOf(query: Query, stream: rows.ServedStream, days: readonly rows.ServedDay[]) {
    const asked = days.filter(({ state }) => state === 'tiered');
    const [from, to] = [asked[0]?.day, asked.at(-1)?.day];
    if (from === undefined || to === undefined) return new Map<Day, MovedDay>();
    const moved = await listMovedDays({ persist: query }, [stream.name], { from, to });
    try {
      this.#moved.reach(moved);
    } catch (error) {
      if (!(error instanceof SettingsError)) throw error;
      const tiered = asked.slice(0, MOST_TOLD).map(({ day }) => day);
      const more = { stream: stream.name, tiered };
      throw new Refusal(409, `moved out of the archive: ${error.message}`, error.hint, more);
    }
    return new Map(moved.map((day) => [day.day, day]));
  }

  #reading(day: MovedDay, signal: AbortSignal): ReadMoved {
    return (from) => this.#moved.read(day, signal, from);
  }

  /** The newest page of a stream, wherever it is, around other records. */
  async #envelope(query: Query, { streamId, name }: rows.ServedStream, signal: AbortSignal) {
    const walk = await findNewestWalk(query, streamId);
    if (walk === undefined) throw new Refusal(409, `nothing is stored of ${name} yet`);
    const { walkId, day, tiered } = walk;
    if (!tiered) return readEnvelope(query, walkId, null);
    if (this.#page?.walkId !== walkId) {
      const [moved] = await listMovedDays({ persist: query }, [name], { from: day, to: day });
      if (moved === undefined)
        throw new Error(`${name} ${day} moved, and is not said to be anywhere`);
      for await (const [page] of this.#moved.pages(moved, walkId, signal)) {
        this.#page = page && { walkId, body: page.body };
        break;
      }
    }
    return readEnvelope(query, walkId, this.#page?.body ?? null);
  }

  /** The records that are asked for, and how many there are with those before and behind them. */
  async #read(asking: Asking, filter: rows.Wanted['filter']) {
    const { query, asked, days, places, signal } = asking;
    let total = 0;
    const texts: string[] = [];
    for (const day of days) {
      const offset = Math.max(0, asked.start - total);
      const missing = asked.length - texts.length;
      const between = pieceOf(asked, day.day);
      const isWhole = filter === null && between === null;
      if (isWhole && (missing === 0 || offset >= day.records)) {
        total += day.records;
        continue;
      }
      const moved = places.get(day.day);
      if (moved !== undefined) await this.#moved.check(moved, signal);
      const reading = moved && this.#reading(moved, signal);
      if (isWhole && reading !== undefined) {
        texts.push(...(await readMoved(reading, offset, missing)));
        total += day.records;
        continue;
      }
      const { wanted, pages, records } = await this.#count(asking, day, filter, between);
      const expected = Math.max(0, Math.min(missing, records - offset));
      if (expected > 0) {
        const found = locate(pages, offset, expected);
        const read =
          reading === undefined
            ? await rows.readRecords(query, wanted, found.pages, found.skip, expected)
            : await readWanted(query, wanted, reading, found, expected);
        if (read.length !== expected) throw changedMeanwhile(day);
        texts.push(...read);
      }
      total += records;
    }
    return { texts, total };
  }

  /** What is wanted of a day. @throws {Refusal} where that cannot be told of some records. */
  async #count(
    asking: Asking,
    day: rows.ServedDay,
    filter: rows.Wanted['filter'],
    between: rows.Wanted['between'],
  ) {
    const { query, asked, stream, places, signal } = asking;
    const { fields, timeZone } = this.#options;
    const timePaths = placesOf(fields.time);
    const wanted = { stream, day: day.day, filter, between, timePaths, timeZone };
    const moved = places.get(day.day);
    const reading = moved && this.#reading(moved, signal);
    const counts = await this.#counts.of(query, wanted, day, reading, signal);
    if (counts.seen !== day.records) throw changedMeanwhile(day);
    const { timeless, undecided } = counts;
    if (timeless > 0) {
      const why = `${timeless} records of ${day.day} have no time that can be read`;
      const hint = 'Ask for whole days, or name the field in daywalk.yaml, as archive.fields.time.';
      throw new Refusal(422, `${why}: a piece of that day cannot be told from the rest`, hint);
    }
    if (undecided === 0) return { ...counts, wanted };
    const why = `${undecided} records of ${day.day} hold something else`;
    throw this.#incomparable(await this.#recordFields(asking), comparedIn(asked.filters), why);
  }

  /**
   * Nothing found is an answer only where the field of each filter is found: in some records of all days, or in any of
   * those that are asked for. So is everything found, by the one filter that leaves out what it finds.
   */
  async #checkFields(asking: Asking, total: number): Promise<void> {
    const { asked, days } = asking;
    const { fields } = this.#options;
    const names = comparedIn(asked.filters).filter((name) => total === 0 || name === 'hideread');
    const some = days.filter(({ records }) => records > 0);
    if (names.length === 0 || some.length === 0) return;
    const here = await this.#recordFields(asking, false);
    let everywhere: readonly RecordField[] | null = null;
    for (const name of names) {
      const paths = pathsOf(name, fields).map((path) => path.join('.'));
      const isAmong = (seen: readonly RecordField[]) =>
        seen.some(({ path }) => paths.includes(path));
      let found = isAmong(here);
      for (const day of some)
        found ||= (await this.#count(asking, day, presenceOf(name, fields), null)).records > 0;
      if (found) continue;
      everywhere ??= await this.#recordFields(asking);
      if (!isAmong(everywhere)) throw this.#incomparable(everywhere, [name], 'no record has it');
    }
  }

  /** The refusal of filters on what records do not have, or have as another type: it names what there is. */
  #incomparable(found: readonly RecordField[], names: readonly FilterName[], why: string): Refusal {
    const compared = names.map((name) => {
      const paths = pathsOf(name, this.#options.fields).filter(([key]) => key !== '_source');
      return `${name} is compared with ${paths.map((path) => path.join('.')).join(', ')}`;
    });
    const fields = Object.fromEntries(found.map(({ path, types }) => [path, types]));
    const listed = found.slice(0, MOST_TOLD).map(({ path, types }) => `${path} (${types.join()})`);
    const hint = `Name the right field in daywalk.yaml, below archive.fields. There are ${listed.join(', ')}.`;
    return new Refusal(422, `${compared.join('; ')}: ${why}`, hint, { parameters: names, fields });
  }

  /** The fields of some records, spread over all days of the stream; of those that moved as far as these can be reached. */
  async #recordFields({ query, stream, signal }: Asking, movedToo = true) {
    const days = await listSampledDays(query, stream);
    const away = days.flatMap(({ day, tiered }) => (tiered && movedToo ? [day] : []));
    const moved =
      away.length === 0 ? [] : await listMovedDays({ persist: query }, [stream.name], null);
    const others: string[] = [];
    for (const day of moved.filter((one) => away.includes(one.day))) {
      try {
        others.push(...(await readMoved(this.#reading(day, signal), 0, MOST_SAMPLED)));
      } catch (error) {
        // Nobody asked for this day.
        if (!(error instanceof SettingsError || error instanceof ObjectStoreError)) throw error;
      }
    }
    const here = days.flatMap(({ day, tiered }) => (tiered ? [] : [day]));
    return readRecordFields(query, stream, here, others);
  }
}

/** The filters that are compared with fields. */
const comparedIn = (filters: Filters): FilterName[] =>
  (Object.keys(filters) as FilterName[]).filter((name) => name !== 'search');

const noStream = (resource: Resource, streams: readonly string[]): Refusal =>
  new Refusal(
    409,
    `no stream of ${resource} without filters is stored`,
    `Only requests with exactly the filters of a stream can be answered; there may be ${streams.join(', ')}.`,
  );

/**
 * Days that are not complete, or not kept any more, have no answer: a hole in it would look whole. Not 410, by which
 * clients may understand that the whole resource is gone.
 */
function checkDays({ name }: rows.ServedStream, days: readonly rows.ServedDay[]): void {
  const refuse = (what: string, refused: readonly rows.ServedDay[], why: string, hint: string) => {
    const some = refused.map(({ day }) => day);
    if (some.length === 0) return;
    const others = some.length === 1 ? '' : ` and ${some.length - 1} more`;
    const more = { stream: name, [what]: some.slice(0, MOST_TOLD) };
    throw new Refusal(409, `${why}: ${name} ${some[0]}${others}`, `${hint} ${some.at(-1)}.`, more);
  };
  const pruned = days.filter(({ state }) => state === 'pruned');
  const gone = 'Retention has removed them. Ask for later days than';
  refuse('pruned', pruned, 'not kept in the archive any more', gone);
  const incomplete = days.filter(({ state }) => state !== 'complete' && state !== 'tiered');
  const why = 'daywalk why tells of a day, such as';
  refuse('incomplete', incomplete, 'not complete in the archive', why);
}

/** What retention empties by `truncate` no snapshot keeps: what is there is counted, for an answer without it would look whole. */
const changedMeanwhile = ({ day }: rows.ServedDay): Refusal =>
  new Refusal(503, `${day} changed while it was read`, 'Ask again.');
