/** What is archived: the days with the walks that are shown of them, and their records as text, some pages at a time. */

import type { CoverageState } from '../days/coverage-rows.ts';
import type { KnownDay } from '../days/rows.ts';
import type { Day, OpenRange } from '../model.ts';
import type { Database } from '../store/database.ts';
import type { MovedDay } from '../store/moved-days.ts';
import { isComplete, publicationsOf, shownWalks } from '../store/shown.ts';

/** A stream and day, and what of it is shown. */
export interface ArchivedDay extends Omit<KnownDay, 'standing' | 'completeWindows' | 'dueAt'> {
  readonly streamId: number;
  readonly resource: string;
  /** behind: a record table does not have it as it is shown; complete, too: it moved, and its records can be read where they are. */
  readonly state: CoverageState | 'behind';
  /** The walks that are shown; with `marks` they name exactly what the views show of the day. */
  readonly walks: readonly number[];
  /** Hexadecimal digest over what is to be said of single records. */
  readonly marks: string;
  readonly completedAt: Date | null;
  readonly lookedAt: Date | null;
  /** The newest entry of the ledger about the day; null: it is not in the ledger yet as it is shown. */
  readonly ledger: { readonly entry: number; readonly digest: string } | null;
  /** The keys of its publications, the newest last. */
  readonly publications: readonly string[];
  /** Of a day of a record table: the key of the publication that it holds. */
  readonly publication?: string;
  /** Of a day of a record table: in which its times without an offset are read; absent: it has no times, or stays as it was read before its pages went. */
  readonly timeZone?: string;
  /** It is in a folder or bucket, and there. */
  readonly moved?: MovedDay;
  /** How many of its records were shown under other days until those were pruned. */
  readonly stood: Readonly<Record<Day, number>>;
  /** Those of these days whose files the folder has: what was shown under them is left out. */
  readonly beside?: readonly Day[];
}

/** Whether the pages of a day in this state are not here any more. */
export const isAway = (state: ArchivedDay['state'] | null | undefined): boolean =>
  state === 'pruned' || state === 'tiered';

/** The days of these streams that are due or stored, between two days where given, by stream and day. */
export function listArchivedDays(database: Database, streams: readonly string[], range: OpenRange) {
  return database.persist<ArchivedDay>(
    `select s.stream_id as "streamId", c.stream, c.resource, c.day, c.state, c.windows, c.records, c.gone,
            coalesce(moved.pages, c.pages) as pages, coalesce(moved.bytes, c.bytes) as bytes, c.proof,
            c.completed_at as "completedAt", c.looked_at as "lookedAt", c.last_error as "lastError",
            to_jsonb(shown.walks) as walks, encode(shown.marks, 'hex') as marks,
            case when l.walks = shown.walks and l.marks_sha256 = shown.marks
                 then jsonb_build_object('entry', l.entry, 'digest', encode(l.digest, 'hex')) end as ledger,
            ${publicationsOf('s.stream_id', 'c.day')} as publications,
            (select coalesce(jsonb_object_agg(one.day, one.records), '{}')
               from (select m.stood_on as day, count(*) as records
                       from daywalk.marks m
                       join daywalk.walks k on k.walk_id = m.walk_id
                       join daywalk.windows w on w.window_id = k.window_id and w.stream_id = s.stream_id
                      where m.day = c.day and m.stood_on is not null and m.seen group by m.stood_on) as one) as stood
       from daywalk.coverage c
       join daywalk.streams s on s.name = c.stream
      cross join lateral (
        select w.walks, daywalk.marks_digest(w.walks) as marks
          from (select ${shownWalks('s.stream_id', 'c.day')} as walks offset 0) as w offset 0) as shown
       -- Its pages are not here, and were received all the same.
       left join lateral (
        select sum(k.pages)::bigint as pages, sum(k.bytes)::bigint as bytes
          from daywalk.walks k where k.walk_id = any (shown.walks)) as moved on c.state = 'tiered'
       left join lateral (
        select * from daywalk.ledger
         where stream_id = s.stream_id and day = c.day order by revision desc limit 1) as l on true
      where c.stream = any ($1::text[])
        and ($2::date is null or c.day >= $2::date) and ($3::date is null or c.day <= $3::date)
      order by array_position($1::text[], c.stream), c.day`,
    [streams, range.from, range.to],
  );
}

/** Whether the day is still complete and made of the same walks and marks; cheap, whatever is stored. */
export function isUnchanged(database: Database, day: ArchivedDay): Promise<boolean> {
  return database.value(
    `select ${isComplete('$1', '$2::date')}
            and ${shownWalks('$1', '$2::date')} = $3::bigint[]
            and encode(daywalk.marks_digest($3::bigint[]), 'hex') = $4`,
    [day.streamId, day.day, day.walks, day.marks],
  );
}

/** Whether this database made a file of the day once. After a backup was put back it knows nothing of those that were made meanwhile. */
export function hasMade(
  database: Database,
  { streamId, day, publications }: ArchivedDay,
  file: Pick<ArchivedDay, 'ledger'> & { readonly publication?: string | undefined },
): Promise<boolean> {
  return database.value(
    `select $3::text = any ($4::text[])
            or exists (select from daywalk.ledger
                        where stream_id = $1 and day = $2::date and encode(digest, 'hex') = $5)`,
    [streamId, day, file.publication ?? '', publications, file.ledger?.digest ?? ''],
  );
}
