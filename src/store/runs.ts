/** Runs in the database: when one began, what it did and how it ended. */
import type { RunOutcome } from '../errors.ts';
import type { Day } from '../model.ts';
import type { Database } from './database.ts';

export type RunTrigger = 'schedule' | 'hand' | 'backfill';

/** What a run has done so far. */
export interface RunCounts {
  readonly windowsDue: number;
  readonly windowsComplete: number;
  readonly windowsFailed: number;
  readonly pages: number;
  readonly records: number;
  readonly bytes: number;
}

/** Notes that a run has begun. Returns its id. */
export async function beginRun(
  database: Database,
  trigger: RunTrigger,
  owner: string,
  range: { readonly from: Day; readonly to: Day } | null,
): Promise<number> {
  const [row] = await database.persist<{ run_id: number }>(
    `insert into daywalk.runs (trigger, owner, from_day, to_day) values ($1, $2, $3, $4) returning run_id`,
    [trigger, owner, range?.from ?? null, range?.to ?? null],
  );
  if (row === undefined) throw new Error('an insert returned no row');
  return row.run_id;
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
        set outcome = $2, error = $3, windows_due = $4, windows_complete = $5, windows_failed = $6,
            pages = $7, records = $8, bytes = $9, finished_at = clock_timestamp()
      where run_id = $1 and outcome is null`,
    [
      runId,
      outcome,
      error,
      counts.windowsDue,
      counts.windowsComplete,
      counts.windowsFailed,
      counts.pages,
      counts.records,
      counts.bytes,
    ],
  );
}

/** A run as `status` shows it. */
export interface RunRow {
  readonly runId: number;
  readonly trigger: RunTrigger;
  readonly startedAt: Date;
  readonly finishedAt: Date | null;
  readonly outcome: RunOutcome | null;
  readonly windowsComplete: number;
  readonly windowsFailed: number;
  readonly records: number;
  readonly error: string | null;
}

/** The newest run, if there was one. */
export async function readLastRun(database: Database): Promise<RunRow | null> {
  const [row] = await database.persist<{
    run_id: number;
    trigger: RunTrigger;
    started_at: Date;
    finished_at: Date | null;
    outcome: RunOutcome | null;
    windows_complete: number;
    windows_failed: number;
    records: number;
    error: string | null;
  }>(
    `select run_id, trigger, started_at, finished_at, outcome, windows_complete, windows_failed, records, error
       from daywalk.runs order by started_at desc, run_id desc limit 1`,
  );
  if (row === undefined) return null;
  return {
    runId: row.run_id,
    trigger: row.trigger,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    outcome: row.outcome,
    windowsComplete: row.windows_complete,
    windowsFailed: row.windows_failed,
    records: row.records,
    error: row.error,
  };
}
