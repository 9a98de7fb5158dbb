/** Another day than the one of a request that fails: what it answers tells whose fault that is. */
import type { Day, PageRequest } from '../../model.ts';
import { addDays } from '../../plan/days.ts';
import { readKnownAnswers } from '../../store/evidence/proven.ts';
import { listKnownSpans } from '../../store/windows.ts';
import type { AskingContext } from './context.ts';
import { dayOf, targetOf, type WalkTarget } from './span.ts';

/** A proven window with records; where there is none, one that showed some a moment ago, or else the newest day. */
export async function elsewhere(context: AskingContext, failing: PageRequest): Promise<WalkTarget> {
  const { database, knowledge, stream } = context;
  const day = failing.from.slice(0, 10);
  const answers = await readKnownAnswers(database, knowledge.streamId);
  const answer = answers.find((one) => one.day !== day && one.speaks !== 'not');
  if (answer !== undefined) return targetOf(stream, answer);
  const { lastGood } = knowledge;
  return lastGood !== null && !lastGood.from.startsWith(day) ? lastGood : newestDay(context, day);
}

/** The newest day that is planned: of all of them a source forgets it last. Where it is the one that fails, the day before. */
export async function newestDay(
  { database, knowledge, stream }: AskingContext,
  failing: Day | null,
): Promise<WalkTarget> {
  const spans = await listKnownSpans(database, [knowledge.streamId]);
  const ends = spans.map(({ to }) => to).sort();
  const newest = ends.at(-1) as Day;
  return targetOf(stream, dayOf(newest === failing ? addDays(newest, -1) : newest));
}
