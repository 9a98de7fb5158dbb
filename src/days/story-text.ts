/** The story of a day in sentences: a pure function of its rows. */

import type { Claim, Proof, Span } from '../model.ts';
import { counted, formatBytes, formatCount, linesOf, utcSecond } from '../text.ts';
import { DAY_STATE_WORDS } from './day-states.ts';
import { acceptHint, GAP_WORDS, mendingOf } from './gaps.ts';
import { describeRestless } from './gone.ts';
import type { DayStory, PublicationStory, WalkStory, WindowStory } from './story-rows.ts';

/** All that is known about the day, window by window, and what is to be done. */
export function describeStory(story: DayStory): string[] {
  const { stream, day } = story;
  return linesOf(
    `${stream} ${day}: ${dayWords(story)}${storedText(story)}.`,
    story.windows.length === 0 && `  ${nothingPlanned(story)}`,
    story.windows.flatMap((window) => describeWindow(story, window)),
    story.publications.slice(1).map(publicationText),
    story.restless && `  ${describeRestless(story.stream)}.`,
    ledgerText(story),
    endText(story),
  );
}

/** How the day stands, in words. */
export function dayWords({ standing, closed, closesAt, records }: DayStory): string {
  if (standing === 'pruned') return standing;
  if (standing === 'complete') return DAY_STATE_WORDS[records === 0 ? 'empty' : 'complete'];
  if (standing === 'running' || standing === 'failed') return DAY_STATE_WORDS[standing];
  return !closed && closesAt !== null ? DAY_STATE_WORDS.open : GAP_WORDS[standing];
}

/** The command that mends the day; null: nothing is wrong with it, or time will mend it. */
export function mendingCommand(story: DayStory): string | null {
  const { state, closed, day } = story;
  const isWrong = closed && !['pruned', 'tiered', 'complete', 'running'].includes(state);
  return isWrong ? mendingOf({ ...story, from: day, to: day }) : null;
}

function storedText({ pruning, records, gone, pages, bytes, retiredSince }: DayStory): string {
  if (pruning !== null && pruning.place !== null)
    return `, ${counted(records, 'record')}; moved to ${pruning.place} at ${utcSecond(pruning.prunedAt)}: ${pruning.eventsKey}, and its pages ${pruning.pagesKey}`;
  if (pruning !== null)
    return ` at ${utcSecond(pruning.prunedAt)} by ${pruning.prunedBy}: ${counted(pruning.records, 'record')} on ${counted(pruning.pages, 'page')} (${formatBytes(pruning.bytes)}) are not kept any more`;
  if (pages === 0) return ', the views show nothing of it';
  const lost =
    gone === 0 ? '' : `, of which the source does not show ${formatCount(gone)} any more`;
  const forgotten =
    retiredSince === null
      ? ''
      : `; the source has forgotten the day, as was seen at ${utcSecond(retiredSince)}`;
  return `, ${counted(records, 'record')} on ${counted(pages, 'page')} (${formatBytes(bytes)})${lost}${forgotten}`;
}

function nothingPlanned({ closesAt, closed }: DayStory): string {
  if (closesAt === null) return 'This stream has not been exported yet.';
  if (!closed) return `The day is not closed: it is planned from ${utcSecond(closesAt)} on.`;
  return 'No window of this day was ever planned: the schedule does not want it (since, until), or no run has come by yet.';
}

function describeWindow(story: DayStory, window: WindowStory): string[] {
  const depth = depthOf(story, window);
  const indent = '  '.repeat(1 + depth);
  return linesOf(
    `${indent}${windowName(window)}: ${windowState(window)}`,
    window.walks.flatMap((walk) => describeWalk(walk, window, `${indent}  `)),
    window.proof !== null && window.splitBy !== null && `${indent}  ${describeProof(window.proof)}`,
    trouble(window).map((line) => `${indent}  ${line}`),
  );
}

/** How many splits above a window. */
function depthOf(story: DayStory, window: WindowStory): number {
  const parent = story.windows.find(({ windowId }) => windowId === window.splitFrom);
  return parent === undefined ? 0 : 1 + depthOf(story, parent);
}

/** A window in words. */
function windowName(window: Span & Pick<WindowStory, 'kind'>): string {
  const { kind, from, to, levelFrom, levelTo } = window;
  const levels =
    levelFrom === null && levelTo === null
      ? ''
      : `, rule levels ${levelFrom ?? 'lowest'} to ${levelTo ?? 'highest'}`;
  const span = `${from.slice(11)} to ${to.slice(11)}${levels}`;
  if (kind === 'cut') return `Cut between ${from} and ${to.slice(11)}${levels}`;
  return kind === 'part' ? `Part, ${span}` : `Day, ${span}`;
}

function windowState(window: WindowStory): string {
  const { state, owner, provenAt, lookedAt, looks, splitBy, splitReason, splitTotal } = window;
  const running = owner === null ? '' : `; ${owner} walks it now`;
  if (state === 'split') {
    const total = splitTotal === null ? '' : `; the total said ${counted(splitTotal, 'record')}`;
    return `split by ${splitBy}, because ${splitReason}${total}${running}.`;
  }
  if (state === 'complete') {
    const looked =
      looks === 0 || lookedAt === null
        ? ', not looked at again yet'
        : `; looked at ${counted(looks, 'time')} since, last at ${utcSecond(lookedAt)}, and found the same`;
    const parts =
      splitBy === null ? '' : `; proven by its parts, split by ${splitBy}, because ${splitReason}`;
    return `complete${provenAt === null ? '' : ` since ${utcSecond(provenAt)}`}${looked}${parts}${running}.`;
  }
  if (state === 'replaced') return 'replaced: something else stands for it now.';
  return `${state}${running}.`;
}

function describeWalk(walk: WalkStory, window: WindowStory, indent: string): string[] {
  const totals =
    walk.firstTotal === null && walk.lastTotal === null
      ? 'no total'
      : `total ${count(walk.firstTotal)} first, ${count(walk.lastTotal)} last`;
  // Requests beyond one for each page are counted when a walk ends.
  const requests = counted(Math.max(walk.requests, walk.pages), 'request');
  const isProof = [window.proof?.walk, window.proof?.across].includes(walk.walkId);
  return linesOf(
    `${indent}Walk ${walk.number}${roleText(walk)}: ${counted(walk.records, 'record')} on ${counted(walk.pages, 'page')} of at most ${formatCount(walk.pageLength)}, ${requests}, ${totals}; ${outcomeText(walk, window)}.`,
    isProof && window.proof !== null && `${indent}  ${describeProof(window.proof)}`,
    walk.claims.length > 0 &&
      `${indent}  ${counted(walk.claims.length, 'other answer')} besides: ${walk.claims.slice(0, MOST_CLAIMS).map(claimText).join('; ')}.`,
    walk.quarantined > 0 &&
      `${indent}  jsonb cannot hold ${counted(walk.quarantined, 'page')} of it (${walk.quarantine.join(', ')}): the exact bytes are kept beside a changed copy; see daywalk.quarantine.`,
  );
}

/** The proof and its evidence, in a sentence. */
const describeProof = ({ kind, rule, why }: Proof): string =>
  `Proof by ${kind} (docs/completeness.md ${rule}): ${why}.`;

/** So many answers are told. */
const MOST_CLAIMS = 5;

function claimText({ start, length, came, total, lowerBound, more }: Claim): string {
  const told =
    total === null ? '' : `, total ${lowerBound ? 'at least ' : ''}${formatCount(total)}`;
  return `from ${formatCount(start)} on ${formatCount(came)} came of ${formatCount(length)} asked for${told}${more ? ', and more' : ''}`;
}

function roleText({ role, from, to }: WalkStory): string {
  if (role === 'whole') return '';
  const what = role === 'half' ? ', to compare with the whole' : ` ${role} it`;
  return `${what}, ${from} to ${to.slice(11)}`;
}

function outcomeText(walk: WalkStory, { owner }: WindowStory): string {
  const reason = walk.reason === null ? '' : `: ${walk.reason}`;
  switch (walk.outcome) {
    case null:
      return owner === null
        ? `begun at ${utcSecond(walk.startedAt)}, and not at its end: the next run goes on with it`
        : `in progress since ${utcSecond(walk.startedAt)}`;
    case 'proven':
      return `proven; ${shownText(walk)}`;
    case 'ended':
      return 'it came to its end, and serves as evidence';
    case 'shifted':
      return `thrown away, because the list moved under it${reason}`;
    case 'failed':
      return `failed${reason}`;
  }
}

function shownText({ shown, shownRecords, records, pruned }: WalkStory): string {
  if (pruned) return 'its pages are not kept here any more';
  if (shown === 'no') return 'it shows nothing that was not shown before';
  if (shownRecords === records) return 'the views show it';
  return `the views show ${formatCount(shownRecords)} of its records`;
}

function publicationText({ publishedAt, records, appeared, gone }: PublicationStory): string {
  if (records === 0) return `  At ${utcSecond(publishedAt)} nothing of it was shown here any more.`;
  const found = linesOf(
    appeared > 0 && `${counted(appeared, 'record')} more`,
    gone > 0 && `${counted(gone, 'record')} gone from the source, and kept`,
  );
  return `  At ${utcSecond(publishedAt)} what is shown changed${found.length === 0 ? '' : `, ${found.join(' and ')}`}: ${counted(records, 'record')}.`;
}

function trouble(window: WindowStory): string[] {
  const { attempts, failures, lastError, lastFailedAt, dueAt, state, rewalk, owner } = window;
  const due = dueAt === null ? 'not until it is asked for' : `from ${utcSecond(dueAt)} on`;
  return linesOf(
    lastError !== null &&
      `Failed ${counted(failures, 'time')}, last at ${lastFailedAt === null ? 'an unknown time' : utcSecond(lastFailedAt)}: ${lastError}`,
    owner === null &&
      attempts > 1 &&
      `Taken by workers ${counted(attempts, 'time')} without a new page.`,
    rewalk && 'It was asked to be walked again.',
    (state === 'pending' || state === 'failed') && `Walked next: ${due}.`,
    state === 'complete' && dueAt !== null && !rewalk && `Looked at again: ${due}.`,
  );
}

function ledgerText({ ledger, state }: DayStory): string | false {
  if (ledger === null)
    return state === 'complete' && '  Not in the ledger yet; the next run puts it there.';
  const revision = ledger.revision === 1 ? '' : `, revision ${ledger.revision} of the day`;
  return `  In the ledger as entry ${ledger.entry}${revision}, ${utcSecond(ledger.appendedAt)}: ${ledger.digest}`;
}

function endText(story: DayStory): string | false {
  if (story.state === 'complete')
    return `Nothing is to be done. To walk it again all the same: daywalk backfill --from ${story.day} --to ${story.day} --only all --stream ${story.stream}`;
  if (story.state === 'tiered')
    return `To bring it back: daywalk tier --restore --from ${story.day} --to ${story.day} --stream ${story.stream}`;
  if (story.state === 'running') return 'It is being walked now.';
  const command = mendingCommand(story);
  if (command === null) return false;
  const hint = acceptHint(story.lastError);
  if (hint !== null) return hint.replace('daywalk accept', command);
  return story.standing === 'begun'
    ? `What is stored is kept; the next run goes on with it. To go on now: ${command}`
    : `To walk it now: ${command}`;
}

const count = (value: number | null): string => (value === null ? 'none' : formatCount(value));
