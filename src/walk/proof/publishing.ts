/** A proven walk is published, and teaches what it shows of the source. */
import { WalkError } from '../../errors.ts';
import type { Proof } from '../../model.ts';
import { secondsOf } from '../../plan/split.ts';
import {
  BrokenChainError,
  discardWalk,
  endWalk,
  proveCut,
  proveWindow,
  readWithheld,
  type WalkedSoFar,
} from '../../store/walks.ts';
import type { WalkToPublish, WindowContext, WindowEnd } from '../questions/context.ts';
import { question } from '../questions/questions.ts';
import { textOf } from '../questions/span.ts';
import { LEAST_CAP } from '../rules/verdict.ts';
import { refuseOtherDays } from './contradictions.ts';
import { asOldest, mayBeForgotten, refuseForgotten } from './forgotten.ts';

/**
 * Publishes a walk. One that was not believed before a person accepted the source is published in its place where it holds
 * more: the source may have forgotten records meanwhile.
 * @returns null: its pages are not those that were walked, so it proves nothing.
 */
export async function publish(
  context: WindowContext,
  walk: WalkToPublish,
  proof: Proof,
): Promise<WindowEnd | null> {
  const { database, knowledge, window } = context;
  const { walkId, stored, pages } = walk;
  let isOwn = false;
  try {
    await refuseOtherDays(context, walk);
    isOwn = true;
    await refuseForgotten(context, stored);
    await context.known.check({ except: [window.day] });
  } catch (error) {
    if (!(error instanceof WalkError)) throw error;
    const outcome = isOwn ? 'ended' : 'failed';
    const [reason, end] = isOwn ? [null, { withheld: proof }] : [error.message, null];
    await endWalk(database, window, walkId, { outcome, reason, end });
    throw error;
  }
  const fuller =
    window.walked && !window.proven ? await readWithheld(database, window, walkId) : null;
  const withheld = fuller !== null && (await mayBeForgotten(context)) ? fuller : null;
  const newest = { walkId, nextStart: stored, pages };
  const shown = withheld ?? { ...newest, proof: await asOldest(context, proof) };
  // What it lacks by now may stand where dates have come to hide it. First: a process that is killed behind the proof has doubted it.
  if (stored < (window.held ?? 0)) await knowledge.doubtNothingHidden();
  const end = await prove(context, shown, shown.proof);
  if (end === null || withheld !== null) return end;
  if (window.levelFrom === null && window.levelTo === null)
    knowledge.proved(stored, secondsOf(window));
  await learnFrom(context, walk, proof);
  return end;
}

/**
 * Proves a window by a walk and those that its proof names, or a cut by these alone.
 * @returns null: their pages are not those that were walked, so they prove nothing, and are discarded.
 */
export async function prove(
  { database, log, window }: WindowContext,
  walk: WalkedSoFar | null,
  proof: Proof,
): Promise<WindowEnd | null> {
  try {
    if (walk === null) await proveCut(database, window, proof);
    else await proveWindow(database, window, walk, proof);
  } catch (error) {
    if (!(error instanceof BrokenChainError)) throw error;
    // A failover took some of them away; what is left of them is of another state of the source.
    log.error(
      { err: error, window: window.from },
      'a walk is thrown away, and its window is walked again',
    );
    const { across, before, after, unites = [] } = proof;
    for (const walkId of [walk?.walkId, across, before, after, ...unites])
      if (typeof walkId === 'number') await discardWalk(database, window, walkId, error.message);
    return null;
  }
  return { kind: 'complete', proof };
}

/** Whether its halves have shown that a window is whole. */
const isHalved = ({ kind, summed }: Proof): boolean => kind === 'halves' || summed === true;

/** What a proof teaches of the source. */
async function learnFrom(context: WindowContext, walk: WalkToPublish, proof: Proof): Promise<void> {
  const { knowledge, window } = context;
  const span = textOf(window);
  const { provenSize, calibrated, cutOtherwise } = knowledge.learned;
  if (cutOtherwise) return;
  const evidence = `the halves of ${span} ${proof.summed ? 'tell' : 'hold'} what the whole does`;
  if (isHalved(proof) && walk.stored > provenSize)
    await knowledge.learn('proven_size', walk.stored, evidence);
  const totals = walk.heard.flatMap(({ total }) => total ?? []);
  // The newest one: those before it may have told less than there is now.
  const low = totals.at(-1) ?? walk.stored;
  if (low < walk.stored && calibrated > 0 && low >= LEAST_CAP)
    await knowledge.learnLowerBound(span, low, `${walk.stored} records were proven`);
  if (proof.kind === 'total') return;
  if (calibrated === 0 || walk.stored > calibrated) await calibrate(context, walk);
}

/**
 * Totals are calibrated by an answer that tells more than it shows, of a window that was proven without them: a total that
 * counts the page, or the records up to its end, fails here.
 */
async function calibrate(context: WindowContext, { stored, heard }: WalkToPublish): Promise<void> {
  const { knowledge, window } = context;
  const told = heard.filter(({ total }) => total !== null);
  if (stored < 2 || told.length === 0 || told.some(({ total }) => total !== stored)) return;
  if (!knowledge.tries.left('calibration')) return;
  const { total, came, lowerBound } = await question(context, window, 0, 1);
  if (total !== stored || came !== 1 || lowerBound) return knowledge.tries.spend('calibration');
  const evidence = `${textOf(window)}: one record told a total of ${total}, which was proven in another way`;
  await knowledge.learn('calibrated', stored, evidence);
}
