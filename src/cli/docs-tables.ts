/** The tables of docs/verbs.md and docs/settings.md in Markdown, made from those in code; each ends without a line break. */
import { EXIT_MEANINGS } from '../errors.ts';
import { ROWS } from '../settings/table/table.ts';
import { VERBS } from './verbs.ts';

function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  // A bar would end the cell.
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}

export const verbsTableMarkdown = (): string =>
  markdownTable(
    ['verb', 'does', 'options'],
    VERBS.map(({ name, argument, does, options = [], page }) => {
      const verb = ['daywalk', name, argument?.name().toUpperCase()].join(' ').trimEnd();
      const more = page === undefined ? '' : `; see [${page}](${page})`;
      const flags = options.map(({ long, argChoices }) =>
        argChoices === undefined ? `\`${long}\`` : `\`${long} ${argChoices.join('|')}\``,
      );
      return [`\`${verb}\``, `${does}${more}`, flags.join(', ')];
    }),
  );

export const exitCodesTableMarkdown = (): string =>
  markdownTable(
    ['exit code', 'means'],
    EXIT_MEANINGS.map(([code, meaning]) => [String(code), meaning]),
  );

/** In groups. */
export const settingsTableMarkdown = (): string =>
  markdownTable(
    ['in `daywalk.yaml`', 'environment', 'flag', 'default', 'what it does'],
    ROWS.flatMap((row, index) => [
      ...(row.group === ROWS[index - 1]?.group ? [] : [[`**${row.group}**`, '', '', '', '']]),
      [
        row.inFile ? `\`${row.name}\`` : '',
        `\`${row.env[0]}\``,
        row.flag === null ? '' : `\`${row.flag}\``,
        row.default === null ? row.unset : `\`${row.default}\``,
        row.description,
      ],
    ]),
  );
