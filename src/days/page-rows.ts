/** The stored pages of a day, without their bodies. */
import type { Day, Span } from '../model.ts';
import type { Database } from '../store/database.ts';
import { spanColumns } from '../store/span-columns.ts';
import type { WindowStory } from './story-rows.ts';

/** One page; its window and walk are named as in the story of the day. */
export interface DayPage extends Span, Pick<WindowStory, 'kind'> {
  /** Of the walk, in its window. */
  readonly number: number;
  readonly pageNo: number;
  readonly start: number;
  readonly length: number;
  readonly records: number;
  readonly byteCount: number;
  /** Hexadecimal. */
  readonly sha256: string;
  readonly fetchedAt: Date;
  readonly durationMs: number;
  /** `jsonb` holds a changed copy of it. */
  readonly changed: boolean;
}

/** The first `most` pages of the walks of a day that are shown, in order. */
export function readDayPages(
  database: Database,
  stream: string,
  day: Day,
  most: number,
): Promise<DayPage[]> {
  return database.persist(
    `select w.kind, ${spanColumns('w')},
            k.number, p.page_no as "pageNo", p.start, p.length, p.records, p.byte_count as "byteCount",
            encode(p.sha256, 'hex') as sha256, p.fetched_at as "fetchedAt", p.duration_ms as "durationMs",
            p.changes is not null as changed
       from daywalk.windows w
       join daywalk.streams s on s.stream_id = w.stream_id and s.name = $1
       join daywalk.walks k on k.window_id = w.window_id and k.shown <> 'no'
       join daywalk.pages p on p.walk_id = k.walk_id and p.day = k.day
      where w.day = $2::date
      order by w.kind = 'cut', w.from_time, p.walk_id, p.page_no
      limit $3`,
    [stream, day, most],
  );
}
