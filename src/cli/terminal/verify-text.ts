/** What a verification found, in sentences and as documents. */

import type { LedgerProblem } from '../../ledger/rows.ts';
import type { WindowVerdict } from '../../ledger/verify-source.ts';
import type { StoredFinding, StoredReport } from '../../ledger/verify-stored.ts';
import { counted, formatBytes, formatCount, formatDuration } from '../../text.ts';
import type { TierCheck } from '../../tier/check-days.ts';
import type { MovedDay } from '../../tier/rows.ts';

/** So many findings are listed in text; `--json` has all. */
const MOST_LINES = 50;

/** The command that walks the days of a window again. */
export function walkAgainCommand({ stream, day }: { stream: string; day: string }): string {
  return `daywalk backfill --from ${day} --to ${day} --only all --stream ${stream}`;
}

/** One line for each window that differs, with the command that walks it again, and a line for all. */
export function describeVerdicts(verdicts: readonly WindowVerdict[], elapsedMs: number): string[] {
  if (verdicts.length === 0)
    return [
      'Nothing to compare: no window is complete there. `daywalk gaps` lists what is missing.',
    ];
  const of = (state: WindowVerdict['state']) =>
    verdicts.filter((verdict) => verdict.state === state).length;
  const [same, changed, unknown] = [of('same'), of('changed'), of('unknown')];
  const compared = verdicts.some((verdict) => verdict.records !== undefined)
    ? `${formatCount(verdicts.reduce((sum, { records }) => sum + (records?.pages ?? 0), 0))} pages fetched`
    : 'one request each, so a change in the middle that keeps total and last record is seen by --deep only';
  const lines = verdicts.filter(
    ({ state, differences }) => state !== 'same' || differences.length > 0,
  );
  return [
    ...shortened(lines.flatMap(describeVerdict)),
    `${counted(verdicts.length, 'window')} compared in ${formatDuration(elapsedMs)} (${compared}): ${formatCount(same)} same, ${formatCount(changed)} changed${unknown === 0 ? '' : `, ${formatCount(unknown)} not answered`}.`,
  ];
}

function describeVerdict(verdict: WindowVerdict): string[] {
  const { window, state, records } = verdict;
  const details = [...recordsText(records), ...verdict.differences].join('; ');
  const word = state === 'unknown' ? 'not answered' : state;
  return [
    `${window.stream} ${window.from} to ${window.to}: ${word}: ${details}`,
    ...(state === 'changed' ? [`  ${walkAgainCommand(window)}`] : []),
  ];
}

function recordsText(records: WindowVerdict['records']): string[] {
  if (records === undefined) return [];
  const places = (found: readonly number[], all: number) =>
    `${found.join(', ')}${all > found.length ? ', …' : ''}`;
  return [
    records.vanished === 0
      ? ''
      : `${counted(records.vanished, 'record')} vanished, stored at ${places(records.vanishedAt, records.vanished)}`,
    records.appeared === 0
      ? ''
      : `${counted(records.appeared, 'record')} appeared, shown at ${places(records.appearedAt, records.appeared)}`,
  ].filter((text) => text !== '');
}

/** The comparison for programs. */
export function verdictDocument(verdicts: readonly WindowVerdict[], elapsedMs: number): unknown {
  const of = (state: WindowVerdict['state']) =>
    verdicts.filter((verdict) => verdict.state === state).length;
  return {
    windows: verdicts.length,
    same: of('same'),
    changed: of('changed'),
    unknown: of('unknown'),
    elapsedMs: Math.round(elapsedMs),
    verdicts: verdicts.map(({ window: { walks, ...window }, ...verdict }) => ({
      ...window,
      ...verdict,
      walks: walks.map((walk) => walk.walkId),
      ...(verdict.state === 'changed' ? { command: walkAgainCommand(window) } : {}),
    })),
  };
}

/** Whether everything stored is what was stored. */
export const isSound = (report: StoredReport, tier: TierCheck | null): boolean =>
  report.findings.length === 0 && report.ledger.length === 0 && (tier?.findings.length ?? 0) === 0;

/** One line for each finding, the speed, and the ends of the chains. */
export function describeStored(report: StoredReport): string[] {
  const { walks, pages, bytes, elapsedMs, unsealedPages, prunedWalks, findings, ledger, heads } =
    report;
  const speed = elapsedMs === 0 ? 0 : (bytes / elapsedMs) * 1000;
  const volume = `${counted(pages, 'page')} of ${counted(walks, 'walk')}, ${formatBytes(bytes)} in ${formatDuration(elapsedMs)}, ${formatBytes(speed)}/s`;
  const days = [...new Set(findings.map(walkAgainCommand))];
  return [
    ...shortened(findings.map(describeFinding)),
    ...shortened(ledger.map(describeLedger)),
    ...(findings.length === 0
      ? []
      : ['Walked again, a day is as the source shows it now; what was changed stays as evidence:']),
    ...shortened(days).map((command) => `  ${command}`),
    isSound(report, null)
      ? `Everything stored is what was stored: ${volume}.`
      : `${counted(findings.length + ledger.length, 'finding')}: ${volume}.`,
    ...(unsealedPages === 0
      ? []
      : [
          `${counted(unsealedPages, 'page')} of days that are not in the ledger yet: compared with fast hashes only. The next run seals complete days.`,
        ]),
    ...(prunedWalks === 0
      ? []
      : [
          `${counted(prunedWalks, 'walk')} pruned: their pages are gone, and what the ledger says of them was checked.`,
        ]),
    ...heads.map(
      ({ stream, entries, digest }) => `ledger of ${stream}: entry ${entries}, digest ${digest}`,
    ),
    ...(heads.length === 0
      ? []
      : ['Keep these digests elsewhere: who can write the whole database can rebuild the chain.']),
  ];
}

function describeFinding({ stream, day, walkId, pageNo, shown, problem }: StoredFinding): string {
  const where = `${stream} ${day} walk ${walkId}${pageNo === null ? '' : ` page ${pageNo}`}`;
  return `${where}: ${problem}${shown ? '' : ' (an earlier walk, not shown any more)'}`;
}

function describeLedger({ stream, entry, day, problem }: LedgerProblem): string {
  return `ledger of ${stream}, ${entry === null ? 'no entry' : `entry ${entry}`} (${day}): ${problem}`;
}

/** What was found of the days that moved. */
export function describeTier(moved: readonly MovedDay[], tier: TierCheck | null): string[] {
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
export function storedDocument(report: StoredReport, tier: TierCheck | null) {
  const { bytes, elapsedMs } = report;
  return {
    sound: isSound(report, tier),
    ...report,
    elapsedMs: Math.round(elapsedMs),
    bytesPerSecond: elapsedMs === 0 ? 0 : Math.round((bytes / elapsedMs) * 1000),
  };
}

function shortened(lines: readonly string[]): string[] {
  if (lines.length <= MOST_LINES) return [...lines];
  return [
    ...lines.slice(0, MOST_LINES),
    `… and ${lines.length - MOST_LINES} more; --json has all.`,
  ];
}
