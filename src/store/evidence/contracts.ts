/** Contracts and frames in the database: how the answers of a stream look, and which of them mean that there is nothing. */
import type { Contract, Page } from '../../model.ts';
import { readAsJsonb } from '../bodies/page-facts.ts';
import type { Database } from '../database.ts';
import { isPruned } from '../shown.ts';

/** The newest walks of stream $1 that stored records, with how their pages are read. */
const WALKS = `
  select k.walk_id, k.day, k.pages, k.records_path, k.total_path, k.relation_path
    from daywalk.walks k join daywalk.windows w on w.window_id = k.window_id
   where w.stream_id = $1 and k.next_start > 0 and k.records_path is not null
   order by k.walk_id desc limit 3`;

/** What a contract goes with: where totals stand elsewhere they may be other numbers. */
const FORGET_TOTALS = `delete from daywalk.learned l using gone where l.stream_id = gone.stream_id and l.fact in ('calibrated', 'lower_bound')`;

/** Where list and total are in a stream's answers; null: not known under these settings. What was found under others is forgotten. */
export async function openContract(database: Database, streamId: number, hints: string) {
  await database.persist(
    `with gone as (delete from daywalk.contracts where stream_id = $1 and hints <> $2 returning stream_id) ${FORGET_TOTALS}`,
    [streamId, hints],
  );
  return readContract(database, streamId, hints);
}

function readContract(database: Database, streamId: number, hints: string) {
  return database.first<Contract>(
    `select records_path as "recordsPath", total_path as "totalPath", relation_path as "relationPath"
       from daywalk.contracts where stream_id = $1 and hints = $2`,
    [streamId, hints],
  );
}

/**
 * Keeps a contract, unless another worker has found one meanwhile. With the first one of a stream, which a record has shown, its empty
 * days, their parts and their cuts are due for one more look.
 * @param hints the settings under which it was found: under others it is found anew.
 * @returns the one that holds.
 */
export async function rememberContract(
  database: Database,
  streamId: number,
  hints: string,
  { recordsPath, totalPath, relationPath }: Contract,
): Promise<Contract> {
  await database.persist(
    `with learned as (
       insert into daywalk.contracts (stream_id, hints, records_path, total_path, relation_path)
       values ($1, $2, $3, $4, $5)
       on conflict do nothing
       returning stream_id
     ), first as materialized (
       -- Found out once: asked of each of its windows, ten years of days take longer than a statement may.
       select l.stream_id from learned l
        where not exists (select from daywalk.windows o where o.stream_id = l.stream_id and o.proof ->> 'records' <> '0')
     )
     -- Days were believed to be empty on no known answer before its first record, as one that a key must not see is like none.
     update daywalk.windows w set due_at = clock_timestamp()
       from first
      where w.stream_id = first.stream_id and w.state = 'complete' and w.due_at is null and not ${isPruned('w.stream_id', 'w.day')}`,
    [streamId, hints, recordsPath, totalPath, relationPath],
  );
  const held = await readContract(database, streamId, hints);
  return held ?? { recordsPath, totalPath, relationPath };
}

/**
 * Adds where totals are to the contract of a stream whose answers told none: they count where they are told, and may be left out as before.
 * @returns the one that holds: another worker may have added one.
 */
export async function addTotal(
  database: Database,
  streamId: number,
  hints: string,
  contract: Contract,
): Promise<Contract> {
  const { totalPath, relationPath } = contract;
  await database.persist(
    `update daywalk.contracts set total_path = $2, relation_path = $3, total_first = false, total_later = false
      where stream_id = $1 and total_path is null`,
    [streamId, totalPath, relationPath],
  );
  return (await readContract(database, streamId, hints)) ?? contract;
}

/** Keeps whether pages after the first tell the total: what the first of them that has records shows. */
export async function learnLaterTotal(database: Database, streamId: number, told: boolean) {
  await database.persist(
    'update daywalk.contracts set total_later = $2 where stream_id = $1 and total_later is null',
    [streamId, told],
  );
}

/** Forgets how the answers of a stream look: a person has accepted that they changed. */
export async function forgetContract(database: Database, streamId: number): Promise<void> {
  await database.persist(
    `with gone as (delete from daywalk.contracts where stream_id = $1 returning stream_id),
          frames as (delete from daywalk.frames where stream_id = $1)
     ${FORGET_TOTALS}`,
    [streamId],
  );
}

/** So many answers with records, each of which says something else in one word at a place, tell there which of them it is. */
const LEAST_NAMED = 3;

/**
 * Whether answers with records have the frame of this one, as those that are stored show, or it is known of another stream of the
 * API: then an empty answer may have it, too, and it is known from now on. What names each answer is left out, as the id of a request.
 */
export async function recogniseFrame(
  database: Database,
  streamId: number,
  signature: string,
  example: string,
  { body, status }: Pick<Page, 'body' | 'status'>,
  { recordsPath, totalPath, relationPath }: Contract,
): Promise<boolean> {
  const rows = await readAsJsonb(body, ({ body: content }) =>
    database.persist(
      `with walks as materialized (${WALKS}), page as materialized (
         select row_number() over () as number, p.body, k.records_path, k.total_path, k.relation_path
           from walks k
           join daywalk.pages p on p.walk_id = k.walk_id and p.day = k.day and p.page_no in (0, k.pages - 1) and p.records > 0
       ), shown as materialized (
         select page.number, w.path, w.word, w.said
           from page cross join lateral daywalk.words_of(page.body, page.records_path, page.total_path, page.relation_path) as w
       ), name as materialized (
         select path from shown where said !~ '[[:space:]]'
          group by path having count(*) = (select count(*) from page) and count(distinct said) = count(*) and count(*) >= ${LEAST_NAMED}
       ), answer as materialized (
         select w.path, w.word from daywalk.words_of($5::text::jsonb, $6, $7, $8) as w
          where $4::integer is null and jsonb_typeof($5::text::jsonb #> $6::text[]) = 'array' and w.path not in (select path from name)
       )
       insert into daywalk.frames as f (stream_id, signature, example, confirmed_at)
       select $1, $2, $3, clock_timestamp()
        where exists (select from daywalk.frames k where k.signature = $2 and k.confirmed_at is not null)
           or exists (select from answer) and exists (
          select from page
           where not exists (select path, word from answer except select s.path, s.word from shown s where s.number = page.number)
             and not exists (select s.path, s.word from shown s where s.number = page.number and s.path not in (select path from name)
                             except select path, word from answer))
       on conflict (stream_id, signature) do update set confirmed_at = coalesce(f.confirmed_at, excluded.confirmed_at)
       returning 1`,
      [streamId, signature, example, status ?? null, content, recordsPath, totalPath, relationPath],
    ),
  );
  return rows.length === 1;
}

/**
 * Whether an answer without records where they were shows one all the same, by the names of its fields: first in another list, or
 * alone, where lists are bodies.
 */
export function showsRecordElsewhere(
  database: Database,
  streamId: number,
  { body }: Pick<Page, 'body'>,
): Promise<boolean> {
  return readAsJsonb(body, ({ body: content }) =>
    database.value(
      `with walks as materialized (${WALKS}), answer as materialized (select $2::text::jsonb as body)
       select exists (
         select from walks k
           join daywalk.pages p on p.walk_id = k.walk_id and p.day = k.day and p.page_no = 0
          cross join answer
          cross join lateral (select p.body #> (k.records_path || '0'::text) as record) as stored
          cross join lateral (
            select case when k.records_path = '{}' then answer.body end as one
             union all
            select list -> 0 from jsonb_path_query(answer.body, 'strict $.** ? (@.type() == "array")') as list) as shown
          where jsonb_typeof(shown.one) = 'object'
            and 2 * (select count(*) from jsonb_object_keys(shown.one) as field where stored.record ? field)
                >= (select count(*) from jsonb_object_keys(stored.record)))`,
      [streamId, content],
    ),
  );
}

/** Notes the frame of an empty answer that is not known yet. */
export async function noteFrame(
  database: Database,
  streamId: number,
  signature: string,
  example: string,
): Promise<void> {
  await database.persist(
    `insert into daywalk.frames (stream_id, signature, example) values ($1, $2, $3) on conflict do nothing`,
    [streamId, signature, example],
  );
}

/** A row where a window was believed to be empty, and its newest proof is an answer of this frame. */
const BELIEVED = `
  select b.stream_id, left(b.body::text, 200) as example
    from (select w.stream_id, p.body, k.records_path, k.total_path, k.relation_path
            from daywalk.windows w
            join daywalk.walks k on k.window_id = w.window_id and k.outcome = 'proven'
            join daywalk.pages p on p.walk_id = k.walk_id and p.day = k.day and p.page_no = 0 and p.records = 0
           where w.window_id = $1
           order by k.number desc limit 1) as b
   cross join unnest('{200,204,404}'::integer[]) as status
   where (daywalk.frame_of(b.body, b.records_path, b.total_path, b.relation_path, status)).signature = $2`;

/** Whether a window was believed to be empty by an answer of this frame. */
export function wasBelieved(database: Database, windowId: number, signature: string) {
  return database.value<boolean>(`select exists (${BELIEVED})`, [windowId, signature]);
}

/**
 * A look at a window that was believed to be empty has found this frame: it is known from now on where it is the one that
 * was believed.
 * @returns whether it is; otherwise the look has found an answer of no known kind.
 */
export async function confirmFrame(
  database: Database,
  windowId: number,
  signature: string,
): Promise<boolean> {
  const rows = await database.persist(
    `insert into daywalk.frames as f (stream_id, signature, example, confirmed_at)
     select b.stream_id, $2, b.example, clock_timestamp() from (${BELIEVED}) as b
     on conflict (stream_id, signature) do update set confirmed_at = coalesce(f.confirmed_at, excluded.confirmed_at)
     returning 1`,
    [windowId, signature],
  );
  return rows.length > 0;
}
