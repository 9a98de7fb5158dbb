/** What is too much for its source may be answered with nothing (docs/completeness.md C3). */
import { WalkError } from '../errors.ts';
import type { Span } from '../model.ts';
import { around, secondsOf } from '../plan/split.ts';
import type { Asking } from './asking.ts';
import type { Knowledge } from './knowledge.ts';
import { SHORTEST_CUT, type WalkTarget } from './span.ts';
import { LEAST_CAP } from './verdict.ts';

/** Parts in the middle of a span: twelve hours of a day, three, and three quarters of one. */
const SHARES = [1 / 2, 1 / 8, 1 / 32];

/** Ever smaller parts in the middle of a span. */
export function middlesOf({ from, to }: Pick<Span, 'from' | 'to'>): Pick<Span, 'from' | 'to'>[] {
  const middle = Math.floor(secondsOf({ from, to }) / 2);
  return SHARES.map((share) => {
    const half = Math.floor(middle * share);
    const part = around(from, middle - half, middle + half - 1);
    return { from: part.from, to: part.to };
  });
}

/**
 * Called before a span is believed to be empty: a day of a source that is known to show lists of some length, and any part of
 * one that was caught so. Ever smaller parts in its middle must show nothing, either.
 * @throws {WalkError} `capped` where one shows records again and again, and the whole none.
 */
export async function refuseTooMuch(
  knowledge: Knowledge,
  asking: Asking,
  { from, to, ...target }: WalkTarget,
): Promise<void> {
  const seconds = secondsOf({ from, to });
  const isDay = seconds === 86_400 && knowledge.longestList >= LEAST_CAP;
  if (!(isDay || (knowledge.hidesMuch && seconds >= SHORTEST_CUT)) || knowledge.reach === 'day')
    return;
  for (const middle of middlesOf({ from, to })) {
    const came = await asking.cameOf({ ...target, ...middle });
    if (came === null) return;
    if (came === 0) continue;
    for (let time = 0; time < knowledge.repeats; time += 1)
      await asking.stillNothing(await asking.ask(0, 2 + time));
    const told = `${from} to ${to} shows nothing, and ${middle.from} to ${middle.to} shows records`;
    await knowledge.learn('hides_much', true, told);
    throw new WalkError('capped', told);
  }
}
