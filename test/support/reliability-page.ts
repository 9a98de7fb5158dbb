/** The figures in docs/reliability.md and SECURITY.md: each command writes its own section, between two marks. */
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The page's text with what stands between `<!-- name -->` and `<!-- /name -->` replaced. */
export function withFigures(page: string, name: string, figures: string): string {
  const [begin, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const from = page.indexOf(begin);
  const to = page.indexOf(end);
  if (from === -1 || to < from) throw new Error(`the page has no marks for ${name}`);
  return `${page.slice(0, from + begin.length)}\n${figures.trim()}\n${page.slice(to)}`;
}

/** Writes the figures of a command into the page. */
export async function writeFigures(
  name: string,
  figures: string,
  page = 'docs/reliability.md',
): Promise<void> {
  await writeFile(ROOT + page, withFigures(await readFile(ROOT + page, 'utf8'), name, figures));
}

/** A table in Markdown; a column whose heading ends in `#` holds numbers. */
export function markdownTable(
  headings: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): string {
  const line = (cells: readonly (string | number)[]) =>
    `| ${cells.map((cell) => String(cell).replaceAll('|', '\\|').replace(/\s+/g, ' ')).join(' | ')} |`;
  return [
    line(headings.map((heading) => heading.replace(/#$/, ''))),
    `|${headings.map((heading) => (heading.endsWith('#') ? '---:' : '---')).join('|')}|`,
    ...rows.map(line),
  ].join('\n');
}
