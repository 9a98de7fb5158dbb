/** The tables of docs/verbs.md, the verbs and the exit codes, made from those in code. */
import { EXIT_MEANINGS } from '../errors.ts';
import type { VerbRow } from './verb.ts';
import { VERBS } from './verbs.ts';

/** Markdown: a row for each verb; ends without a line break. */
export function verbsTableMarkdown(): string {
  return ['| verb | does | options |', '|---|---|---|', ...VERBS.map(verbLine)].join('\n');
}

function verbLine({ name, argument, does, options = [], page }: VerbRow): string {
  const verb = argument === undefined ? name : `${name} ${argument.name().toUpperCase()}`;
  const more = page === undefined ? '' : `; see [${page}](${page})`;
  const flags = options.map(({ long, argChoices }) =>
    argChoices === undefined ? `\`${long}\`` : `\`${long} ${argChoices.join('\\|')}\``,
  );
  return `| \`daywalk ${verb}\` | ${does}${more} | ${flags.join(', ')} |`;
}

/** Markdown: a row for each exit code; ends without a line break. */
export function exitCodesTableMarkdown(): string {
  const rows = EXIT_MEANINGS.map(([code, meaning]) => `| ${code} | ${meaning} |`);
  return ['| exit code | means |', '|---|---|', ...rows].join('\n');
}
