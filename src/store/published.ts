/** What is published, as a comparison with the source needs it: windows and walks, what was asked for, and what came. */
import type { Day, DayRange, Envelope, Proof } from '../model.ts';
import type { Database } from './database.ts';
import { ENVELOPE_COLUMNS, envelopeOf } from './envelopes.ts';

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

/** What of a walk is read, as `k`. */
const PUBLISHED_COLUMNS = `k.walk_id as "walkId", k.records, k.last_total as "lastTotal", k.proof, ${ENVELOPE_COLUMNS}`;
type PublishedRow = Omit<PublishedWalk, 'envelope'> & Envelope;

function publishedWalkOf(row: PublishedRow): PublishedWalk {
  const { walkId, records, lastTotal, proof } = row;
  return { walkId, records, lastTotal, proof, envelope: envelopeOf(row) };
}

/** The newest proven walk of a window; null where there is none. */
export async function readProvenWalk(
  database: Database,
  windowId: number,
): Promise<PublishedWalk | null> {
  const [row] = await database.persist<PublishedRow>(
    `select ${PUBLISHED_COLUMNS}
       from daywalk.walks k
      where k.window_id = $1 and k.outcome = 'proven'
      order by k.number desc limit 1`,
    [windowId],
  );
  return row === undefined ? null : publishedWalkOf(row);
}

/** The complete windows of these streams, by day; those of a window that was split are its parts. */
export async function listPublishedWindows(
  database: Database,
  streamNames: readonly string[],
  range: DayRange | null,
): Promise<PublishedWindow[]> {
  const rows = await database.persist<PublishedRow & Omit<PublishedWindow, 'walks'>>(
    `select w.window_id as "windowId", s.name as stream, w.day, w.from_time as "from", w.to_time as "to",
            w.level_from as "levelFrom", w.level_to as "levelTo", ${PUBLISHED_COLUMNS}
       from daywalk.streams s
       join daywalk.windows w on w.stream_id = s.stream_id and w.state = 'complete'
       join daywalk.walks k on k.window_id = w.window_id and k.published and k.pruning is null
      where s.name = any ($1::text[]) and ($2::date is null or w.day between $2::date and $3::date)
      order by w.day, array_position($1::text[], s.name), w.from_time, w.window_id, k.number`,
    [streamNames, range?.from ?? null, range?.to ?? null],
  );
  const windows = new Map<number, PublishedWindow & { walks: PublishedWalk[] }>();
  for (const row of rows) {
    const { windowId, stream, day, from, to, levelFrom, levelTo } = row;
    const name = { windowId, stream, day, from, to, levelFrom, levelTo };
    const window = windows.get(windowId) ?? { ...name, walks: [] };
    window.walks.push(publishedWalkOf(row));
    windows.set(windowId, window);
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
export function listAskedPages(database: Database, walkId: number): Promise<AskedPage[]> {
  return database.persist(
    `select p.page_no as "pageNo", p.start, p.length, p.skip, p.records
       from daywalk.walks k join daywalk.pages p on p.walk_id = k.walk_id and p.day = k.day
      where k.walk_id = $1 order by p.page_no`,
    [walkId],
  );
}
