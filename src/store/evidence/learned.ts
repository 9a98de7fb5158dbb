/** What was learned about the API in a stream, kept with its evidence; it expires, but for what only has daywalk ask for more (docs/completeness.md). */
import type { Database } from '../database.ts';
import type { LeasedWindow } from '../leases.ts';
import { isPruned, isRetired } from '../shown.ts';

/** What can be learned. */
export type Fact =
  | 'page_length'
  | 'offset_cap'
  | 'proven_size'
  | 'calibrated'
  | 'lower_bound'
  | 'paging'
  | 'reach'
  | 'hidden_by_date'
  | 'ignored'
  | 'restless'
  | 'empties'
  | 'hides_much'
  | 'cut_otherwise'
  | 'large_records';

/** One thing learned. */
export interface LearnedFact {
  readonly stream: string;
  readonly fact: Fact;
  readonly value: unknown;
  readonly evidence: string;
  readonly learnedAt: Date;
  /** It does not expire. */
  readonly kept: boolean;
}

/** A source may change: after so many days a fact is learned anew. */
const KEPT_DAYS = 30;
/** It has not expired; what a bad hour teaches is kept for a day. */
const HOLDS = `(kept or learned_at > clock_timestamp()
             - make_interval(days => case when fact in ('page_length', 'restless') then 1 else ${KEPT_DAYS} end))`;

/** A window that was believed by its size or total, or to be empty, as a condition. */
const BELIEVED = `proof ->> 'kind' in ('empty', 'probe', 'total') and not proof ? 'halves'`;

/** What is known of these streams. */
export function readLearned(database: Database, streamIds: readonly number[]) {
  return database.persist<LearnedFact>(
    `select name as stream, fact, value, evidence, learned_at as "learnedAt", kept
       from daywalk.learned join daywalk.streams using (stream_id)
      where stream_id = any ($1::integer[]) and ${HOLDS}
      order by name, fact`,
    [streamIds],
  );
}

/** Those of the streams whose source answers one question in different ways, as replicas do that disagree. */
export function readRestless(database: Database, streamNames: readonly string[]) {
  return database.value<string[]>(
    `select coalesce(jsonb_agg(s.name order by array_position($1::text[], s.name)), '[]')
       from daywalk.learned l join daywalk.streams s on s.stream_id = l.stream_id
      where s.name = any ($1::text[]) and fact = 'restless' and value = 'true' and ${HOLDS}`,
    [streamNames],
  );
}

/**
 * Keeps a fact, in the place of what was known before. What another process has seen meanwhile is not taken back: of totals that stop at a
 * number the least one, that dates hide something, and places in a record that are not the record.
 * @param kept it does not expire.
 * @returns what is known now.
 */
export function learn(
  database: Database,
  streamId: number,
  fact: Fact,
  value: unknown,
  evidence: string,
  kept = false,
): Promise<unknown> {
  return database.value(
    `with known as materialized (
       select fact, value, kept from daywalk.learned where stream_id = $1 and fact = $2 and ${HOLDS}
     ), held as materialized (
       select value from known
        where fact = 'lower_bound' and value < $3::jsonb or fact = 'hidden_by_date' and kept and not $5
     ), news as materialized (
       select coalesce((select jsonb_agg(distinct place collate "C" order by place collate "C") from known
                         cross join lateral jsonb_array_elements_text(case fact when 'ignored' then value || $3::jsonb end) as place), $3::jsonb) as value
     ), learned as (
       insert into daywalk.learned (stream_id, fact, value, evidence, kept)
       select $1, $2, value, $4, $5 from news where not exists (select from held)
       on conflict (stream_id, fact) do update
         set value = excluded.value, evidence = excluded.evidence, kept = excluded.kept, learned_at = clock_timestamp()
     )
     select coalesce((select value from held), (select value from news)) as value`,
    [streamId, fact, JSON.stringify(value), evidence, kept],
  );
}

/** Forgets a fact that is in doubt; where it holds it is learned again. What does not expire another process has learned meanwhile. */
export async function forget(database: Database, streamId: number, fact: Fact): Promise<void> {
  await database.persist(
    'delete from daywalk.learned where stream_id = $1 and fact = $2 and not kept',
    [streamId, fact],
  );
}

/** Of those proven in the time for which facts are kept; not those of days that are pruned, or that their source has forgotten. */
const ANEW = `state = 'complete' and proven_at > clock_timestamp() - make_interval(days => $2)
        and not ${isPruned('w.stream_id', 'w.day')} and not ${isRetired('w.stream_id', 'w.day')}`;

/** Has the windows walked again that were believed by their size or total, or to be empty, in the time for which facts are kept. */
export async function walkAnewBySize(database: Database, streamId: number): Promise<void> {
  await database.persist(
    `update daywalk.windows w set rewalk = true, state = 'pending', due_at = clock_timestamp()
      where stream_id = $1 and kind <> 'cut' and split_by is null and ${BELIEVED} and ${ANEW}`,
    [streamId, KEPT_DAYS],
  );
}

/** So many days on both sides of a day are compared with it. */
const DAYS_BESIDE = 30;

/**
 * Whether a day beside this one holds just as many records, or one of the month around it, none of which holds more: a cap cuts all at one
 * number. Not where halves have shown that it is none. Only days count that were believed by that number; and those that are walked now,
 * which may be judged at the same time, by what they have stored.
 */
export function isAsManyBeside(
  database: Database,
  { streamId, day }: Pick<LeasedWindow, 'streamId' | 'day'>,
  records: number,
): Promise<boolean> {
  return database.value(
    `with near as materialized (
       select window_id, day, proof, lease_id, (proof ->> 'records')::bigint as records,
              split_by is null and state = 'complete' and proven_at > clock_timestamp() - make_interval(days => $4) as proven
         from daywalk.windows
        where stream_id = $1 and kind = 'day' and day between $2::date - $5::integer and $2::date + $5::integer and day <> $2
     ), other as (
       select day, records from near where proven and ${BELIEVED} and not proof ? 'summed'
       union all
       select day, (select k.next_start from daywalk.walks k
                     where k.window_id = near.window_id and k.role = 'whole' order by k.number desc limit 1)
         from near where lease_id is not null
     )
     select not exists (select from near where proven and (proof ->> 'kind' = 'halves' or proof ? 'summed') and records = $3)
        and (exists (select from other where day in ($2::date - 1, $2::date + 1) and records = $3)
             or coalesce($3 = (select max(records) from other), false))`,
    [streamId, day, records, KEPT_DAYS, DAYS_BESIDE],
  );
}

/**
 * Has the cuts at midnights asked anew that were proven in that time: they were asked for less than it takes.
 * @param inSplits also those between the parts of windows.
 */
export async function askCutsAgain(
  database: Database,
  streamId: number,
  inSplits = false,
): Promise<void> {
  await database.persist(
    `update daywalk.windows w set rewalk = true, due_at = clock_timestamp()
      where stream_id = $1 and (midnight is not null or $3 and kind = 'cut') and ${ANEW}`,
    [streamId, KEPT_DAYS, inSplits],
  );
}

/** What dates hide by another stream of the same resource and time zone that is exported still, with how that was seen; null: none knows. */
export function readHiddenElsewhere(database: Database, streamId: number) {
  return database.value<Pick<LearnedFact, 'value' | 'evidence'> | null>(
    `select (select jsonb_build_object('value', l.value, 'evidence', format('stream %s: %s', o.name, l.evidence))
               from daywalk.learned l
               join daywalk.streams o using (stream_id)
               join daywalk.streams s on s.stream_id = $1 and s.resource = o.resource and s.time_zone = o.time_zone
              where l.fact = 'hidden_by_date' and l.kept and o.stream_id <> $1
                and exists (select from daywalk.windows w where w.stream_id = o.stream_id and w.proven_at > clock_timestamp() - make_interval(days => $2))
              order by l.learned_at desc
              limit 1)`,
    [streamId, KEPT_DAYS],
  );
}
