/** A window is split into parts, by time or by level, and into the cuts between them. */
import { WalkError } from '../../errors.ts';
import { isUnclear, partsWanted, secondsOf } from '../../plan/split.ts';
import { splitWindow } from '../../store/splits.ts';
import { divide, learnShortest } from '../learning/reach.ts';
import type { WindowContext, WindowEnd } from '../questions/context.ts';

/**
 * Splits a window; where its total is calibrated its cuts are asked for only if the parts do not add up to it.
 * @param size the most records that one part should hold; null: nothing is known of that.
 * @throws {WalkError} where it can be split no further, or nothing would show that its parts add up.
 */
export async function splitUp(
  context: WindowContext,
  reason: string,
  size: number | null,
  total: number | null = null,
): Promise<WindowEnd> {
  const { knowledge, window } = context;
  const wanted = partsWanted(total, size, knowledge.expected(secondsOf(window)));
  await learnShortest(context, window);
  const found = await divide(context, window, wanted);
  const calibrated = knowledge.learned.calibrated > 0 && total !== null;
  if (found === null || (found.by === 'level' && !calibrated))
    throw new WalkError('capped', `${reason}; ${whyNotSplit(found, context)}`);
  const cuts =
    found.by === 'time' && !calibrated ? found.parts.slice(0, -1).map(({ to }) => to) : [];
  await splitWindow(context.database, window, { ...found, reason, total, cuts });
  return { kind: 'split', by: found.by, parts: found.parts.length, reason };
}

function whyNotSplit(found: object | null, context: WindowContext): string {
  const { knowledge, timeZone, window } = context;
  const hour = isUnclear(window, window.day, timeZone) && 'an hour that the clocks repeat or skip';
  if (found !== null)
    return `${hour || 'one second'} can be split by level only, and without a calibrated total nothing shows that all levels are there`;
  if (knowledge.reach === 'day')
    return 'the source ignores the time of day, so nothing can be split';
  return `${hour || 'the window'} is too short to be split further`;
}
