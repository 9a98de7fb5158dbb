/** Earlier walks as evidence: of a window's size and order, and of where lists are. */
import type { Envelope, Proof } from '../model.ts';
import type { Database } from './database.ts';
import { ENVELOPE_COLUMNS } from './envelopes.ts';
import type { Lease } from './leases.ts';
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
  const [row] = await database.persist<WalkSizes>(
    `select count(distinct k.walk_id) as walks, coalesce(max(p.records + p.skip), 0) as "largestPage",
            coalesce(max(k.next_start), 0) as records
       from daywalk.walks k
       left join daywalk.pages p on p.walk_id = k.walk_id and p.day = k.day
      where k.window_id = $1 and k.outcome is not null
        and k.number > coalesce((select max(number) from daywalk.walks where window_id = $1 and outcome = 'proven'), 0)`,
    [lease.windowId],
  );
  return row ?? { walks: 0, largestPage: 0, records: 0 };
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
export function readEarlierWalks(database: Database, lease: Lease): Promise<EarlierWalk[]> {
  return database.persist(
    `select k.walk_id as "walkId", k.span, k.outcome, k.next_start as "nextStart", k.pages, k.page_length as "pageLength",
            k.last_total as "lastTotal", k.reason, k.proof,
            coalesce((select p.records from daywalk.pages p where p.walk_id = k.walk_id and p.day = k.day and p.page_no = 0), 0) as "firstPage"
       from daywalk.walks k
       join daywalk.windows w on w.window_id = k.window_id
      where k.window_id = $1 and k.outcome in ('ended', 'shifted', 'failed')
        and k.number > coalesce((select max(number) from daywalk.walks where window_id = $1 and outcome = 'proven'), 0)
        and k.started_at > coalesce(w.last_failed_at, '-infinity')
      order by k.number`,
    [lease.windowId],
  );
}

/** Where the newest proven page with records of each of these streams has list and total; a stream without any has none. */
export async function readLastEnvelopes(
  database: Database,
  streamIds: readonly number[],
): Promise<Map<number, Envelope>> {
  const rows = await database.persist<Envelope & { readonly streamId: number }>(
    `select s.stream_id as "streamId", newest.*
       from unnest($1::integer[]) as s (stream_id)
      cross join lateral (
        select ${ENVELOPE_COLUMNS}
          from daywalk.days d
          join daywalk.windows w on w.stream_id = d.stream_id and w.day = d.day
          join daywalk.walks k on k.window_id = w.window_id and k.published and k.next_start > 0
         where d.stream_id = s.stream_id and d.records > 0
         order by d.day desc, k.walk_id desc limit 1) as newest`,
    [streamIds],
  );
  return new Map(rows.map(({ streamId, ...envelope }) => [streamId, envelope]));
}
