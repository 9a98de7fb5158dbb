/** The story of a day in sentences: a pure function of its rows. */
import type { DayStory, DifferenceStory, WalkStory, WindowStory } from '../store/story.ts';
import { counted, formatBytes, formatCount } from './format.ts';
import { describeProof } from './proof-text.ts';

/** All that is known about the day, window by window, and what is to be done. */
export function describeStory(story: DayStory): string[] {
  const { stream, day, state } = story;
  return [
    `${stream} ${day}: ${state}${storedText(story)}.`,
    ...(story.windows.length === 0 ? [`  ${nothingPlanned(story)}`] : []),
    ...story.windows.flatMap((window) => describeWindow(story, window)),
    ...ledgerText(story),
    ...endText(story),
  ];
}

/** The command that mends the day; null: nothing is wrong with it, or time will mend it. */
export function mendingCommand(story: DayStory): string | null {
  if (
    story.state === 'pruned' ||
    story.state === 'complete' ||
    story.state === 'running' ||
    !story.closed
  )
    return null;
  return `daywalk backfill --from ${story.day} --to ${story.day} --stream ${story.stream}`;
}

function storedText({ pruning, records, pages, bytes }: DayStory): string {
  if (pruning !== null)
    return ` at ${second(pruning.prunedAt)} by ${pruning.prunedBy}: ${counted(pruning.records, 'record')} on ${counted(pruning.pages, 'page')} (${formatBytes(pruning.bytes)}) are not kept any more`;
  if (pages === 0) return ', nothing is shown of it';
  return `, ${counted(records, 'record')} on ${counted(pages, 'page')} (${formatBytes(bytes)})`;
}

function nothingPlanned({ closesAt, closed }: DayStory): string {
  if (closesAt === null) return 'This stream has not been exported yet.';
  if (!closed) return `The day is not closed: it is planned from ${second(closesAt)} on.`;
  return 'No window of this day was ever planned: it is before the first day of the schedule, or no run has come by since.';
}

function describeWindow(story: DayStory, window: WindowStory): string[] {
  const depth = depthOf(story, window);
  const indent = '  '.repeat(1 + depth);
  return [
    `${indent}${windowName(window)}: ${windowState(window)}`,
    ...window.walks.flatMap((walk) => describeWalk(walk, `${indent}  `)),
    ...window.differences.map((difference) => `${indent}  ${differenceText(window, difference)}`),
    ...trouble(window).map((line) => `${indent}  ${line}`),
  ];
}

/** How many splits above a window. */
function depthOf(story: DayStory, window: WindowStory): number {
  const parent = story.windows.find(({ windowId }) => windowId === window.splitFrom);
  return parent === undefined ? 0 : 1 + depthOf(story, parent);
}

function windowName({ kind, from, to, levelFrom, levelTo }: WindowStory): string {
  const levels =
    levelFrom === null && levelTo === null
      ? ''
      : `, rule levels ${levelFrom ?? 'lowest'} to ${levelTo ?? 'highest'}`;
  const span = `${from.slice(11)} to ${to.slice(11)}${levels}`;
  if (kind === 'seam') return `Seam to the next day, ${span}`;
  return kind === 'part' ? `Part, ${span}` : `Day, ${span}`;
}

function windowState(window: WindowStory): string {
  const { state, owner, completedAt, checkedAt, splitBy, splitReason, splitTotal } = window;
  const running = owner === null ? '' : `; ${owner} walks it now`;
  if (state === 'split') {
    const total =
      splitTotal === null ? '' : `; its parts must hold ${counted(splitTotal, 'record')}`;
    return `split by ${splitBy}, because ${splitReason}${total}${running}.`;
  }
  if (state === 'complete') {
    const checked =
      checkedAt === null || completedAt === null || checkedAt <= completedAt
        ? ''
        : `; the source was seen to be the same at ${second(checkedAt)}`;
    return `complete${completedAt === null ? '' : ` since ${second(completedAt)}`}${checked}${running}.`;
  }
  return `${state}${running}.`;
}

function describeWalk(walk: WalkStory, indent: string): string[] {
  const span = walk.span === 'whole' ? '' : ` of the ${spanWord(walk.span)}`;
  const totals =
    walk.firstTotal === null && walk.lastTotal === null
      ? 'no total'
      : `total ${count(walk.firstTotal)} first, ${count(walk.lastTotal)} last`;
  return [
    `${indent}Walk ${walk.number}${span}: ${counted(walk.records, 'record')} on ${counted(walk.pages, 'page')} of at most ${formatCount(walk.pageLength)}, ${requestsText(walk)}, ${totals}; ${outcomeText(walk)}.`,
    ...(walk.proof === null ? [] : [`${indent}  ${describeProof(walk.proof)}`]),
    ...(walk.published && walk.hidden > 0
      ? [
          `${indent}  ${counted(walk.hidden, 'record')} of it ${walk.hidden === 1 ? 'is' : 'are'} left out of the views, because another window shows ${walk.hidden === 1 ? 'it' : 'them'}.`,
        ]
      : []),
    ...(walk.quarantined > 0
      ? [
          `${indent}  jsonb cannot hold ${counted(walk.quarantined, 'page')} of it (${walk.quarantine.join(', ')}): the exact bytes are kept beside a changed copy; see daywalk.quarantine.`,
        ]
      : []),
  ];
}

/** Requests beyond one for each page are counted when a walk ends. */
function requestsText({ requests, pages }: WalkStory): string {
  const most = Math.max(requests, pages);
  return `${formatCount(most)} request${most === 1 ? '' : 's'}`;
}

const spanWord = (span: WalkStory['span']): string =>
  span === 'next day' ? 'second that belongs to the next day' : span;

function outcomeText(walk: WalkStory): string {
  const reason = walk.reason === null ? '' : `: ${walk.reason}`;
  switch (walk.outcome) {
    case null:
      return `in progress since ${second(walk.startedAt)}`;
    case 'proven':
      return walk.published
        ? 'proven, and shown in the views'
        : 'proven, and replaced by a later walk';
    case 'ended':
      return 'it came to its end, and serves as evidence for another walk';
    case 'shifted':
      return `thrown away, because the list moved under it${reason}`;
    case 'failed':
      return `failed${reason}`;
  }
}

function differenceText(window: WindowStory, difference: DifferenceStory): string {
  const walk = window.walks.find(({ walkId }) => walkId === difference.walkId);
  const by = walk === undefined ? 'a later walk' : `walk ${walk.number}`;
  const found = [
    difference.appeared === 0 ? '' : `${counted(difference.appeared, 'record')} more`,
    difference.vanished === 0 ? '' : `${counted(difference.vanished, 'record')} missing`,
  ].filter((text) => text !== '');
  return `At ${second(difference.foundAt)}, ${difference.afterHours.toFixed(1)} hours after the day had closed, ${by} found ${found.join(' and ')}.`;
}

function trouble(window: WindowStory): string[] {
  const { attempts, failures, lastError, lastFailedAt, dueAt, state, rewalk, owner } = window;
  const due = dueAt === null ? 'not until it is asked for' : `from ${second(dueAt)} on`;
  return [
    lastError === null
      ? ''
      : `Failed ${counted(failures, 'time')}, last at ${lastFailedAt === null ? 'an unknown time' : second(lastFailedAt)}: ${lastError}`,
    owner === null && attempts > 1
      ? `Claimed ${counted(attempts, 'time')} since a page of it was stored.`
      : '',
    rewalk ? 'It was asked to be walked again.' : '',
    state === 'pending' || state === 'failed' ? `Walked next: ${due}.` : '',
    state === 'complete' && dueAt !== null && !rewalk ? `Looked at again: ${due}.` : '',
  ].filter((line) => line !== '');
}

function ledgerText({ ledger, state }: DayStory): string[] {
  if (ledger === null)
    return state === 'complete' ? ['  Not in the ledger yet; the next run puts it there.'] : [];
  const revision = ledger.revision === 1 ? '' : `, revision ${ledger.revision} of the day`;
  return [
    `  In the ledger as entry ${ledger.entry}${revision}, ${second(ledger.appendedAt)}: ${ledger.digest}`,
  ];
}

function endText(story: DayStory): string[] {
  if (story.state === 'complete')
    return [
      `Nothing is to be done. To walk it again all the same: daywalk backfill --from ${story.day} --to ${story.day} --only all --stream ${story.stream}`,
    ];
  if (story.state === 'running') return ['It is being walked now.'];
  const command = mendingCommand(story);
  return command === null ? [] : [`To walk it now: ${command}`];
}

const count = (value: number | null): string => (value === null ? 'none' : formatCount(value));

const second = (instant: Date): string =>
  `${instant.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
