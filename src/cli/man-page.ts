/** The manual page daywalk(1), made from the tables of verbs, settings and exit codes (man-pages(7), groff_man(7)). */
import type { Option } from 'commander';
import { EXIT_MEANINGS } from '../errors.ts';
import { ROWS } from '../settings/table/table.ts';
import type { VerbRow } from './verb.ts';
import { VERBS } from './verbs.ts';

/** The page in roff; ends without a line break. */
export function manPage(version: string): string {
  return [
    `.TH DAYWALK 1 "" "daywalk ${version}" "daywalk"`,
    '.SH NAME',
    'daywalk \\- exports an Event Query API into Postgres, and can show that nothing is missing',
    '.SH SYNOPSIS',
    '\\fBdaywalk\\fR [\\fB\\-\\-config\\fR \\fIfile\\fR] \\fIverb\\fR [\\fIoptions\\fR]',
    '.SH VERBS',
    'Each verb takes the settings below that it obeys, too; \\fBdaywalk\\fR \\fIverb\\fR \\fB\\-\\-help\\-all\\fR lists them.',
    ...VERBS.flatMap(describeVerb),
    '.SH SETTINGS',
    'Flags go before the environment, the environment before \\fIdaywalk.yaml\\fR, and that before the defaults.',
    ...ROWS.flatMap(
      ({ flag, placeholder, env, name, inFile, description, default: value, unset }) => [
        '.TP',
        [
          ...(flag === null ? [] : [`\\fB${text(flag)}\\fR ${text(placeholder)}`.trimEnd()]),
          `\\fB${env[0]}\\fR`,
          ...(inFile ? [`\\fI${text(name)}\\fR`] : []),
        ].join(', '),
        line(`${description} (${value ?? unset})`),
      ],
    ),
    '.SH EXIT STATUS',
    ...EXIT_MEANINGS.flatMap(([code, meaning]) => ['.TP', `.B ${code}`, line(meaning)]),
    '.SH FILES',
    '.TP',
    '.I daywalk.yaml',
    'The settings, in the working folder or where \\fB\\-\\-config\\fR says.',
    '.TP',
    '.I .daywalk/',
    'The embedded Postgres, where there is one.',
  ].join('\n');
}

function describeVerb(row: VerbRow): string[] {
  const argument = row.argument === undefined ? '' : ` \\fI${row.argument.name()}\\fR`;
  return [
    '.TP',
    `\\fB${text(row.name)}\\fR${argument}`,
    line(row.does),
    ...(row.options ?? []).flatMap(describeOption),
  ];
}

function describeOption({ long = '', flags, argChoices, description }: Option): string[] {
  const values = argChoices?.join('|') ?? flags.slice(long.length + 1);
  const term = `\\fB${text(long)}\\fR ${text(values)}`.trimEnd();
  return ['.RS', '.TP', term, line(description), '.RE'];
}

/** Text within a line: nothing in it is a request, and a hyphen stays one that can be copied. */
const text = (words: string): string =>
  words.replaceAll('\\', '\\e').replaceAll('-', '\\-').replaceAll('`', '');

/** Text as a line of its own. */
const line = (words: string): string => text(words).replace(/^(?=[.'])/, '\\&');
