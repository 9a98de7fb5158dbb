/** What a source has forgotten: proven days that stay as they are, and days that were never proven, which are not believed to be whole or empty. */
import { isNoAnswer, RequestError, WalkError } from '../../errors.ts';
import type { Day, Proof, Span } from '../../model.ts';
import { addDays, daysBetween } from '../../plan/days.ts';
import {
  countHeldBefore,
  countShown,
  readShownBefore,
  retireDay,
  type ShownBefore,
} from '../../store/evidence/forgotten.ts';
import { counted } from '../../text.ts';
import { contradicted, isRefused, orNull } from '../failures.ts';
import type { WindowContext } from '../questions/context.ts';
import { question, shows } from '../questions/questions.ts';
import { beginningOf, dayOf, daysOf, partsOf } from '../questions/span.ts';

/** Days before the newest one with records among which something older is looked for: that one may be gone alone. */
const WEEK = 7;

/** Whether it is the window of a proven day, or a part of it, that {@link isRetired}; not where that cannot be told now. */
export async function isForgotten(context: WindowContext): Promise<boolean> {
  const { window } = context;
  if (window.kind === 'cut' || !window.proven) return false;
  const isUntold = (error: unknown) => isRefused(error) || error instanceof WalkError;
  return (await orNull(isRetired(context), isUntold)) ?? false;
}

/**
 * Whether the day of this window was taken by the source's retention: it shows nothing any more, neither does the day with
 * records before it, and a known answer of a newer day is what it was; where there is none, days of this age were forgotten
 * before (docs/completeness.md, "What is kept"). Noted then.
 */
async function isRetired(context: WindowContext): Promise<boolean> {
  const { database, knowledge, log, window } = context;
  if (!(await showsNothing(context, dayOf(window.day)))) return false;
  const before = await readShownBefore(database, knowledge.streamId, window.day);
  if (before !== null && !before.retired && !(await showsNothing(context, before))) return false;
  const isStill = before?.day === window.day;
  const known = isStill || (await context.known.check({ after: window.day }));
  if (!known && before?.sinceThatAge !== true) return false;
  // Told once, and not by each later look.
  if (!isStill)
    log.warn(
      { day: window.day },
      'the source does not show this day any more, as older ones before; what was proven stays here, nothing is to be done',
    );
  await retireDay(database, window, context.recheckDays);
  return true;
}

/**
 * Says with its proof that a day, walked again, lacks what its source forgets, and has not lost: it shows fewer records than it
 * did, nothing is shown before it any more, and no day was seen when it was older than that.
 */
export async function asOldest(context: WindowContext, proof: Proof): Promise<Proof> {
  const { database, knowledge, window } = context;
  const { day, kind, proven } = window;
  if (kind !== 'day' || !proven) return proof;
  if (proof.records >= (await countShown(database, knowledge.streamId, day))) return proof;
  const before = await readShownBefore(database, knowledge.streamId, day);
  if (before === null || before.seenOlder) return proof;
  const oldest = await showsNothingOlder(context, before);
  return oldest ? { ...proof, oldest } : proof;
}

/** Whether a window's day, or a part of it, may be forgotten; not as long as something older is shown. */
export async function mayBeForgotten(context: WindowContext): Promise<boolean> {
  const { database, knowledge, window } = context;
  const before = await readShownBefore(database, knowledge.streamId, window.day);
  return before === null || showsNothingOlder(context, before);
}

/** Whether nothing is shown before a window's day any more, neither of the day with records before it nor behind that. */
async function showsNothingOlder(context: WindowContext, before: ShownBefore): Promise<boolean> {
  if (!before.retired && !(await showsNothing(context, before))) return false;
  const [from, to] = [addDays(before.day, -WEEK), addDays(context.window.day, -1)];
  return before.day > context.window.day || showsNothingBetween(context, from, to);
}

/**
 * Called before a window of a day that was never proven is believed: its source may have forgotten it, or a part of it. As it
 * forgets the oldest first, a day is whole where something older is shown still, or was when that was as old.
 * @param records that are to be believed.
 * @throws {WalkError} where nothing is shown of what was before; where the day with records before it shows none any more, nor
 * anything behind that, and was not seen when it was as old as this one is, or was when it first showed nothing.
 */
export async function refuseForgotten(context: WindowContext, records: number): Promise<void> {
  const { database, knowledge, window } = context;
  const { day, kind, proven } = window;
  if (proven) return;
  const held = records > 0 ? 0 : await countHeldBefore(database, window, knowledge.streamId);
  if (held > 0 && (await showsNothing(context, window)))
    throw contradicted(
      `this window shows nothing any more, and showed ${counted(held, 'record')} before it was proven: its source may have forgotten it`,
      'If they are gone for good: daywalk accept.',
    );
  // Of one that was split its parts hold them.
  if (held > 0 && window.splitBy === null)
    throw contradicted('it was empty, and asked again it shows records');
  if (kind !== 'day') return;
  // Where nothing older is known, an empty day was forgotten before a younger one was.
  const before = await readShownBefore(database, knowledge.streamId, day, records === 0);
  if (before === null || before.accepted) return;
  if (records > 0 ? before.seenAsOld : before.keptThatLong) return;
  if (!(await showsNothingOlder(context, before))) return;
  throw contradicted(
    `the source shows nothing before this day any more, and ${before.day} held records: it may have forgotten ${records > 0 ? 'a part of this day' : 'this day'}, too`,
    `If this day had no ${records > 0 ? 'other ' : ''}events: daywalk accept.`,
  );
}

/** Of days that may not be asked for at once, the newer half is asked. */
async function showsNothingBetween(context: WindowContext, from: Day, to: Day): Promise<boolean> {
  const span = daysOf(from, to);
  const newer = daysBetween(from, to);
  if (newer.length > 1 && (await orNull(question(context, span, 0, 2))) === null)
    return showsNothingBetween(context, newer[Math.ceil(newer.length / 2)] ?? to, to);
  return showsNothing(context, span);
}

/**
 * Asked as often as an answer without records must come to be believed, each time for another length, so that no cache answers.
 * Where the span and its first minutes are both refused it is too old, and not shown. Of what may be too much, or is refused alone, parts
 * are asked for: one that cannot be had says nothing.
 * @throws {PageFailedError} where neither it nor its beginning can be had.
 */
export async function showsNothing(context: WindowContext, span: Span): Promise<boolean> {
  const { repeats, hidesMuch } = context.knowledge;
  let shown: boolean | Error = false;
  for (let time = 0; time < repeats && shown === false; time += 1)
    shown = await shows(context, span, 2 + time);
  if (shown === true) return false;
  if (isNoAnswer(shown) && !(shown instanceof RequestError)) throw shown;
  if (shown !== false) {
    const beginning = await shows(context, beginningOf(span), 2);
    if (beginning === true) return false;
    if (beginning instanceof RequestError) return true;
    if (beginning !== false) throw beginning;
  }
  if (hidesMuch || shown !== false)
    for (const part of partsOf(span, hidesMuch))
      if ((await shows(context, { ...span, ...part }, 2)) !== false) return false;
  return true;
}
