/** Retirement: what the source forgets oldest day first is its retention; such days stay shown, and are looked at no more. */
import type { Span } from '../model.ts';
import type { LeasedWindow } from '../store/leases.ts';
import { readShownBefore, retireDay } from '../store/windows.ts';
import type { WindowContext } from './context.ts';
import { question } from './questions.ts';

/**
 * Whether this day was taken by the source's retention: it shows nothing any more, neither does the day with records before
 * it, and known answers of newer days are what they were (docs/completeness.md, "What is kept"). Noted then.
 */
export async function isRetired(context: WindowContext, window: LeasedWindow): Promise<boolean> {
  const { database, knowledge, log } = context;
  if (!(await showsNothing(context, window))) return false;
  const before = await readShownBefore(database, knowledge.streamId, window.day);
  if (before !== null && !before.retired && !(await showsNothing(context, before))) return false;
  await context.checkKnown();
  log.warn(
    { day: window.day },
    'the source does not show this day any more; what was stored of it stays',
  );
  await retireDay(database, window, knowledge.streamId);
  return true;
}

/** Asked as often as an answer without records must come to be believed, each time for another length, so that no cache answers. */
async function showsNothing(context: WindowContext, span: Span): Promise<boolean> {
  for (let time = 0; time < context.knowledge.repeats; time += 1)
    if ((await question(context, span, 0, 2 + time)).came > 0) return false;
  return true;
}
