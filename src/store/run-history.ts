/** The newest runs, with what each of them did. */
import type { RunOutcome } from '../errors.ts';
import type { Day } from '../model.ts';
import type { Database } from './database.ts';
import type { RunTrigger } from './runs.ts';

/** One run. */
export interface RunStory {
  readonly runId: number;
  readonly trigger: RunTrigger;
  readonly owner: string;
  readonly fromDay: Day | null;
  readonly toDay: Day | null;
  readonly startedAt: Date;
  /** Null: it runs, or its process was killed. */
  readonly finishedAt: Date | null;
  readonly outcome: RunOutcome | null;
  readonly windowsComplete: number;
  readonly windowsUnchanged: number;
  readonly windowsFailed: number;
  readonly records: number;
  readonly bytes: number;
  readonly error: string | null;
}

/** The newest `most` runs, newest first. */
export function readRunHistory(database: Database, most: number): Promise<RunStory[]> {
  return database.persist(
    `select run_id as "runId", trigger, owner, from_day as "fromDay", to_day as "toDay", started_at as "startedAt",
            finished_at as "finishedAt", outcome, windows_complete as "windowsComplete",
            windows_unchanged as "windowsUnchanged", windows_failed as "windowsFailed", records, bytes, error
       from daywalk.runs order by started_at desc, run_id desc limit $1`,
    [most],
  );
}
