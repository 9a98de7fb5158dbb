/** Published windows as a comparison with the source needs them: what was asked for, and what came. */
import type { Day, Envelope, Proof } from '../model.ts';
import type { Database } from './database.ts';
import type { DaySpan } from './stored.ts';

/** A complete window with the walks that the views show of it. */
export interface PublishedWindow {
  readonly windowId: number;
  readonly stream: string;
  readonly day: Day;
  readonly from: string;
  readonly to: string;
  readonly levelFrom: number | null;
  readonly levelTo: number | null;
  /** Oldest first; more than one where only their union is whole. */
  readonly walks: readonly PublishedWalk[];
}

/** A walk that the views show. */
export interface PublishedWalk {
  readonly walkId: number;
  readonly records: number;
  readonly lastTotal: number | null;
  readonly envelope: Envelope;
  readonly proof: Proof;
}

/** The complete windows of these streams, by day; those of a window that was split are its parts. */
export async function listPublishedWindows(
  database: Database,
  streamNames: readonly string[],
  span: DaySpan,
): Promise<PublishedWindow[]> {
  const rows = await database.persist<{
    window_id: number;
    stream: string;
    day: string;
    from_time: string;
    to_time: string;
    level_from: number | null;
    level_to: number | null;
    walk_id: number;
    records: number;
    last_total: number | null;
    records_path: string[];
    total_path: string[] | null;
    relation_path: string[] | null;
    proof: Proof;
  }>(
    `select w.window_id, s.name as stream, w.day, w.from_time, w.to_time, w.level_from, w.level_to, k.walk_id, k.records,
            k.last_total, k.records_path, k.total_path, k.relation_path, k.proof
       from daywalk.streams s
       join daywalk.windows w on w.stream_id = s.stream_id and w.state = 'complete'
       join daywalk.walks k on k.window_id = w.window_id and k.published and k.pruning is null
      where s.name = any ($1::text[]) and ($2::date is null or w.day between $2::date and $3::date)
      order by w.day, array_position($1::text[], s.name), w.from_time, w.window_id, k.number`,
    [streamNames, span?.from ?? null, span?.to ?? null],
  );
  const windows = new Map<number, PublishedWindow & { walks: PublishedWalk[] }>();
  for (const row of rows) {
    const window = windows.get(row.window_id) ?? {
      windowId: row.window_id,
      stream: row.stream,
      day: row.day,
      from: row.from_time,
      to: row.to_time,
      levelFrom: row.level_from,
      levelTo: row.level_to,
      walks: [],
    };
    window.walks.push({
      walkId: row.walk_id,
      records: row.records,
      lastTotal: row.last_total,
      envelope: {
        recordsPath: row.records_path,
        totalPath: row.total_path,
        relationPath: row.relation_path,
      },
      proof: row.proof,
    });
    windows.set(row.window_id, window);
  }
  return [...windows.values()];
}

/** How a page was asked for. */
export interface AskedPage {
  readonly pageNo: number;
  readonly start: number;
  readonly length: number;
  /** Records at its beginning that the page before holds already. */
  readonly skip: number;
  readonly records: number;
}

/** The pages of a walk, in order. */
export async function listAskedPages(database: Database, walkId: number): Promise<AskedPage[]> {
  const rows = await database.persist<{
    page_no: number;
    start: number;
    length: number;
    skip: number;
    records: number;
  }>(
    `select p.page_no, p.start, p.length, p.skip, p.records
       from daywalk.walks k join daywalk.pages p on p.walk_id = k.walk_id and p.day = k.day
      where k.walk_id = $1 order by p.page_no`,
    [walkId],
  );
  return rows.map(({ page_no, ...row }) => ({ ...row, pageNo: page_no }));
}
