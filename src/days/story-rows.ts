/** The story of a day: every window, walk and finding that is known about it, as rows and not in words. */
import type { Claim, Day, Proof, Span, TimeSpan, WindowState } from '../model.ts';
import type { Database } from '../store/database.ts';
import { readRestless } from '../store/evidence/learned.ts';
import type { LeasedWindow } from '../store/leases.ts';
import { readTogether } from '../store/read-together.ts';
import { spanColumns } from '../store/shown.ts';
import type { OpenWalk } from '../store/walks.ts';
import type { CoverageState } from './coverage-rows.ts';
import type { Standing } from './day-states.ts';
import { type KnownDay, standingOf } from './rows.ts';

/** A window of the day. */
export interface WindowStory
  extends Span,
    Pick<
      LeasedWindow,
      'windowId' | 'kind' | 'purpose' | 'splitBy' | 'rewalk' | 'looks' | 'attempts' | 'failures'
    > {
  readonly state: WindowState | 'replaced';
  readonly splitFrom: number | null;
  readonly splitReason: string | null;
  readonly splitTotal: number | null;
  /** Who walks it now. */
  readonly owner: string | null;
  readonly lastError: string | null;
  readonly lastFailedAt: Date | null;
  /** What showed that it is whole, when it was last proven; with the walk that it rests on. */
  readonly proof: (Proof & { readonly walk?: number }) | null;
  readonly provenAt: Date | null;
  readonly lookedAt: Date | null;
  readonly dueAt: Date | null;
  readonly walks: readonly WalkStory[];
}

/** A walk of a window. */
export interface WalkStory
  extends TimeSpan,
    Pick<OpenWalk, 'walkId' | 'number' | 'role' | 'pageLength' | 'pages'> {
  readonly records: number;
  readonly bytes: number;
  readonly requests: number;
  readonly firstTotal: number | null;
  readonly lastTotal: number | null;
  /** Null: in progress. */
  readonly outcome: 'proven' | 'ended' | 'shifted' | 'failed' | null;
  readonly reason: string | null;
  /** What answers that are no pages of it said. */
  readonly claims: readonly Claim[];
  readonly shown: 'no' | 'whole' | 'part';
  /** Its pages are gone, or moved with the day. */
  readonly pruned: boolean;
  /** Records of it that are shown. */
  readonly shownRecords: number;
  /** Pages of which `jsonb` holds a changed copy, and the kinds of changes. */
  readonly quarantined: number;
  readonly quarantine: readonly string[];
  readonly startedAt: Date;
  readonly finishedAt: Date | null;
}

/** A change of what is shown of the day. */
export interface PublicationStory {
  readonly revision: number;
  readonly publishedAt: Date;
  readonly records: number;
  readonly appeared: number;
  readonly gone: number;
}

/** What is known about a stream and day. */
export type DayStory = Awaited<ReturnType<typeof readDayStory>>;

/** Reads the story of a day of a stream. */
export async function readDayStory(database: Database, stream: string, day: Day) {
  const { standing, restless, ...found } = await readTogether({
    standing: readStanding(database, stream, day),
    /** What changed of what is shown, oldest first. */
    publications: readPublications(database, stream, day),
    /** When the day was pruned, and what went; null: it is kept. */
    pruning: readPruning(database, stream, day),
    /** By time, the cut before the day first; a window that is split comes before its parts. */
    windows: readWindows(database, stream, day),
    /** Newest revision in the ledger. */
    ledger: readLedgerRow(database, stream, day),
    /** Its source answers one question in different ways. */
    restless: readRestless(database, [stream]),
  });
  return { stream, day, ...standing, restless: restless.length > 0, ...found };
}

/** How a day stands. */
interface DayFacts extends Pick<KnownDay, 'records' | 'gone' | 'pages' | 'bytes' | 'lastError'> {
  /** When it closes or closed; null: the stream is not known. */
  readonly closesAt: Date | null;
  readonly closed: boolean;
  readonly state: CoverageState;
  /** The same, and of a day that is pending how far it is. */
  readonly standing: Standing | 'missing';
  /** Since when the source is known to have forgotten it. */
  readonly retiredSince: Date | null;
}

/** One that is not due, or of a stream that is not known, is missing. */
function readStanding(database: Database, stream: string, day: Day): Promise<DayFacts> {
  return database.one<DayFacts>(
    `select closes_at as "closesAt", coalesce(closes_at <= clock_timestamp(), false) as closed,
            coalesce(c.state, 'missing') as state, coalesce(${standingOf('c')}, 'missing') as standing, coalesce(c.records, 0) as records, coalesce(c.gone, 0) as gone,
            coalesce(c.pages, 0) as pages, coalesce(c.bytes, 0) as bytes, c.last_error as "lastError", c.retired_since as "retiredSince"
       from (select (select daywalk.closed_at($2::date, time_zone, settle) from daywalk.streams where name = $1) as closes_at) as calendar
       left join daywalk.coverage c on c.stream = $1 and c.day = $2::date`,
    [stream, day],
  );
}

interface LedgerRow {
  readonly entry: number;
  readonly revision: number;
  readonly digest: string;
  readonly appendedAt: Date;
}

function readLedgerRow(database: Database, stream: string, day: Day): Promise<LedgerRow | null> {
  return database.first<LedgerRow>(
    `select l.entry, l.revision, encode(l.digest, 'hex') as digest, l.appended_at as "appendedAt"
       from daywalk.ledger l join daywalk.streams s on s.stream_id = l.stream_id
      where s.name = $1 and l.day = $2::date order by l.revision desc limit 1`,
    [stream, day],
  );
}

interface PruningRow extends Pick<KnownDay, 'records' | 'pages' | 'bytes'> {
  readonly prunedAt: Date;
  /** Role of the database. */
  readonly prunedBy: string;
  /** Where it moved to; null: it is gone. */
  readonly place: string | null;
  readonly pagesKey: string | null;
  readonly eventsKey: string | null;
}

function readPruning(database: Database, stream: string, day: Day): Promise<PruningRow | null> {
  return database.first<PruningRow>(
    `select g.pruned_at as "prunedAt", g.pruned_by as "prunedBy", g.records, g.pages, g.bytes,
            t.place, t.pages_key as "pagesKey", t.events_key as "eventsKey"
       from daywalk.prunings g
       join daywalk.streams s on s.stream_id = g.stream_id
       left join daywalk.tiered_days t on t.stream_id = g.stream_id and t.day = g.day
      where s.name = $1 and g.day = $2::date and g.what = 'day'`,
    [stream, day],
  );
}

function readPublications(database: Database, stream: string, day: Day) {
  return database.persist<PublicationStory>(
    `select revision, published_at as "publishedAt", records, appeared, gone
       from daywalk.feed where stream = $1 and day = $2::date order by seq`,
    [stream, day],
  );
}

async function readWindows(database: Database, stream: string, day: Day): Promise<WindowStory[]> {
  const windows = await database.persist<Omit<WindowStory, 'walks'>>(
    `select w.window_id as "windowId", w.kind, ${spanColumns('w')}, w.state, w.purpose,
            w.split_from as "splitFrom", w.split_by as "splitBy", w.split_reason as "splitReason", w.split_total as "splitTotal",
            case when w.lease_expires > clock_timestamp() then w.lease_owner end as owner, w.rewalk, w.attempts, w.failures,
            w.last_error as "lastError", w.last_failed_at as "lastFailedAt", w.proof, w.proven_at as "provenAt",
            w.looked_at as "lookedAt", w.looks, w.due_at as "dueAt"
       from daywalk.windows w join daywalk.streams s on s.stream_id = w.stream_id
      where s.name = $1 and (w.day = $2::date or w.midnight in ($2::date - 1, $2::date))
      order by w.from_time, w.to_time desc, coalesce(w.level_from, -1), w.window_id`,
    [stream, day],
  );
  const ids = windows.map(({ windowId }) => windowId);
  const walks = await readWalks(database, ids);
  return windows.map((window) => ({
    ...window,
    walks: walks.filter((walk) => walk.windowId === window.windowId),
  }));
}

function readWalks(database: Database, windowIds: readonly number[]) {
  return database.persist<WalkStory & { windowId: number }>(
    `select k.window_id as "windowId", k.walk_id as "walkId", k.number, k.role, k.from_time as "from", k.to_time as "to",
            k.page_length as "pageLength", k.pages, k.records, k.bytes, k.requests, k.first_total as "firstTotal",
            k.last_total as "lastTotal", k.outcome, k.reason, k.claims, k.shown, k.pruning is not null as pruned, k.started_at as "startedAt",
            k.finished_at as "finishedAt",
            case k.shown when 'whole' then k.records - m.unseen when 'part' then m.seen else 0 end as "shownRecords",
            q.pages as quarantined, q.kinds as quarantine
       from daywalk.walks k
      cross join lateral (
        select count(*) filter (where not mark.seen) as unseen, count(*) filter (where mark.seen) as seen
          from daywalk.marks mark where mark.walk_id = k.walk_id) as m
      cross join lateral (
        select count(distinct p.page_no) as pages, coalesce(array_agg(distinct c.change ->> 'what'), '{}') as kinds
          from daywalk.pages p cross join lateral jsonb_array_elements(p.changes) as c (change)
         where p.walk_id = k.walk_id and p.day = k.day and p.changes is not null) as q
      where k.window_id = any ($1::bigint[])
      order by k.window_id, k.number`,
    [windowIds],
  );
}
