/** Reads what is there and what is not: the coverage, the gaps and what runs now. */
import type { Day } from '../model.ts';
import type { Database } from './database.ts';

export type CoverageState = 'complete' | 'running' | 'failed' | 'pending' | 'missing';

/** One stream and day. */
export interface CoverageRow {
  readonly stream: string;
  readonly day: Day;
  readonly state: CoverageState;
  readonly records: number;
  readonly pages: number;
  readonly bytes: number;
  /** Kinds of proof: total, probe, union; null: nothing is proven. */
  readonly proof: string | null;
  /** Windows of the day, without those that were split. */
  readonly windows: number;
  readonly completeWindows: number;
  /** When the source was last seen to be as stored. */
  readonly checkedAt: Date | null;
  readonly lastError: string | null;
  /** When the day is walked next; null: nothing is planned. */
  readonly dueAt: Date | null;
}

interface CoverageSqlRow {
  stream: string;
  day: string;
  state: CoverageState;
  records: number;
  pages: number;
  bytes: number;
  proof: string | null;
  windows: number;
  complete_windows: number;
  checked_at: Date | null;
  last_error: string | null;
  due_at: Date | null;
}

const coverageOf = (row: CoverageSqlRow): CoverageRow => ({
  stream: row.stream,
  day: row.day,
  state: row.state,
  records: row.records,
  pages: row.pages,
  bytes: row.bytes,
  proof: row.proof,
  windows: row.windows,
  completeWindows: row.complete_windows,
  checkedAt: row.checked_at,
  lastError: row.last_error,
  dueAt: row.due_at,
});

/** The coverage of these streams, by stream and day. */
export async function readCoverage(
  database: Database,
  streamNames: readonly string[],
): Promise<CoverageRow[]> {
  const rows = await database.persist<CoverageSqlRow>(
    `select stream, day, state, records, pages, bytes, proof, windows, complete_windows, checked_at, last_error, due_at
       from daywalk.coverage
      where stream = any ($1::text[])
      order by array_position($1::text[], stream), day`,
    [streamNames],
  );
  return rows.map(coverageOf);
}

/** The coverage of one day; null: it is not due, or the stream is not known. */
export async function readCoverageOf(
  database: Database,
  stream: string,
  day: Day,
): Promise<CoverageRow | null> {
  const [row] = await database.persist<CoverageSqlRow>(
    `select stream, day, state, records, pages, bytes, proof, windows, complete_windows, checked_at, last_error, due_at
       from daywalk.coverage where stream = $1 and day = $2::date`,
    [stream, day],
  );
  return row === undefined ? null : coverageOf(row);
}

/** A window that could not be walked whole. */
export interface SplitRow {
  readonly stream: string;
  readonly day: Day;
  readonly from: string;
  readonly to: string;
  readonly by: 'time' | 'level';
  readonly reason: string;
}

/** The windows of these streams that are split now, by day. */
export function readSplits(
  database: Database,
  streamNames: readonly string[],
): Promise<SplitRow[]> {
  return database.persist(
    `select s.name as stream, w.day, w.from_time as "from", w.to_time as "to", w.split_by as by, w.split_reason as reason
       from daywalk.windows w join daywalk.streams s on s.stream_id = w.stream_id
      where w.state = 'split' and s.name = any ($1::text[])
      order by w.day, w.from_time, w.window_id`,
    [streamNames],
  );
}

/** A window that a worker holds now. */
export interface RunningWindow {
  readonly stream: string;
  readonly from: string;
  readonly to: string;
  readonly owner: string;
  readonly records: number;
  readonly total: number | null;
}

/** What runs now, on all machines. */
export async function readRunning(database: Database): Promise<RunningWindow[]> {
  const rows = await database.persist<{
    stream: string;
    from_time: string;
    to_time: string;
    lease_owner: string;
    records: number;
    total: number | null;
  }>(
    `select s.name as stream, w.from_time, w.to_time, w.lease_owner, coalesce(k.records, 0) as records, k.last_total as total
       from daywalk.windows w
       join daywalk.streams s on s.stream_id = w.stream_id
       left join daywalk.walks k on k.walk_id = w.current_walk
      where w.lease_expires > clock_timestamp()
      order by w.from_time, s.name`,
  );
  return rows.map((row) => ({
    stream: row.stream,
    from: row.from_time,
    to: row.to_time,
    owner: row.lease_owner,
    records: row.records,
    total: row.total,
  }));
}

/** A day that is not there, and why. */
export interface GapRow {
  readonly stream: string;
  readonly day: Day;
  readonly state: Exclude<CoverageState, 'complete'>;
  readonly dueAt: Date | null;
  readonly lastError: string | null;
}

/** What is missing of these streams, oldest first, between two days where given. */
export async function readGaps(
  database: Database,
  streamNames: readonly string[],
  range: { readonly from: Day; readonly to: Day } | null = null,
): Promise<GapRow[]> {
  const rows = await database.persist<{
    stream: string;
    day: string;
    state: GapRow['state'];
    due_at: Date | null;
    last_error: string | null;
  }>(
    `select stream, day, state, due_at, last_error
       from daywalk.gaps
      where stream = any ($1::text[]) and ($2::date is null or day between $2::date and $3::date)
      order by day, array_position($1::text[], stream)`,
    [streamNames, range?.from ?? null, range?.to ?? null],
  );
  return rows.map((row) => ({
    stream: row.stream,
    day: row.day,
    state: row.state,
    dueAt: row.due_at,
    lastError: row.last_error,
  }));
}
