/** What `run` and `backfill` have in common: open everything, watch, report, close. */
import { systemClock } from '../clock.ts';
import type { ApiSettings } from '../config/settings.ts';
import type { DrainParts } from '../export/drain.ts';
import type { RunEvent, RunReport } from '../export/run.ts';
import type { ProcessLogger } from '../log.ts';
import { describeRun, exitCodeOfRun } from '../report/run-text.ts';
import type { Database } from '../store/database.ts';
import { print, printJson } from './output.ts';
import { Progress } from './progress.ts';
import type { Invocation } from './verb.ts';
import { apiSettingsOf, exportParts, openApi, openDatabase, openLog } from './wiring.ts';

/** What a verb that exports works with. */
export interface ExportSession {
  readonly settings: ApiSettings;
  readonly database: Database;
  readonly parts: DrainParts;
  readonly log: ProcessLogger;
}

/**
 * Opens log, source and database, calls `work`, and closes them whatever happens.
 * @param daemon waits for a database that is away when it starts, as it does later.
 */
export async function withExport<T>(
  invocation: Invocation,
  work: (session: ExportSession) => Promise<T>,
  daemon = false,
): Promise<T> {
  const settings = apiSettingsOf(invocation);
  const log = await openLog(settings);
  const source = await openApi(settings);
  try {
    const { database, close } = await openDatabase(settings, log, invocation.signal, daemon);
    try {
      return await work({ settings, database, parts: exportParts(database, source, log), log });
    } finally {
      await close();
    }
  } finally {
    await source.close();
    await log.flush();
  }
}

/** Watches a run and prints what it did. */
export async function watched(
  invocation: Invocation,
  log: ProcessLogger,
  run: (onEvent: (event: RunEvent) => void) => Promise<RunReport>,
): Promise<number> {
  const progress = new Progress(systemClock, log, process.stderr.isTTY === true);
  let elapsedMs = 0;
  let report: RunReport;
  try {
    report = await run(progress.onEvent);
  } finally {
    elapsedMs = progress.end();
  }
  if (invocation.options.json === true) printJson({ ...report, elapsedMs: Math.round(elapsedMs) });
  else print(...describeRun(report, elapsedMs));
  return exitCodeOfRun(report);
}
