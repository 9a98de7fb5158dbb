/** A proven walk is published, and teaches what it shows of the source. */
import type { Proof } from '../model.ts';
import { secondsOf } from '../plan/split.ts';
import type { LeasedWindow } from '../store/leases.ts';
import { BrokenChainError, discardWalk, proveWindow } from '../store/walks.ts';
import type { WalkToPublish, WindowContext, WindowEnd } from './context.ts';
import { refuseForgotten } from './forgotten.ts';
import { calibrate } from './questions.ts';
import { spanOf } from './span.ts';
import { LEAST_CAP } from './verdict.ts';

/**
 * Publishes a walk.
 * @param requests requests that are not noted with the walk yet.
 * @returns null: its pages are not those that were walked, so it proves nothing.
 */
export async function publish(
  context: WindowContext,
  window: LeasedWindow,
  walk: WalkToPublish,
  proof: Proof,
  requests: number,
): Promise<WindowEnd | null> {
  const { database, knowledge } = context;
  await refuseForgotten(context, window, walk.stored);
  await context.checkKnown({ except: [window.day] });
  try {
    const { walkId, stored: nextStart, pages, claims } = walk;
    await proveWindow(database, window, { walkId, nextStart, pages }, proof, claims, requests);
  } catch (error) {
    if (!(error instanceof BrokenChainError)) throw error;
    context.log.error({ err: error, window: window.from }, 'a walk is discarded');
    await discardWalk(database, window, walk.walkId, error.message, requests);
    return null;
  }
  if (window.levelFrom === null && window.levelTo === null)
    knowledge.proved(walk.stored, secondsOf(window));
  await learnFrom(context, window, walk, proof);
  return { kind: 'complete', proof };
}

/** What a proof teaches of the source. */
async function learnFrom(
  context: WindowContext,
  window: LeasedWindow,
  walk: WalkToPublish,
  proof: Proof,
): Promise<void> {
  const { knowledge } = context;
  const span = `${window.from} to ${window.to}`;
  const { provenSize, calibrated } = knowledge.learned;
  if ((proof.kind === 'halves' || proof.summed) && walk.stored > provenSize)
    await knowledge.learn(
      'proven_size',
      walk.stored,
      `the halves of ${span} ${proof.summed ? 'tell' : 'hold'} what the whole does`,
    );
  const totals = walk.heard.flatMap(({ total }) => total ?? []);
  // The newest one: those before it may have told less than there is now.
  const low = totals.at(-1) ?? walk.stored;
  if (low < walk.stored && calibrated > 0 && low >= LEAST_CAP)
    await knowledge.learnLowerBound(
      low,
      `${span} told ${low}, and ${walk.stored} records were proven`,
    );
  if (proof.kind === 'total') return;
  if (calibrated === 0 || walk.stored > calibrated) await calibrate(context, spanOf(window), walk);
}
