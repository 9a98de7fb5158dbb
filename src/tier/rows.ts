/** Tiered days in the database: which may move, that one is in the tier, and that it is back. */
import type { AgedDay, AgeLimit } from '../model.ts';
import { advisoryLock } from '../store/advisory-locks.ts';
import type { Database, Query } from '../store/database.ts';
import type { MovedDay } from '../store/moved-days.ts';
import { isPruned, shownWalks } from '../store/shown.ts';
import { unhurried } from '../store/unhurried.ts';
import type { TableOwner } from './delta/delta-log.ts';

/** A day by its stream. */
type DayKey = Pick<AgedDay, 'streamId' | 'day'>;

/**
 * The days that are old enough and here, oldest first.
 * @param restoredToo those, too, that were brought back more lately than that.
 */
export function listDaysToMove(
  database: Database,
  limits: readonly AgeLimit[],
  restoredToo: boolean,
): Promise<AgedDay[]> {
  return database.persist(
    `select s.stream_id as "streamId", s.name as stream, d.day, d.records, d.bytes,
            case when u.failed then 'it failed'
                 when u.day is not null then 'it is not complete'
                 when exists (select from daywalk.windows w where w.stream_id = d.stream_id and w.day = d.day and (w.rewalk or w.due_at is not null))
                 then 'it is to be looked at or walked again first: the next runs do that, daily for recheck_days after its proof'
                 when daywalk.waits_for_neighbour(d.stream_id, d.day) then 'the day before or behind it is not shown yet, or to be looked at again, and at midnight both show the same record'
                 when d.unsealed then 'it is not in the ledger yet: the next run appends it' end as kept
       from unnest($1::text[], $2::double precision[]) as l (name, seconds)
       join daywalk.streams s on s.name = l.name
       join daywalk.days d on d.stream_id = s.stream_id
       left join daywalk.unfinished_days u on u.stream_id = d.stream_id and u.day = d.day
      where daywalk.closed_at(d.day, s.time_zone, s.settle) + make_interval(secs => l.seconds) <= clock_timestamp()
        and ($3 or d.restored_at is null or d.restored_at + make_interval(secs => l.seconds) <= clock_timestamp())
        and not ${isPruned('d.stream_id', 'd.day')}
      order by d.day, array_position($1::text[], s.name)`,
    [
      limits.map(({ stream }) => stream),
      limits.map(({ olderThanMs }) => olderThanMs / 1000),
      restoredToo,
    ],
  );
}

/** A day as it is shown now, and what of it would go. */
export interface LeavingDay extends Pick<AgedDay, 'streamId' | 'stream' | 'day'> {
  readonly publication: string;
  readonly records: number;
  /** The walks that are shown, and the digest over what is to be said of single records. */
  readonly walks: readonly number[];
  readonly marks: string;
  /** All walks whose pages go, and how many pages they have. */
  readonly going: readonly number[];
  readonly pages: number;
}

/** The day as it is now; null: it is not here any more. */
export function readLeavingDay(database: Database, { streamId, day }: DayKey) {
  return database.first<LeavingDay>(
    `select s.stream_id as "streamId", s.name as stream, d.day, d.publication, d.records, to_jsonb(shown.walks) as walks,
            encode(daywalk.marks_digest(shown.walks), 'hex') as marks, to_jsonb(g.going) as going, g.pages
       from daywalk.days d
       join daywalk.streams s on s.stream_id = d.stream_id
      cross join lateral (select ${shownWalks('d.stream_id', 'd.day')} as walks) as shown
      cross join lateral (select coalesce(array_agg(k.walk_id order by k.walk_id), '{}') as going, coalesce(sum(k.pages), 0)::bigint as pages
                            from daywalk.prunable_walks(d.stream_id, d.day, 'day') as k) as g
      where d.stream_id = $1 and d.day = $2::date and not ${isPruned('d.stream_id', 'd.day')}`,
    [streamId, day],
  );
}

/** What came of saying that a day has moved; see `daywalk.mark_tiered`. */
export type MarkedTiered = 'tiered' | 'held' | 'changed' | 'unsealed' | 'wanted' | 'pruned';

/** Says that a day has moved, if it is still what was written. Repeating it does nothing. */
export function markTiered(
  database: Database,
  moved: MovedDay,
  { walks, marks, going, pages }: LeavingDay,
): Promise<MarkedTiered> {
  const described = {
    stream_id: moved.streamId,
    day: moved.day,
    publication: moved.publication,
    place: moved.place,
    pages_key: moved.pages.key,
    pages_bytes: moved.pages.bytes,
    pages_sha256: `\\x${moved.pages.sha256}`,
    events_key: moved.events.key,
    events_bytes: moved.events.bytes,
    events_sha256: `\\x${moved.events.sha256}`,
    records: moved.records,
    records_sha256: `\\x${moved.recordsSha256}`,
  };
  return database.value(
    `select daywalk.mark_tiered($1::jsonb, $2::bigint[], decode($3, 'hex'), $4::bigint[], $5)`,
    [JSON.stringify(described), walks, marks, going, pages],
  );
}

/** Those among some UUIDs that are publications of this database. */
export async function keepKnown(database: Database, publications: readonly string[]) {
  const known = await database.value<string[]>(
    `select coalesce(jsonb_agg(p.key), '[]') from daywalk.publications p where p.key::text = any ($1::text[])`,
    [publications],
  );
  return new Set(known);
}

/** Whose table of events it is: its id is a publication of the database, by which another one is told from one that was put back. A table that begins gets the oldest, so that every backup knows it. */
export const ownedBy = (database: Database): TableOwner => ({
  newId: () =>
    database.value(
      'select coalesce((select p.key from daywalk.publications p order by p.published_at, p.key limit 1), gen_random_uuid())',
    ),
  owns: async (id) => (await keepKnown(database, [id])).has(id),
});

/** Takes a day, so that one process moves it at a time; see {@link advisoryLock}. */
export const claimDay = ({ stream, day }: Pick<AgedDay, 'stream' | 'day'>) =>
  advisoryLock('daywalk.tier', `${stream} ${day}`);

/** Takes the log of the events table, whenever its writer before is done. For {@link Database.alone}. */
export const claimLog = async (query: Query): Promise<boolean> => {
  await query(`select pg_advisory_xact_lock(hashtext('daywalk.tier_log'))`);
  return true;
};

/** How many seals the pages have that went with a day; null: it is here again. */
export function countSeals(database: Database, { streamId, day }: DayKey): Promise<number | null> {
  return database.value(
    `select (select (select count(*) from daywalk.seals s where s.walk_id = any (g.walks))
               from daywalk.prunings g
              where g.stream_id = $1 and g.day = $2::date and g.what = 'day')`,
    [streamId, day],
  );
}

/** Lets the pages of a day be removed once more, where some were put back and the day stays away. */
export async function removeAgain(database: Database, { streamId, day }: DayKey): Promise<void> {
  await database.persist(
    `update daywalk.prunings g set removed_at = null
      where g.stream_id = $1 and g.day = $2::date and g.what = 'day'
        and exists (select from daywalk.tiered_days t where t.stream_id = g.stream_id and t.day = g.day)`,
    [streamId, day],
  );
}

/**
 * Says that a day is back, once all its pages are. Repeating it does nothing.
 * @returns what came of it; see `daywalk.restore_day`.
 */
export function restoreDay(database: Database, { streamId, day }: DayKey, recheckDays: number) {
  const sql = 'select daywalk.restore_day($1, $2::date, $3)';
  return unhurried<'restored' | 'lacking'>(database, sql, [streamId, day, recheckDays]);
}
