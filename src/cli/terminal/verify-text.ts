/** What a verification found, in sentences and as documents. */

import type { LedgerProblem } from '../../ledger/rows.ts';
import type { WindowVerdict } from '../../ledger/verify-source.ts';
import type { StoredFinding, StoredReport } from '../../ledger/verify-stored.ts';
import type { MovedDay } from '../../store/moved-days.ts';
import { counted, formatBytes, formatCount, formatDuration, linesOf } from '../../text.ts';
import type { TierCheck } from '../../tier/check-days.ts';
import { daySpans, shortened } from './output.ts';

/** The command that walks the days of a window again; what is in the tier comes back before. */
function walkAgainCommand(window: { stream: string; day: string; place?: string }): string {
  const { stream, day, place } = window;
  const days = `--from ${day} --to ${day}`;
  const back = place === 'tiered' ? `daywalk tier --restore ${days} --stream ${stream} && ` : '';
  return `${back}daywalk backfill ${days} --only all --stream ${stream}`;
}

/** What was compared with the source. */
export interface Comparison {
  readonly verdicts: readonly WindowVerdict[];
  /** Page by page. */
  readonly deep: boolean;
  /** How many complete windows were not compared, because their pages are in the tier, or gone. */
  readonly left: { readonly tiered: number; readonly pruned: number };
  readonly elapsedMs: number;
}

/** One line for each window that differs, with the command that walks it again, and a line for all. */
export function describeVerdicts({ verdicts, deep, left, elapsedMs }: Comparison): string[] {
  const others = linesOf(
    left.tiered > 0 &&
      `${counted(left.tiered, 'window')} in the tier not compared: --deep reads the pages there.`,
    left.pruned > 0 &&
      `${counted(left.pruned, 'window')} pruned, not compared: the pages are gone.`,
  );
  if (verdicts.length === 0 && others.length > 0) return others;
  if (verdicts.length === 0)
    return [
      'Nothing to compare: no window is complete there. `daywalk gaps` lists what is missing.',
    ];
  const { same, changed, unknown } = countStates(verdicts);
  const compared = deep
    ? `${formatCount(verdicts.reduce((sum, { records }) => sum + (records?.pages ?? 0), 0))} pages fetched`
    : 'one request each, so a change in the middle that keeps total and last record is seen by --deep only';
  const lines = verdicts.filter(
    ({ state, differences }) => state !== 'same' || differences.length > 0,
  );
  return [
    ...shortened(lines.flatMap(describeVerdict)),
    `${counted(verdicts.length, 'window')} compared in ${formatDuration(elapsedMs)} (${compared}): ${formatCount(same)} same, ${formatCount(changed)} changed${unknown === 0 ? '' : `, ${formatCount(unknown)} not answered`}.`,
    ...others,
  ];
}

function describeVerdict(verdict: WindowVerdict): string[] {
  const { window, state, records } = verdict;
  const details = [...(records ? recordsText(records) : []), ...verdict.differences].join('; ');
  const word = state === 'unknown' ? 'not answered' : state;
  return linesOf(
    `${window.stream} ${window.from} to ${window.to}: ${word}: ${details}`,
    state === 'changed' && `  ${walkAgainCommand(window)}`,
  );
}

const recordsText = ({ vanished, appeared }: NonNullable<WindowVerdict['records']>): string[] =>
  linesOf(
    vanished > 0 && `${counted(vanished, 'record')} vanished`,
    appeared > 0 && `${counted(appeared, 'record')} appeared`,
  );

function countStates(verdicts: readonly WindowVerdict[]) {
  const of = (state: WindowVerdict['state']) =>
    verdicts.filter((verdict) => verdict.state === state).length;
  return { same: of('same'), changed: of('changed'), unknown: of('unknown') };
}

/** The comparison for programs. */
export function verdictDocument({ verdicts, left, elapsedMs }: Comparison): unknown {
  return {
    windows: verdicts.length,
    ...countStates(verdicts),
    notCompared: left,
    elapsedMs: Math.round(elapsedMs),
    verdicts: verdicts.map(({ window: { walks, place, ...window }, ...verdict }) => ({
      ...window,
      ...verdict,
      walks: walks.map((walk) => walk.walkId),
      ...(verdict.state === 'changed' && { command: walkAgainCommand({ ...window, place }) }),
    })),
  };
}

/** What was checked without the source. */
export interface StoredCheck {
  readonly report: StoredReport;
  /** The days in the tier. */
  readonly moved: readonly MovedDay[];
  /** Null: there are none, or they were not looked at. */
  readonly tier: TierCheck | null;
  /** Days that came back from the tier meanwhile, so that they were looked at nowhere. */
  readonly back: readonly MovedDay[];
}

/** Whether all was looked at, and is what was stored. */
export const isSound = ({ report, moved, tier, back }: StoredCheck): boolean =>
  isAsStored(report) &&
  !isNothing({ report, moved }) &&
  back.length === 0 &&
  (tier === null ? moved.length === 0 : tier.findings.length === 0);

const isNothing = ({ report, moved }: Pick<StoredCheck, 'report' | 'moved'>): boolean =>
  report.walks + report.prunedWalks + moved.length === 0;

const isAsStored = ({ findings, ledger }: StoredReport): boolean =>
  findings.length === 0 && ledger.length === 0;

/** One line for each finding, the speed, and the ends of the chains; then the same of the days that moved. */
export function describeStored(check: StoredCheck): string[] {
  const { report, moved, back } = check;
  const { walks, pages, bytes, elapsedMs, unsealedPages, prunedWalks, findings, ledger, heads } =
    report;
  const speed = elapsedMs === 0 ? 0 : (bytes / elapsedMs) * 1000;
  const volume = `${counted(pages, 'page')} of ${counted(walks, 'walk')}, ${formatBytes(bytes)} in ${formatDuration(elapsedMs)}, ${formatBytes(speed)}/s`;
  const days = [...new Set(findings.map(walkAgainCommand))];
  return linesOf(
    shortened(findings.map(describeFinding)),
    shortened(ledger.map(describeLedger)),
    findings.length > 0 &&
      'Walked again, a day is as the source shows it now; what was changed stays as evidence:',
    shortened(days).map((command) => `  ${command}`),
    isAsStored(report)
      ? isNothing({ report, moved })
        ? 'Nothing is stored there that could be checked.'
        : `Everything stored is what was stored: ${volume}.`
      : `${counted(findings.length + ledger.length, 'finding')}: ${volume}.`,
    unsealedPages > 0 &&
      `${counted(unsealedPages, 'page')} of days that are not in the ledger yet: compared with fast hashes only. The next run seals complete days.`,
    prunedWalks > 0 &&
      `${counted(prunedWalks, 'walk')} pruned: their pages are gone, and what the ledger says of them was checked.`,
    heads.map(
      ({ stream, entries, digest }) => `ledger of ${stream}: entry ${entries}, digest ${digest}`,
    ),
    heads.length > 0 &&
      'Keep these digests elsewhere: who can write the whole database can rebuild the chain.',
    daySpans('came back meanwhile, run it again:', back),
    describeTier(check),
  );
}

function describeFinding({ stream, day, walkId, pageNo, shown, problem }: StoredFinding): string {
  const where = `${stream} ${day} walk ${walkId}${pageNo === null ? '' : ` page ${pageNo}`}`;
  return `${where}: ${problem}${shown ? '' : ' (an earlier walk, not shown any more)'}`;
}

function describeLedger({ stream, entry, day, problem }: LedgerProblem): string {
  return `ledger of ${stream}, ${entry === null ? 'no entry' : `entry ${entry}`} (${day}): ${problem}`;
}

/** What was found of the days that moved. */
function describeTier({ moved, tier }: StoredCheck): string[] {
  if (moved.length === 0) return [];
  if (tier === null) {
    const places = [...new Set(moved.map(({ place }) => place))].join(', ');
    return [`${counted(moved.length, 'day')} in ${places} not checked: tier.url is not set.`];
  }
  const { days, pages, bytes, findings } = tier;
  const volume = `${counted(days, 'day')} in the tier, ${counted(pages, 'page')}, ${formatBytes(bytes)}`;
  return [
    ...shortened(findings.map(({ stream, day, problem }) => `${stream} ${day}: ${problem}`)),
    findings.length === 0
      ? `Everything that moved is what moved: ${volume}.`
      : `${counted(findings.length, 'finding')}: ${volume}.`,
  ];
}

/** The check for programs. */
export function storedDocument(check: StoredCheck) {
  const { report, moved, tier, back } = check;
  const { bytes, elapsedMs } = report;
  return {
    sound: isSound(check),
    ...report,
    elapsedMs: Math.round(elapsedMs),
    bytesPerSecond: elapsedMs === 0 ? 0 : Math.round((bytes / elapsedMs) * 1000),
    tieredDays: moved.length,
    tier,
    cameBack: back.map(({ stream, day }) => ({ stream, day })),
  };
}
