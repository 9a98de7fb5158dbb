/** Prunings in the database: which days and walks may go, the months that they are in, and marking them. */
import type { AgedDay, AgeLimit, Day } from '../model.ts';
import type { Database } from '../store/database.ts';
import { publicationsOf, shownWalks } from '../store/shown.ts';
import { unhurried } from '../store/unhurried.ts';

/** What a pruning takes: whole days, or the walks of a day that are not shown any more. */
export type PruningKind = 'day' | 'superseded';

/** A day, and what of it would go; its records are those that the views show, of superseded walks all. */
export interface OldDay extends AgedDay {
  /** The walks that are shown and the digest over what is to be said of single records: they name exactly what is shown. */
  readonly walks: readonly number[];
  readonly marks: string;
  /** The newest entry of the ledger about the day; of one that may go it says what is shown. */
  readonly ledger: { readonly digest: string } | null;
  /** The keys of its publications. */
  readonly publications: readonly string[];
  readonly pages: number;
  /** Of all walks that would go, those that were evidence only too. */
  readonly storedPages: number;
}

/** The days that are older than their stream's limit and that have something to prune, oldest first. */
export function listOldDays(
  database: Database,
  kind: PruningKind,
  limits: readonly AgeLimit[],
): Promise<OldDay[]> {
  return database.persist(
    `select s.stream_id as "streamId", s.name as stream, c.day, to_jsonb(shown.walks) as walks, encode(daywalk.marks_digest(shown.walks), 'hex') as marks,
            case when exists (select from daywalk.windows w where w.stream_id = s.stream_id and w.day = c.day and w.lease_expires > clock_timestamp())
                 then 'a worker holds it'
                 when c.state = 'failed' then 'it failed'
                 when c.state <> 'complete' then 'it is not complete'
                 when d.unsealed then 'it is not in the ledger yet: the next run appends it' end as kept,
            (select jsonb_build_object('digest', encode(l.digest, 'hex')) from daywalk.ledger l
              where l.stream_id = s.stream_id and l.day = c.day order by l.revision desc limit 1) as ledger, ${publicationsOf('s.stream_id', 'c.day')} as publications,
            case $1 when 'day' then c.records else g.records end as records,
            case $1 when 'day' then c.pages else g.pages end as pages, g.pages as "storedPages", g.bytes
       from unnest($2::text[], $3::double precision[]) as l (name, seconds)
       join daywalk.streams s on s.name = l.name
       join daywalk.coverage c on c.stream = s.name and c.state not in ('missing', 'pruned', 'tiered')
       left join daywalk.days d on d.stream_id = s.stream_id and d.day = c.day
      cross join lateral (select ${shownWalks('s.stream_id', 'c.day')} as walks) as shown
      cross join lateral (
        select count(*) as walks, coalesce(sum(k.pages), 0)::bigint as pages, coalesce(sum(k.records), 0)::bigint as records,
               coalesce(sum(k.bytes), 0)::bigint as bytes
          from daywalk.prunable_walks(s.stream_id, c.day, $1) as k
         -- The cut before the first day of a month is not counted: months are compared with what is stored in them.
         where date_trunc('month', k.day) = date_trunc('month', c.day)) as g
      where daywalk.closed_at(c.day, s.time_zone, s.settle) + make_interval(secs => l.seconds) <= clock_timestamp()
        and (g.walks > 0 or $1 = 'day')
      order by c.day, array_position($2::text[], s.name)`,
    [kind, limits.map(({ stream }) => stream), limits.map(({ olderThanMs }) => olderThanMs / 1000)],
  );
}

/** A month of `daywalk.pages`, of all streams. */
export interface StoredMonth {
  /** Its first day. */
  readonly month: Day;
  /** On the disk, with indexes. */
  readonly size: number;
  /** Received for what is kept in it. */
  readonly bytes: number;
  readonly pages: number;
}

/** The partitions of these months, by month. */
export function readMonths(database: Database, months: readonly Day[]): Promise<StoredMonth[]> {
  return database.persist(
    `select m.month, coalesce(pg_total_relation_size(to_regclass('daywalk.pages_' || to_char(m.month, 'YYYY_MM'))), 0) as size,
            coalesce(sum(k.bytes), 0)::bigint as bytes, coalesce(sum(k.pages), 0)::bigint as pages
       from unnest($1::date[]) as m (month)
       left join daywalk.walks k on k.day >= m.month and k.day < m.month + interval '1 month' and k.pruning is null
      group by m.month order by m.month`,
    [months],
  );
}

/** What came of marking; see `daywalk.mark_pruned`. */
export type Marked = 'pruned' | 'held' | 'changed' | 'unsealed' | 'wanted';

/** Marks a day, or its superseded walks, as pruned, if it is still what was listed. Repeating it does nothing. */
export function markPruned(
  database: Database,
  kind: PruningKind,
  { streamId, day, walks, marks }: OldDay,
): Promise<Marked> {
  const sql = `select daywalk.mark_pruned($1, $2::date, $3, $4::bigint[], decode($5, 'hex'))`;
  return unhurried(database, sql, [streamId, day, kind, walks, marks]);
}
