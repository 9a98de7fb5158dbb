/** Which days became complete, and up to where the webhook was told: each day has its first row in the ledger then. */
import type { Day } from '../model.ts';
import type { Database } from '../store/database.ts';
import { TELLING_MS } from './rows.ts';

/** What is complete before anybody was told anything is no news. One attempt; streams that it knows stay as they are. */
export async function beginTellingDays(
  database: Database,
  streams: readonly string[],
): Promise<void> {
  await database.query(
    `insert into daywalk.told_days (stream_id, entry)
     select s.stream_id, coalesce((select max(l.entry) from daywalk.ledger l where l.stream_id = s.stream_id), 0)
       from daywalk.streams s where s.name = any ($1::text[])
     on conflict do nothing`,
    [streams],
  );
}

/** Up to which entry of a stream it is told. */
export interface ToldPlace {
  readonly streamId: number;
  /** The last entry that was told. */
  readonly after: number;
  /** The newest entry. */
  readonly upTo: number;
}

/** Takes on the telling of what is new in the ledger, where no other process is at it. One attempt. */
export async function claimDays(
  database: Database,
  streams: readonly string[],
): Promise<ToldPlace[]> {
  // A stream that is new since the beginning has told nothing.
  await database.query(
    `insert into daywalk.told_days (stream_id, entry)
     select stream_id, 0 from daywalk.streams where name = any ($1::text[])
     on conflict do nothing`,
    [streams],
  );
  return database.query<ToldPlace>(
    `update daywalk.told_days t
        set telling_until = clock_timestamp() + make_interval(secs => $2::double precision / 1000)
       from daywalk.streams s
      cross join lateral (select max(l.entry) as entry from daywalk.ledger l where l.stream_id = s.stream_id) as newest
      where s.stream_id = t.stream_id and s.name = any ($1::text[]) and newest.entry > t.entry
        and (t.telling_until is null or t.telling_until < clock_timestamp())
     returning t.stream_id as "streamId", t.entry as after, newest.entry as "upTo"`,
    [streams, TELLING_MS],
  );
}

/** A day that became complete. */
export interface ProvenDay {
  readonly stream: string;
  readonly day: Day;
  readonly records: number;
  /** Kinds of proof. */
  readonly proof: string | null;
}

/** The days whose first entry lies between these places, by stream and day: some of them, and how many there are. One attempt. */
export async function listProvenDays(
  database: Database,
  places: readonly ToldPlace[],
  most: number,
): Promise<{ readonly days: readonly ProvenDay[]; readonly count: number }> {
  const rows = await database.query<ProvenDay & { count: number }>(
    `select s.name as stream, l.day, d.records, d.proof, count(*) over () as count
       from unnest($1::integer[], $2::bigint[], $3::bigint[]) as place (stream_id, after, up_to)
       join daywalk.ledger l on l.stream_id = place.stream_id and l.entry > place.after and l.entry <= place.up_to and l.revision = 1
       join daywalk.days d on d.stream_id = l.stream_id and d.day = l.day
       join daywalk.streams s on s.stream_id = l.stream_id
      order by s.name, l.day
      limit $4`,
    [
      places.map(({ streamId }) => streamId),
      places.map(({ after }) => after),
      places.map(({ upTo }) => upTo),
      most,
    ],
  );
  return { days: rows.map(({ count: _, ...day }) => day), count: rows[0]?.count ?? 0 };
}

/** Notes that it was told, or that it could not be: then the next run tries again. One attempt. */
export async function noteDaysTold(
  database: Database,
  places: readonly ToldPlace[],
  told: boolean,
): Promise<void> {
  await database.query(
    `update daywalk.told_days t
        set telling_until = null, entry = case when $3 then greatest(t.entry, place.up_to) else t.entry end
       from unnest($1::integer[], $2::bigint[]) as place (stream_id, up_to)
      where t.stream_id = place.stream_id`,
    [places.map(({ streamId }) => streamId), places.map(({ upTo }) => upTo), told],
  );
}
