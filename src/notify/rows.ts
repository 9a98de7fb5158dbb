/** What people were told about the export: kept, so that nothing is told twice by restarts or by several workers. */
import type { KnownDay } from '../days/rows.ts';
import type { Database } from '../store/database.ts';
import { LOST_TOO_MUCH } from '../store/publications.ts';

/** How the export was found. */
export interface Condition {
  readonly failing: boolean;
  /** What is wrong; null: nothing. */
  readonly problem: string | null;
  /** When it began to fail; absent: now. */
  readonly since?: Date;
}

/** What is to be told, and to whom nobody else is telling it now. */
export interface Notification {
  readonly kind: 'failing' | 'still failing' | 'recovered';
  /** When it began to fail. */
  readonly since: Date;
}

/** While one process tells, others leave it alone; a killed one is not waited for longer than this. What reaches further is of a time in which the clock of the database was ahead. */
const TELLING_MS = 120_000;
/** A condition: no process is telling it now, who tells has so many milliseconds ($2). */
const NOBODY_TELLS = `(telling_until is null or telling_until not between clock_timestamp() and clock_timestamp() + make_interval(secs => $2::double precision / 1000))`;
/** A little less than a day, so that a daily run repeats it daily. */
const REPEAT_HOURS = 23;

/** Notes how the export was found. A failure that ended and came back before the end was told is one failure. One attempt. */
export async function noteCondition(
  database: Database,
  streams: readonly string[],
  { failing, problem, since }: Condition,
): Promise<void> {
  await database.query(
    `insert into daywalk.alarms as a (streams, failing, problem, failing_since)
     values ($1::text[], $2, $3, case when $2 then coalesce($4::timestamptz, clock_timestamp()) end)
     on conflict (streams) do update
       set problem = excluded.problem,
           failing = excluded.failing,
           failing_since = case when excluded.failing and not a.failing and not a.told_failing
                                then excluded.failing_since else a.failing_since end`,
    [streams, failing, problem, since?.toISOString() ?? null],
  );
}

/** Takes on the telling of what is news; null: there is none, or another process is at it. One attempt. */
export async function claimNotification(database: Database, streams: readonly string[]) {
  const [row] = await database.query<Notification>(
    `update daywalk.alarms
        set telling_until = clock_timestamp() + make_interval(secs => $2::double precision / 1000)
      where streams = $1::text[]
        and ${NOBODY_TELLS}
        and (failing <> told_failing or failing and told_at not between clock_timestamp() - make_interval(hours => $3) and clock_timestamp())
      returning case when not failing then 'recovered' when told_failing then 'still failing' else 'failing' end as kind,
                failing_since as since`,
    [streams, TELLING_MS, REPEAT_HOURS],
  );
  return row ?? null;
}

/** Notes that it was told, or that it could not be: then the next run tries again. One attempt. */
export async function noteNotified(
  database: Database,
  streams: readonly string[],
  kind: Notification['kind'],
  told: boolean,
): Promise<void> {
  await database.query(
    `update daywalk.alarms
        set telling_until = null,
            told_failing = case when $3 then $2 else told_failing end,
            told_at = case when $3 then clock_timestamp() else told_at end
      where streams = $1::text[]`,
    [streams, kind !== 'recovered', told],
  );
}

/** What is complete before anybody was told anything is no news. One attempt; streams that it knows stay as they are. */
export async function beginTellingDays(database: Database, streams: readonly string[]) {
  await database.query(
    `insert into daywalk.told_days (stream_id, entry, seq)
     select s.stream_id, coalesce((select max(l.entry) from daywalk.ledger l where l.stream_id = s.stream_id), 0),
            coalesce((select max(p.seq) from daywalk.publications p where p.stream_id = s.stream_id), 0)
       from daywalk.streams s where s.name = any ($1::text[])
     on conflict do nothing`,
    [streams],
  );
}

/**
 * From behind which entry of a stream's ledger to which it is told, as each day has its first row there when it became complete; and
 * from behind which publication to which, as these tell of records that are gone.
 */
export interface ToldPlace {
  readonly streamId: number;
  readonly after: number;
  readonly upTo: number;
  readonly afterSeq: number;
  readonly upToSeq: number;
}

/** Takes on the telling of what is new, where no other process is at it. One attempt. */
export async function claimDays(database: Database, streams: readonly string[]) {
  // A stream that is new since the beginning has told nothing.
  await database.query(
    `insert into daywalk.told_days (stream_id, entry, seq)
     select stream_id, 0, 0 from daywalk.streams where name = any ($1::text[])
     on conflict do nothing`,
    [streams],
  );
  return database.query<ToldPlace>(
    `update daywalk.told_days t
        set telling_until = clock_timestamp() + make_interval(secs => $2::double precision / 1000)
       from daywalk.streams s
      cross join lateral (select coalesce((select max(l.entry) from daywalk.ledger l where l.stream_id = s.stream_id), 0) as entry,
                                 coalesce((select max(p.seq) from daywalk.publications p where p.stream_id = s.stream_id), 0) as seq) as newest
      where s.stream_id = t.stream_id and s.name = any ($1::text[]) and (newest.entry > t.entry or newest.seq > t.seq)
        and ${NOBODY_TELLS}
     returning t.stream_id as "streamId", t.entry as after, newest.entry as "upTo", t.seq as "afterSeq", newest.seq as "upToSeq"`,
    [streams, TELLING_MS],
  );
}

/** A day that became complete. */
export type ProvenDay = Pick<KnownDay, 'stream' | 'day' | 'records' | 'proof'>;

/** Places ($1) as rows. */
const PLACES = `jsonb_to_recordset($1::jsonb) as place ("streamId" integer, "after" bigint, "upTo" bigint, "afterSeq" bigint, "upToSeq" bigint)`;

/** What `sql` lists of these places ($1): so many days at most ($2), and how many there are, which each row says. One attempt. */
async function listDays<T>(
  database: Database,
  sql: string,
  places: readonly ToldPlace[],
  most: number,
) {
  const values = [JSON.stringify(places), most];
  const rows = await database.query<T & { count: number }>(sql, values);
  return { days: rows.map(({ count: _, ...day }) => day as T), count: rows[0]?.count ?? 0 };
}

/** The days whose first entry lies in these places, by stream and day: some of them, and how many there are. */
export const listProvenDays = (database: Database, places: readonly ToldPlace[], most: number) =>
  listDays<ProvenDay>(
    database,
    `select s.name as stream, l.day, d.records, d.proof, count(*) over () as count
       from ${PLACES}
       join daywalk.ledger l on l.stream_id = place."streamId" and l.entry > place."after" and l.entry <= place."upTo" and l.revision = 1
       join daywalk.days d on d.stream_id = l.stream_id and d.day = l.day
       join daywalk.streams s on s.stream_id = l.stream_id
      order by s.name, l.day
      limit $2`,
    places,
    most,
  );

/** A day of which the source does not show some records any more. */
export interface GoneDay extends Pick<KnownDay, 'stream' | 'day' | 'records'> {
  /** Those on balance that it came to lack. */
  readonly lost: number;
}

/**
 * The days that came to lack records by what these places tell: some of them, and how many there are. Not those that have lost so many
 * that the alarm tells of them, nor what the source's retention took.
 */
export const listGoneDays = (database: Database, places: readonly ToldPlace[], most: number) =>
  listDays<GoneDay>(
    database,
    `select s.name as stream, p.day, least(sum(p.lost)::bigint, d.lost) as lost, d.records, count(*) over () as count
       from ${PLACES}
       join daywalk.publications p on p.stream_id = place."streamId" and p.seq > place."afterSeq" and p.seq <= place."upToSeq"
       join daywalk.days d on d.stream_id = p.stream_id and d.day = p.day
       join daywalk.streams s on s.stream_id = p.stream_id
      where p.lost > 0 and d.lost > 0 and d.retired_since is null and not ${LOST_TOO_MUCH}
      group by s.name, p.day, d.lost, d.records
      order by s.name, p.day
      limit $2`,
    places,
    most,
  );

/** Notes that it was told, or that it could not be: then the next run tries again. One attempt. */
export async function noteDaysTold(
  database: Database,
  places: readonly ToldPlace[],
  told: boolean,
): Promise<void> {
  await database.query(
    `update daywalk.told_days t
        set telling_until = null, entry = case when $2 then greatest(t.entry, place."upTo") else t.entry end,
            seq = case when $2 then greatest(t.seq, place."upToSeq") else t.seq end
       from ${PLACES} where t.stream_id = place."streamId"`,
    [JSON.stringify(places), told],
  );
}
