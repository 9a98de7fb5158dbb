/** The paper: every case with its rows, in Markdown. */
import type { Case, Outcome, Row } from './case.ts';

/** A case that was run. */
export interface Measured {
  readonly one: Case;
  readonly outcome: Outcome | { readonly failed: string };
  readonly tookMs: number;
}

/** What the paper says besides the cases. */
export interface Circumstances {
  readonly machine: string;
  readonly postgres: string;
  readonly command: string;
  readonly date: string;
  /** What the machine did in a second. */
  readonly yardstick: string;
  /** What got better or worse since the figures before; null: there are none. */
  readonly changes: string | null;
  /** What `bench/profile.md` says; null: it is not there. */
  readonly profile: string | null;
}

const HEAD =
  '| | measured | floor | ratio | target | reached | spread |\n|---|---|---|---|---|---|---|';

/** One row of a table. */
function line(row: Row): string {
  const reached = row.reached === null ? '' : row.reached ? 'yes' : '**no**';
  const spread = row.spread === null ? '' : `${Math.round(row.spread * 100)} %`;
  const ratio = row.ratio === null ? '' : row.ratio.toFixed(2);
  return `| ${[row.what, row.measured, row.floor ?? '', ratio, row.target ?? '', reached, spread].join(' | ')} |`;
}

/** A case's table. */
export const tableOf = (rows: readonly Row[]): string => [HEAD, ...rows.map(line)].join('\n');

/** A case as a section of the paper. */
export function sectionOf({ one, outcome }: Measured): string {
  const title = `## ${one.title}`;
  const command = `\`npm run bench -- --case ${one.name}\``;
  if ('failed' in outcome)
    return [title, one.about, `**It did not come to an end**: ${outcome.failed}`, command].join(
      '\n\n',
    );
  const missed = outcome.rows.some((row) => row.reached === false);
  const words = missed ? one.words.missed : one.words.reached;
  return [title, one.about, tableOf(outcome.rows), words, [...outcome.notes, command].join(' ')]
    .filter((text) => text !== '')
    .join('\n\n');
}

/** The whole paper. */
export function paperOf(measured: readonly Measured[], about: Circumstances): string {
  const rows = measured.flatMap(({ outcome }) => ('failed' in outcome ? [] : outcome.rows));
  const targets = rows.filter((row) => row.reached !== null);
  const reached = targets.filter((row) => row.reached === true);
  const minutes = measured.reduce((sum, { tookMs }) => sum + tookMs, 0) / 60_000;
  return `${[
    '# Performance',
    `Written by \`${about.command}\`, which measures everything on this page anew (${minutes.toFixed(0)} minutes). ${reached.length} of ${targets.length} targets were reached.`,
    [
      `- Machine: ${about.machine}`,
      `- Postgres: ${about.postgres}; worker, source and Postgres on this one machine`,
      `- Date: ${about.date}`,
      `- Yardstick: ${about.yardstick} Targets in milliseconds were set for the machine of \`REFERENCE\` in bench/yardstick.ts and are scaled: × 1.30 on one that is slower by 30 % at what the figure hangs on.`,
      ...(about.changes === null ? [] : [`- ${about.changes}`]),
    ].join('\n'),
    'Figures are medians. A case and its floor are run in turn, so that what slows the machine slows both; the spread is the distance between the fastest and the slowest run as a share of the median, of the case or its floor, whichever is larger; without one there was a single run. A ratio is measured over floor unless the case says otherwise.',
    ...measured.map(sectionOf),
    ...(about.profile === null ? [] : [about.profile.trim()]),
  ].join('\n\n')}\n`;
}
