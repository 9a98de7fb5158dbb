/** Runs in the database: when one began, what it did and how it ended. */
import type { RunOutcome } from '../errors.ts';
import type { Day, DayRange } from '../model.ts';
import type { Database } from './database.ts';

/** What began a run: the schedule of a worker, `daywalk run`, or `daywalk backfill`. */
export type RunTrigger = 'schedule' | 'hand' | 'backfill';

/** What a run has done so far. */
export interface RunCounts {
  readonly windowsDue: number;
  readonly windowsComplete: number;
  readonly windowsFailed: number;
  /** Windows that were split into parts. */
  readonly windowsSplit: number;
  /** Complete windows that were looked at and found as they are stored. */
  readonly windowsUnchanged: number;
  readonly pages: number;
  readonly records: number;
  readonly bytes: number;
}

/** Notes that a run has begun; `key` is a fresh UUID, so that repeating it notes one run. Returns its id. */
export function beginRun(
  database: Database,
  trigger: RunTrigger,
  key: string,
  owner: string,
  range: DayRange | null,
): Promise<number> {
  return database.value(
    `insert into daywalk.runs (key, trigger, owner, from_day, to_day) values ($5::uuid, $1, $2, $3, $4)
     on conflict (key) do update set key = excluded.key
     returning run_id`,
    [trigger, owner, range?.from ?? null, range?.to ?? null, key],
  );
}

/** Notes how a run ended. One attempt: a run whose database is gone cannot say so there. */
export async function endRun(
  database: Database,
  runId: number,
  outcome: RunOutcome,
  counts: RunCounts,
  error: string | null,
): Promise<void> {
  await database.query(
    `update daywalk.runs
        set outcome = $2, error = $3, windows_complete = $4, windows_failed = $5, windows_unchanged = $6, records = $7, bytes = $8,
            finished_at = clock_timestamp()
      where run_id = $1 and outcome is null`,
    [
      runId,
      outcome,
      error,
      counts.windowsComplete,
      counts.windowsFailed,
      counts.windowsUnchanged,
      counts.records,
      counts.bytes,
    ],
  );
}

/** A run as it stands. */
export interface RunRow extends Omit<RunCounts, 'windowsDue' | 'windowsSplit' | 'pages'> {
  readonly runId: number;
  readonly trigger: RunTrigger;
  readonly fromDay: Day | null;
  readonly toDay: Day | null;
  readonly startedAt: Date;
  /** Null: it runs, or its process was killed. */
  readonly finishedAt: Date | null;
  readonly outcome: RunOutcome | null;
  readonly error: string | null;
}

/** The newest `most` runs, newest first. */
export function readRunHistory(database: Database, most: number): Promise<RunRow[]> {
  return database.persist(
    `select run_id as "runId", trigger, owner, from_day as "fromDay", to_day as "toDay", started_at as "startedAt",
            finished_at as "finishedAt", outcome, windows_complete as "windowsComplete",
            windows_unchanged as "windowsUnchanged", windows_failed as "windowsFailed", records, bytes, error
       from daywalk.runs order by started_at desc, run_id desc limit $1`,
    [most],
  );
}

/** The newest run, if there was one. */
export async function readLastRun(database: Database): Promise<RunRow | null> {
  return (await readRunHistory(database, 1))[0] ?? null;
}
