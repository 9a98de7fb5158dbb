/** Earlier walks as evidence: of a window's size and order, of where lists are, of what is published. */
import type { Envelope, Proof } from '../model.ts';
import type { Database } from './database.ts';
import type { Lease } from './leases.ts';
import type { PublishedWalk } from './published.ts';
import type { EndedWalk, WalkSpan } from './walks.ts';

/** What the walks of a window since it was last proven have shown of its size. */
export interface WalkSizes {
  readonly walks: number;
  /** The largest page that any of them got. */
  readonly largestPage: number;
  /** The most records that any of them got. */
  readonly records: number;
}

/** The sizes of the walks of a window since it was last proven. */
export async function readWalkSizes(database: Database, lease: Lease): Promise<WalkSizes> {
  const [row] = await database.persist<{ walks: number; largest_page: number; records: number }>(
    `select count(distinct k.walk_id) as walks, coalesce(max(p.records + p.skip), 0) as largest_page,
            coalesce(max(k.next_start), 0) as records
       from daywalk.walks k
       left join daywalk.pages p on p.walk_id = k.walk_id and p.day = k.day
      where k.window_id = $1 and k.outcome is not null
        and k.number > coalesce((select max(number) from daywalk.walks where window_id = $1 and outcome = 'proven'), 0)`,
    [lease.windowId],
  );
  return {
    walks: row?.walks ?? 0,
    largestPage: row?.largest_page ?? 0,
    records: row?.records ?? 0,
  };
}

/** A walk of a window that has ended, as evidence. */
export interface EarlierWalk extends EndedWalk {
  readonly span: WalkSpan;
  readonly outcome: 'ended' | 'shifted' | 'failed';
  readonly pageLength: number;
  /** Records on its first page: where its page boundaries begin to fall. */
  readonly firstPage: number;
  readonly lastTotal: number | null;
  /** Why it did not end well. */
  readonly reason: string | null;
  /** How it ended; null where it did not reach an end. */
  readonly proof: Proof | null;
}

/** The walks of a window since it was last proven or given up, oldest first. */
export async function readEarlierWalks(database: Database, lease: Lease): Promise<EarlierWalk[]> {
  const rows = await database.persist<{
    walk_id: number;
    span: WalkSpan;
    outcome: EarlierWalk['outcome'];
    next_start: number;
    pages: number;
    page_length: number;
    first_page: number;
    last_total: number | null;
    reason: string | null;
    proof: Proof | null;
  }>(
    `select k.walk_id, k.span, k.outcome, k.next_start, k.pages, k.page_length, k.last_total, k.reason, k.proof,
            coalesce((select p.records from daywalk.pages p where p.walk_id = k.walk_id and p.day = k.day and p.page_no = 0), 0) as first_page
       from daywalk.walks k
       join daywalk.windows w on w.window_id = k.window_id
      where k.window_id = $1 and k.outcome in ('ended', 'shifted', 'failed')
        and k.number > coalesce((select max(number) from daywalk.walks where window_id = $1 and outcome = 'proven'), 0)
        and k.started_at > coalesce(w.last_failed_at, '-infinity')
      order by k.number`,
    [lease.windowId],
  );
  return rows.map((row) => ({
    walkId: row.walk_id,
    span: row.span,
    outcome: row.outcome,
    nextStart: row.next_start,
    pages: row.pages,
    pageLength: row.page_length,
    firstPage: row.first_page,
    lastTotal: row.last_total,
    reason: row.reason,
    proof: row.proof,
  }));
}

/** Where the newest proven page with records of a stream has list and total; null: there was none yet. */
export async function readLastEnvelope(
  database: Database,
  streamId: number,
): Promise<Envelope | null> {
  const [row] = await database.persist<{
    records_path: string[];
    total_path: string[] | null;
    relation_path: string[] | null;
  }>(
    `select k.records_path, k.total_path, k.relation_path
       from daywalk.days d
       join daywalk.windows w on w.stream_id = d.stream_id and w.day = d.day
       join daywalk.walks k on k.window_id = w.window_id and k.published and k.next_start > 0
      where d.stream_id = $1 and d.records > 0
      order by d.day desc, k.walk_id desc limit 1`,
    [streamId],
  );
  if (row === undefined) return null;
  return {
    recordsPath: row.records_path,
    totalPath: row.total_path,
    relationPath: row.relation_path,
  };
}

/** The newest proven walk of a window; null where there is none. */
export async function readProvenWalk(
  database: Database,
  windowId: number,
): Promise<PublishedWalk | null> {
  const [row] = await database.persist<{
    walk_id: number;
    records: number;
    last_total: number | null;
    records_path: string[];
    total_path: string[] | null;
    relation_path: string[] | null;
    proof: Proof;
  }>(
    `select walk_id, records, last_total, records_path, total_path, relation_path, proof
       from daywalk.walks
      where window_id = $1 and outcome = 'proven'
      order by number desc limit 1`,
    [windowId],
  );
  if (row === undefined) return null;
  return {
    walkId: row.walk_id,
    records: row.records,
    lastTotal: row.last_total,
    envelope: {
      recordsPath: row.records_path,
      totalPath: row.total_path,
      relationPath: row.relation_path,
    },
    proof: row.proof,
  };
}
