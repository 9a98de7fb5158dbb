/** Days that moved to a folder or bucket: where Postgres says that they are, and what rooms read of them that do not know the tier. */
import type { AgedDay, OpenRange } from '../model.ts';
import type { RowRange } from '../parquet/read.ts';
import type { Database } from './database.ts';
import type { AskedPage } from './evidence/proven.ts';
import type { ShownRecord } from './shown-records.ts';

/** What an object is. */
export interface MovedObject {
  readonly key: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** A day that is in the tier, and where. */
export interface MovedDay extends Pick<AgedDay, 'streamId' | 'stream' | 'day' | 'records'> {
  readonly publication: string;
  /** The name of the folder or bucket. */
  readonly place: string;
  readonly pages: MovedObject;
  readonly events: MovedObject;
  readonly recordsSha256: string;
}

/** A page of a walk whose day moved, and its body as the text of its `jsonb`. */
export interface MovedPage extends AskedPage {
  readonly body: string;
}

/** What days that moved hold. */
export interface MovedRecords {
  /** Whether a day can be reached with these settings. */
  reaches(day: MovedDay): boolean;
  /**
   * To be asked before a day is read.
   * @throws {SettingsError} that names those of the days that cannot be reached with these settings.
   */
  reach(days: readonly MovedDay[]): void;
  /**
   * The records of a day in the order of walk, page and position, as they were shown, a row group of its object at a time. Read whole, they
   * are what Postgres says that they are, or the last step throws.
   * @param from the place of the first one; the end is that of the day.
   * @throws {ObjectStoreError} where the object is gone, cut or changed, or cannot be read.
   */
  read(day: MovedDay, signal: AbortSignal, from?: number): AsyncIterable<readonly ShownRecord[]>;
  /** Reads the object of a day's records whole, once for as long as this lives. @throws as {@link MovedRecords.read}. */
  check(day: MovedDay, signal: AbortSignal): Promise<void>;
  /**
   * The pages of a walk in order, some at a time.
   * @param range where they are; without it the object is read up to them.
   * @throws as {@link MovedRecords.read}.
   */
  pages(
    day: MovedDay,
    walkId: number,
    signal: AbortSignal,
    range?: RowRange,
  ): AsyncIterable<readonly MovedPage[]>;
}

/** The object of a day as {@link MovedObject}: of its pages, or of its events. */
const movedObject = (of: 'pages' | 'events'): string =>
  `jsonb_build_object('key', t.${of}_key, 'bytes', t.${of}_bytes, 'sha256', encode(t.${of}_sha256, 'hex')) as ${of}`;

/**
 * The days of these streams, or all, that are in the tier, oldest first, between two days where given.
 * @param database or a snapshot of it.
 */
export const listMovedDays = (
  database: Pick<Database, 'persist'>,
  streams: readonly string[] | null,
  range: OpenRange | null,
): Promise<MovedDay[]> =>
  database.persist(
    `select s.stream_id as "streamId", s.name as stream, t.day, t.publication, t.place,
            t.records, encode(t.records_sha256, 'hex') as "recordsSha256",
            ${movedObject('pages')},
            ${movedObject('events')}
       from daywalk.tiered_days t
       join daywalk.streams s on s.stream_id = t.stream_id
      where ($1::text[] is null or s.name = any ($1::text[])) and ($2::date is null or t.day >= $2::date)
        and ($3::date is null or t.day <= $3::date)
      order by t.day, array_position($1::text[], s.name), s.name`,
    [streams, range?.from ?? null, range?.to ?? null],
  );
