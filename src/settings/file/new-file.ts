/** The text of a new `daywalk.yaml`: what was set by flags and environment, and every other setting as a comment. */
import { relative } from 'node:path';
import { stringify } from 'yaml';
import type { Settings } from '../settings.ts';
import { fileOf, ROWS, SETTINGS, type SettingRow } from '../table/table.ts';
import { formatJsonPath } from '../values/paths.ts';
import { formatValue } from '../values/value.ts';
import { tablesYaml } from './tables.ts';

/** The name of the schema's copy beside the file. */
export const SCHEMA_FILE = 'daywalk.schema.json';

const HEAD = `# yaml-language-server: $schema=./${SCHEMA_FILE}
# Settings of daywalk. Lines with a # before them show what holds without them.
# Flags and environment variables go before this file; \`daywalk config\` shows what holds, and where it came from.
# Secrets never stand here: they come from the environment, or from the files that are named here.
`;

/**
 * The text. Secrets are not in it: of those in the environment, it names the variable.
 * @param folder where the file will be; paths below it are written relative to it.
 */
export function newFile(settings: Settings, folder: string): string {
  const lines: string[] = [];
  let group = '';
  let level = '';
  for (const row of ROWS) {
    const [first = '', second] = row.name.split('.');
    const own = linesOf(row, settings, folder);
    if (own.length === 0) continue;
    if (row.group !== group) lines.push('', `# ${row.group}`, '');
    if (second !== undefined && first !== level) lines.push(`${first}:`);
    group = row.group;
    level = second === undefined ? '' : first;
    lines.push(...own.map((line) => (second === undefined ? line : `  ${line}`)));
  }
  return `${HEAD}${[...lines, ...tableLines(settings.tables)].join('\n')}\n`;
}

/** A setting with its description above it, as a comment where it is not set; none for what cannot stand in the file. */
function linesOf(row: SettingRow, settings: Settings, folder: string): string[] {
  if (!row.inFile) {
    return variableOf(row, settings).map(
      (name) => `# ${row.name}: read from the environment variable ${name}`,
    );
  }
  const isSet = originOf(row, settings) !== undefined;
  if (row.key === 'streams') return streamLines(isSet ? settings.streams : null);
  const key = row.name.split('.').at(-1);
  const about = wrapped(row.description);
  if (isSet) return [...about, `${key}: ${yamlOf(row, settings, folder)}`];
  return [
    ...about,
    row.default === null ? `# ${key}:   # ${row.unset}` : `# ${key}: ${row.default}`,
  ];
}

/** The variable of the environment that what cannot stand in the file was taken from, unless a file holds that, too. */
function variableOf(row: SettingRow, settings: Settings): string[] {
  if (row.inFile || (row.key === 'databaseUrl' && settings.databaseUrlFile !== undefined))
    return [];
  return row.env.filter((name) => originOf(row, settings)?.endsWith(` ${name}`));
}

/** What the environment says of these settings and the file does not hold, and what to do, a line for each variable. */
export const unkept = (settings: Settings): string[] =>
  ROWS.flatMap((row) => {
    const file = fileOf(row);
    const orFile = file === undefined ? '' : `, or name a file that holds it in ${file.name}`;
    return variableOf(row, settings).map(
      (name) => `${name} is not kept: set it in each shell${orFile}.`,
    );
  });

/** Null: those of the default, as a comment. */
function streamLines(streams: Settings['streams'] | null): string[] {
  const names = streams?.flatMap(streamYaml) ?? ['#   events:', '#   smart-event:'];
  const [own, example] = streams === null ? ['# ', '#   '] : ['', '  # '];
  return [
    '# Each stream to export by its name; one that is not called like its resource names it. A stream',
    '# never continues under its name with other filters: give the changed one a new name.',
    `${own}streams:`,
    ...names,
    `${example}severe:`,
    `${example}  resource: events`,
    `${example}  filters:`,
    `${example}    rule_level_from: 12`,
  ];
}

/** A stream, and what is written below it. */
const streamYaml = ({ name, ...stream }: Settings['streams'][number]): string[] => [
  `  ${name}:`,
  ...(['idPath', 'timePath'] as const).flatMap((key) => {
    const path = stream[key];
    return path ? [`    ${SETTINGS[key].name}: ${quoted(formatJsonPath(path))}`] : [];
  }),
];

/** The record tables, and where it is said what they are. */
const tableLines = (tables: Settings['tables']): string[] => [
  '',
  '# Tables',
  '',
  '# Tables of typed columns that are kept in step with a stream, for questions that must be answered at once (docs/tables.md).',
  '# A run makes those that are not there, where it may; `daywalk tables` shows how far they are.',
  ...(tables.length > 0 ? ['tables:', ...tablesYaml(tables)] : ['# tables:']),
];

function originOf(row: SettingRow, settings: Settings): string | undefined {
  return settings.origins[row.name]?.place;
}

/** The value as YAML; what the loader reads as a number or a truth is not put into quotes. */
function yamlOf(row: SettingRow, settings: Settings, folder: string): string {
  const value = settings[row.key as Exclude<typeof row.key, 'streams'>];
  if (row.kind.kind === 'path') {
    const path = relative(folder, String(value));
    return quoted(path.startsWith('..') || path === '' ? String(value) : path);
  }
  const text = formatValue(row.kind, value ?? null);
  return row.kind.kind === 'integer' ? text : quoted(text);
}

/** A text as YAML in one line, in quotes where it needs them. */
const quoted = (text: string): string =>
  stringify(text, { lineWidth: 0, blockQuote: false }).trimEnd();

/** A description as comments, none longer than the lines of the file. */
const wrapped = (description: string): string[] =>
  (description.match(/.{1,98}(?= |$)/g) ?? []).map((line) => `# ${line.trim()}`);
