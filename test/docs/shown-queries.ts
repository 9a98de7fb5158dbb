/** A page with what its queries print below them. */
import type { TestDatabase } from '../support/database.ts';
import { blocks, type Paper } from './markdown.ts';

/** The text of the page, with the output of each query as psql shows it; roles are not made. */
export async function shownPage(page: Paper, database: TestDatabase): Promise<string> {
  let text = page.text.replaceAll(/\n```text\n[\s\S]*?\n```\n/g, '');
  for (const query of blocks(page, 'sql').filter((query) => !/create role/.test(query))) {
    const output = await printed(database, query);
    if (output !== null)
      text = text.replace(
        `${query}\`\`\`\n`,
        () => `${query}\`\`\`\n\n\`\`\`text\n${output}\n\`\`\`\n`,
      );
  }
  return text;
}

/** The statements of a block, without what is remarked above them. */
export const statementsOf = (query: string): string[] =>
  query
    .replaceAll(/^--.*\n/gm, '')
    .split(/;\n/)
    .filter((statement) => statement.trim() !== '');

/** The rows as psql shows them, dates and numbers as Postgres writes them. */
async function printed(database: TestDatabase, query: string): Promise<string | null> {
  const statements = statementsOf(query);
  const last = statements.pop() ?? '';
  for (const statement of statements) await database.query(statement);
  if (!/^\s*(select|with)/i.test(last)) {
    await database.query(last);
    return null;
  }
  const found = await database.pool.query<string[]>({
    text: last,
    rowMode: 'array',
    // Text, as Postgres writes it.
    types: { getTypeParser: () => (text: string) => text },
  } as never);
  const names = found.fields.map(({ name }) => name);
  const rows = found.rows.map((row) => row.map((cell) => cell ?? ''));
  const widths = names.map((name, column) =>
    Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join(' | ')
      .trimEnd();
  return [
    line(names),
    widths.map((width) => '-'.repeat(width)).join('-+-'),
    ...rows.map(line),
    `(${rows.length} ${rows.length === 1 ? 'row' : 'rows'})`,
  ].join('\n');
}
