/** Retirement: what the source forgets oldest day first is its retention; such days stay shown, and are looked at no more. */
import { RequestError } from '../errors.ts';
import type { Span } from '../model.ts';
import type { LeasedWindow } from '../store/leases.ts';
import { readShownBefore, retireDay } from '../store/windows.ts';
import type { WindowContext } from './context.ts';
import { question } from './questions.ts';

/**
 * Whether this day was taken by the source's retention: it shows nothing any more, neither does the day with records before
 * it, and a known answer of a newer day is what it was; where there is none, days of this age were forgotten before
 * (docs/completeness.md, "What is kept"). Noted then.
 */
export async function isRetired(context: WindowContext, window: LeasedWindow): Promise<boolean> {
  const { database, knowledge, log } = context;
  if (!(await showsNothing(context, window))) return false;
  const before = await readShownBefore(database, knowledge.streamId, window.day);
  if (before !== null && !before.retired && !(await showsNothing(context, before))) return false;
  const known = await context.checkKnown({ after: window.day });
  if (!known && before?.sinceThatAge !== true) return false;
  log.warn(
    { day: window.day },
    'the source has forgotten this day, as the oldest ones before; it stays as it was proven',
  );
  await retireDay(database, window, knowledge.streamId, context.recheckDays);
  return true;
}

/**
 * Asked as often as an answer without records must come to be believed, each time for another length, so that no cache answers.
 * What is refused for every length, as too old, is not shown either.
 */
async function showsNothing(context: WindowContext, span: Span): Promise<boolean> {
  for (let time = 0; time < context.knowledge.repeats; time += 1) {
    const came = await question(context, span, 0, 2 + time).then(
      (answer) => answer.came,
      (error: unknown) => {
        if (error instanceof RequestError) return 0;
        throw error;
      },
    );
    if (came > 0) return false;
  }
  return true;
}
