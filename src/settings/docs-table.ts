/** The table of docs/settings.md, made from the table in code. */
import { ROWS } from './table/table.ts';

/** Markdown: one table row per setting, in groups; ends without a line break. */
export function settingsTableMarkdown(): string {
  const lines = [
    '| in `daywalk.yaml` | environment | flag | default | what it does |',
    '|---|---|---|---|---|',
  ];
  let group = '';
  for (const row of ROWS) {
    if (row.group !== group) lines.push(`| **${row.group}** | | | | |`);
    group = row.group;
    const cells = [
      row.inFile ? `\`${row.name}\`` : '',
      `\`${row.env[0]}\``,
      row.flag === null ? '' : `\`${row.flag}\``,
      row.default === null ? row.unset : `\`${row.default}\``,
      row.description,
    ];
    // A bar would end the cell.
    lines.push(`| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`);
  }
  return lines.join('\n');
}
