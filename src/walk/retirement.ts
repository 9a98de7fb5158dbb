/** Retirement: what the source forgets oldest day first is its retention; such days stay shown, and are looked at no more. */
import type { LeasedWindow } from '../store/leases.ts';
import { readOldestShown, retireDay } from '../store/windows.ts';
import type { WindowContext } from './context.ts';
import { question } from './questions.ts';

/**
 * Whether this day was taken by the source's retention: it shows nothing any more, neither does the oldest day that was not
 * retired before, and known answers of newer days are what they were. Noted then.
 */
export async function isRetired(context: WindowContext, window: LeasedWindow): Promise<boolean> {
  const { database, knowledge, log } = context;
  if ((await question(context, window, 0, 2)).came > 0) return false;
  const oldest = await readOldestShown(database, knowledge.streamId);
  if (oldest === null) return false;
  const isOldest = oldest.day === window.day;
  if (!isOldest && (await question(context, oldest, 0, 2)).came > 0) return false;
  await context.checkKnown();
  log.warn(
    { day: window.day },
    'the source does not show this day any more; what was stored of it stays',
  );
  await retireDay(database, window, knowledge.streamId);
  return true;
}
