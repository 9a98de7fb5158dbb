/** What the verbs that work on what is stored have in common: a log and a database, opened before and closed after. */

import type { ProcessLogger } from '../log.ts';
import type { Settings } from '../settings/settings.ts';
import type { Database } from '../store/database.ts';
import { openDatabase, openLog } from './wiring.ts';

/** Opens log and database, calls `work`, and closes them whatever happens. */
export async function withStore<T>(
  settings: Settings,
  signal: AbortSignal,
  work: (database: Database, log: ProcessLogger) => Promise<T>,
): Promise<T> {
  const log = await openLog(settings);
  try {
    const { database, close } = await openDatabase(settings, log, signal);
    try {
      return await work(database, log);
    } finally {
      await close();
    }
  } finally {
    await log.flush();
  }
}
