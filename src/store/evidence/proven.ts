/** What is proven, as looks, cuts and comparisons with the source need it: walks, neighbours, known answers. */
import type { Day, DayRange, Proof, Span } from '../../model.ts';
import type { Database } from '../database.ts';
import type { Lease } from '../leases.ts';
import { isPruned, isTiered, spanColumns } from '../shown.ts';
import type { OpenWalk } from '../walks.ts';
import { IS_NEIGHBOUR } from '../windows.ts';
import type { HeldList } from './evidence.ts';

/** The walk that a newest proof rests on; of a cut the one across it. */
export interface ProvenWalk
  extends Span,
    Pick<OpenWalk, 'walkId' | 'pages' | 'pageLength' | 'ignored'> {
  readonly records: number;
  readonly proof: Proof;
  /** Its window holds records that a later walk lacked. */
  readonly doubted: boolean;
  /** Other walks of the same span are united with it. */
  readonly united: boolean;
}

/** The newest proven walk of a window; null where there is none, and of a window that is split. */
export function readProvenWalk(database: Database, windowId: number): Promise<ProvenWalk | null> {
  return database.first<ProvenWalk>(
    `select k.walk_id as "walkId", k.records, k.pages, w.proof, k.page_length as "pageLength", k.ignored, ${spanColumns('k')},
            exists (select from daywalk.walks shown join daywalk.marks mark on mark.walk_id = shown.walk_id
                     where shown.window_id = w.window_id and shown.shown <> 'no' and mark.seen and mark.state <> 'shown') as doubted,
            exists (select from daywalk.walks other
                     where other.window_id = w.window_id and other.role = k.role and w.proof -> 'unites' @> to_jsonb(other.walk_id)) as united
       from daywalk.windows w
       join daywalk.walks k on k.walk_id = coalesce((w.proof ->> 'walk')::bigint, (w.proof ->> 'across')::bigint)
      where w.window_id = $1`,
    [windowId],
  );
}

/** The newest walk of another window that stored more records, proven or not; null: there is none whose pages are here. */
export function findLonger(
  database: Database,
  { streamId, windowId }: { readonly streamId: number; readonly windowId: number },
  records: number,
): Promise<(Span & Pick<ProvenWalk, 'walkId' | 'records'>) | null> {
  return database.first<Span & Pick<ProvenWalk, 'walkId' | 'records'>>(
    `select k.walk_id as "walkId", k.next_start as records, ${spanColumns('k')}
       from daywalk.windows w
       join daywalk.walks k on k.window_id = w.window_id and k.role = 'whole' and k.next_start > $3 and k.pruning is null
      where w.stream_id = $1 and w.window_id <> $2 and w.kind <> 'cut' and k.outcome <> 'shifted'
      order by k.walk_id desc limit 1`,
    [streamId, windowId, records],
  );
}

/** A window beside a cut, with the list that it is proven by. */
export type Neighbour = Span & HeldList;

/** The windows before a cut and after it; null: it is not complete, or was cut by level. */
export type Neighbours = readonly [Neighbour | null, Neighbour | null];

/** Reads what is proven on both sides of a cut now. */
export async function readNeighbours(
  database: Database,
  { windowId }: Pick<Lease, 'windowId'>,
): Promise<Neighbours> {
  const rows = await database.persist<Neighbour & { isBefore: boolean }>(
    `select ${spanColumns('w')}, w.to_time = cut.from_time as "isBefore", min(k.walk_id) as "walkId",
            jsonb_agg(k.walk_id order by k.walk_id) - 0 as unites
       from daywalk.windows cut
       join daywalk.windows w on ${IS_NEIGHBOUR} and w.level_from is null and w.level_to is null
       join daywalk.walks k on k.pruning is null and k.walk_id = any (daywalk.walks_of(w.proof))
      where cut.window_id = $1
      group by w.window_id, cut.window_id`,
    [windowId],
  );
  const find = (before: boolean) => rows.find(({ isBefore }) => isBefore === before) ?? null;
  return [find(true), find(false)];
}

/** Walks among which fourteen days are looked for; a backfill that made more in fewer days made no known answer old. */
const RECENT_WALKS = 2_000;

/** Of which days known answers are asked for. */
export interface KnownAnswerDays {
  /** None of these, which are in question themselves. */
  readonly except?: readonly Day[];
  /** Newer ones than this. */
  readonly after?: Day;
}

/** A window that was proven and held records: what is known of the source. */
export interface KnownAnswer extends Span, Pick<ProvenWalk, 'walkId' | 'records'> {
  readonly day: Day;
  readonly windowId: number;
  /** It was proven and seen less than a week before known answers were not what they were: an older one may have been forgotten by its source. */
  readonly fresh: boolean;
  /**
   * Against what it speaks where it shows nothing: against all that is new where it is fresh, or its source has lately shown a
   * day as old as it is; for fourteen days against what is empty; later against nothing.
   */
  readonly speaks: 'against all' | 'against what is empty' | 'not';
}

/** Windows with records that were seen since the source was last accepted, and are or were complete lately. */
const KNOWN_ANSWERS = `daywalk.windows w
         join daywalk.streams s on s.stream_id = w.stream_id
         join daywalk.walks k on k.walk_id = (w.proof ->> 'walk')::bigint and k.records > 0
         left join daywalk.days d on d.stream_id = w.stream_id and d.day = w.day
        where w.stream_id = $1 and w.kind <> 'cut' and w.split_by is null and w.state <> 'replaced'
          and (w.state = 'complete'
               or w.proven_at > (select least(clock_timestamp(), max(proven_at)) from daywalk.windows where stream_id = $1 and kind <> 'cut')
                                - interval '14 days')
          and w.shown_at > coalesce(s.accepted_at, '-infinity')
          and d.retired_since is null`;

/** Whether a stream has known answers. */
export function hasKnownAnswers(database: Database, streamId: number): Promise<boolean> {
  return database.value(`select exists (select from ${KNOWN_ANSWERS})`, [streamId]);
}

/**
 * Two windows with records of the newest different days among those that were seen since the source was last accepted: proven in
 * the last fourteen days on which pages came, however long the worker rested or the API was away between, or failed since, or being
 * walked again, of two weeks before the stream's last proof; a source that shows nothing any more is not believed because it was
 * asked for long. Where there are no two such, also older ones. A database clock that was set back makes no window too new.
 * One was proven before a known answer was last as ever; the other is the first one since: what a key that was narrowed then shows is none.
 * @param days of which days; absent: of all.
 */
export function readKnownAnswers(database: Database, streamId: number, days: KnownAnswerDays = {}) {
  return database.persist<KnownAnswer>(
    `with walked as materialized (
       select k.started_at
         from daywalk.windows w join daywalk.walks k on k.window_id = w.window_id and k.pages > 0
        where w.stream_id = $1 and w.kind <> 'cut' order by k.walk_id desc limit ${RECENT_WALKS}
     ), fetched as materialized (
       select (select started_at::date from walked group by 1 order by 1 desc offset 13 limit 1) as since
     ), asked as materialized (
       -- As long as nothing new is believed, known answers count with their age of when that began.
       select coalesce(distrusted_since, clock_timestamp()) as at from daywalk.streams where stream_id = $1
     ), kept as materialized (
       select max(w.shown_at - w.day) as age from asked, daywalk.windows w join daywalk.streams s on s.stream_id = w.stream_id
        where w.stream_id = $1 and w.shown_at > greatest(s.accepted_at, asked.at - interval '30 days')
     ), newest as (
       select distinct on (w.day) w.day, w.window_id as "windowId", k.walk_id as "walkId", ${spanColumns('w')},
              s.accepted_at,
              least(w.proven_at, w.shown_at) > asked.at - interval '7 days' as fresh,
              w.state = 'complete' and w.proven_at <= coalesce(fetched.since, '-infinity') as is_old,
              case when w.proven_at > s.known_at then w.proven_at end as since
         from fetched cross join asked cross join ${KNOWN_ANSWERS}
          and w.day <> all ($2::date[]) and ($3::date is null or w.day > $3)
        order by w.day, w.state, w.proven_at desc
     ), ranked as (
       select *, row_number() over (partition by is_old, since is null order by since, day desc) as rank from newest
     )
     select day, "windowId", "walkId", "from", "to", "levelFrom", "levelTo", fresh,
            -- As many as any proof of it had: the newest may be of what is left.
            (select max(k.records) from daywalk.walks k
              where k.window_id = "windowId" and k.outcome = 'proven' and k.role = 'whole'
                and (k.walk_id = "walkId" or k.finished_at > coalesce(accepted_at, '-infinity'))) as records,
            case when fresh or asked.at - day <= kept.age then 'against all' when is_old then 'not' else 'against what is empty' end as speaks
       from ranked cross join asked cross join kept
      order by is_old, rank, day desc limit 2`,
    [streamId, days.except ?? [], days.after ?? null],
  );
}

/**
 * Notes that known answers are not what they were, the first time, or that one is as ever. Where they were not, what was proven since one was
 * before is looked at: it may be what was shown then.
 */
export async function noteTrust(database: Database, streamId: number, trusted: boolean) {
  await database.persist(
    `with doubtful as (
       update daywalk.windows w set due_at = clock_timestamp()
         from daywalk.streams s
        where $2 and s.stream_id = $1 and s.distrusted_since is not null and w.stream_id = $1 and w.state = 'complete'
          and w.proven_at > s.known_at and not ${isPruned('w.stream_id', 'w.day')}
          and not coalesce((select p.split_calibrated from daywalk.windows p where p.window_id = w.split_from), false)
     )
     update daywalk.streams
        set known_at = case when $2 then clock_timestamp() else known_at end,
            distrusted_since = case when not $2 then clock_timestamp() end
      where stream_id = $1 and ($2 or distrusted_since is null)`,
    [streamId, trusted],
  );
}

/** Notes that a known answer shows records still: its source keeps days of that age. */
export async function noteShown(database: Database, { windowId }: Pick<KnownAnswer, 'windowId'>) {
  await database.persist(
    'update daywalk.windows set shown_at = clock_timestamp() where window_id = $1',
    [windowId],
  );
}

/** Walks of a stream that are looked at for the largest answer, and the number of the last page of each: those behind the first ones are no larger. */
const NEWEST_WALKS = 50;
const LAST_PAGE = 9;

/**
 * Of each stream the most records that one answer to the walks of the newest days had, in the last 30 days, and one walk; none: there is none.
 * One statement for all: where months of pages are many, planning is most of it.
 */
export async function readLargest(database: Database, streamIds: readonly number[]) {
  const rows = await database.persist<Record<'streamId' | 'answer' | 'list', number>>(
    `select s.id as "streamId", newest.list,
            (select coalesce(max(records + skip), 0)::integer from daywalk.pages_of(newest.walks, ${LAST_PAGE})) as answer
       from unnest($1::integer[]) as s (id)
      cross join lateral (
        select array_agg(walk_id) as walks, max(next_start) as list
          from (select k.walk_id, k.next_start
                  from daywalk.windows w
                  join daywalk.walks k on k.window_id = w.window_id
                 where w.stream_id = s.id and w.kind <> 'cut' and k.role = 'whole' and k.started_at > clock_timestamp() - interval '30 days'
                 order by w.day desc limit ${NEWEST_WALKS}) as walk) as newest
      where newest.walks is not null`,
    [streamIds],
  );
  return new Map(rows.map(({ streamId, ...largest }) => [streamId, largest]));
}

/** A complete window with the walks that its newest proof rests on. */
export interface PublishedWindow extends Span {
  readonly windowId: number;
  readonly stream: string;
  readonly day: Day;
  /** Where its pages are; tiered: in the tier. */
  readonly place: 'here' | 'tiered' | 'pruned';
  /** Oldest first; more than one where only their union is whole. */
  readonly walks: readonly PublishedWalk[];
}

/** A walk that a proof rests on. */
export interface PublishedWalk extends Pick<ProvenWalk, 'walkId' | 'records' | 'proof' | 'pages'> {
  /** The pages before its own in the object of its day, where that moved. */
  readonly pagesBefore: number;
}

/** The complete windows of these streams, by day, without cuts; those of a window that was split are its parts. */
export function listPublishedWindows(
  database: Database,
  streamNames: readonly string[],
  range: DayRange | null,
): Promise<PublishedWindow[]> {
  return database.persist(
    `select w.window_id as "windowId", s.name as stream, w.day, ${spanColumns('w')}, held.place, held.walks
       from daywalk.streams s
       join daywalk.windows w on w.stream_id = s.stream_id and w.state = 'complete' and w.kind <> 'cut' and w.split_by is null
      cross join lateral (
        select (array_agg(case when k.pruning is null then 'here' when ${isTiered('w.stream_id', 'w.day')} then 'tiered' else 'pruned' end
                          order by k.number))[1] as place,
               jsonb_agg(jsonb_build_object(
                 'walkId', k.walk_id, 'records', k.records, 'proof', w.proof, 'pages', k.pages, 'pagesBefore',
                 (select coalesce(sum(b.pages), 0) from daywalk.prunings g join daywalk.walks b on b.walk_id = any (g.walks)
                   where g.pruning_id = k.pruning and b.walk_id < k.walk_id)) order by k.number) as walks
          from daywalk.walks k where k.walk_id = any (daywalk.walks_of(w.proof))) as held
      where s.name = any ($1::text[]) and ($2::date is null or w.day between $2::date and $3::date) and held.walks is not null
      order by w.day, array_position($1::text[], s.name), w.from_time, w.window_id`,
    [streamNames, range?.from ?? null, range?.to ?? null],
  );
}

/** How a page was asked for, and what it holds. */
export interface AskedPage {
  readonly pageNo: number;
  readonly start: number;
  readonly length: number;
  /** Records at its beginning that the page before holds already. */
  readonly skip: number;
  /** Of its records without those, in order. */
  readonly hashes: readonly string[];
}

/** A page of a walk; null: it is not here any more. */
export function readAskedPage(database: Database, walkId: number, pageNo: number) {
  return database.first<AskedPage>(
    `select p.page_no as "pageNo", p.start, p.length, p.skip, p.record_hashes::text[] as hashes
       from daywalk.walks k join daywalk.pages p on p.walk_id = k.walk_id and p.day = k.day
      where k.walk_id = $1 and p.page_no = $2`,
    [walkId, pageNo],
  );
}
