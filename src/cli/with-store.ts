/** What the verbs that work on what is stored have in common: a log and a database, opened before and closed after. */

import type { ProcessLogger } from '../log.ts';
import type { Settings } from '../settings/settings.ts';
import type { Database } from '../store/database.ts';
import { type OpenDatabase, openDatabase, openLog } from './wiring.ts';

/** Opens log and database, calls `work`, and closes them whatever happens. */
export async function withStore<T>(
  settings: Settings,
  signal: AbortSignal,
  work: (database: Database, log: ProcessLogger, opened: OpenDatabase) => Promise<T>,
): Promise<T> {
  const log = await openLog(settings);
  try {
    const opened = await openDatabase(settings, log, signal);
    try {
      return await work(opened.database, log, opened);
    } finally {
      await opened.close();
    }
  } finally {
    await log.flush();
  }
}
