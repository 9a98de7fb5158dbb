/** What `npm run containers` found, as a table in docs/docker.md. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../docs/markdown.ts';

/** One line of the table. */
export interface Figure {
  readonly tried: string;
  readonly found: string;
}

/** Where they are gathered, below the folder of the run. */
export const FIGURES = 'figures.jsonl';

const PAGE = join(ROOT, 'docs/docker.md');
const MARK = '<!-- containers -->\n';

/** A table in Markdown. */
export const tableOf = (figures: readonly Figure[]): string =>
  [
    '| tried | found |',
    '|---|---|',
    ...figures.map(({ tried, found }) => `| ${tried} | ${found} |`),
  ]
    .map((line) => `${line}\n`)
    .join('');

/** Puts the table between its marks. */
export function writeFigures(table: string): void {
  const [before, , after] = readFileSync(PAGE, 'utf8').split(MARK);
  if (after === undefined) throw new Error(`${PAGE} has no two marks ${MARK}`);
  writeFileSync(PAGE, [before, table, after].join(MARK));
}
