/** The settings file: which one it is, and what it says, setting by setting; a key that no setting has is refused. */
import { dirname, resolve } from 'node:path';
import { shownWord, Wrong } from '../problems.ts';
import type { Reading } from '../reading.ts';
import { MISSING } from '../small-files.ts';
import { isSecret } from '../table/setting.ts';
import { fileOf, ROWS, type SettingRow } from '../table/table.ts';
import { didYouMean } from '../values/spelling.ts';
import { type Part, parseYaml } from './yaml-tree.ts';

const NAME = 'daywalk.yaml';
/** The YAML parser compares every key with every other one. */
const LONGEST = 128 * 1024;

/** What is no row of the table, and has readers of its own. */
type PartName = 'streams' | 'tables';

/** What the file says besides the settings that are read into `reading`. */
export interface ConfigFile extends Readonly<Partial<Record<PartName, Part>>> {
  /** Undefined: there is none that could be read. */
  readonly path?: string;
  /** Whether all of it could be read, so that what is not in it is not set. */
  readonly isKnown: boolean;
}

/** Reads the file that a flag or the environment names, or `daywalk.yaml` if there is one. */
export function readConfigFile(reading: Reading, cwd: string): ConfigFile {
  const { raws, values, problems } = reading;
  const named = raws.get('config');
  const path = named ? values.get('config') : resolve(cwd, NAME);
  if (typeof path !== 'string') return { isKnown: false };
  const name = named ? shownWord(named.text.trim()) : NAME;
  const found = reading.readText(path);
  if (found === MISSING && !named) {
    if (reading.readText(resolve(cwd, 'daywalk.yml')) === MISSING) return { isKnown: true };
    problems.add('daywalk.yml', `is not read under this name; rename it to ${NAME}`);
    return { isKnown: false };
  }
  const isLong = typeof found === 'string' && found.length > LONGEST;
  const text = isLong ? new Wrong(`is longer than ${LONGEST / 1024} KiB`) : found;
  if (text instanceof Wrong) {
    problems.add(named?.place ?? NAME, `${name} ${text.why}`);
    return { isKnown: false };
  }
  const top = parseYaml(text, name, problems);
  return top === undefined ? { isKnown: false } : { path, ...takeAll(top, dirname(path), reading) };
}

/** Takes the settings out of the file's tree; `folder` is the file's own. */
function takeAll(top: Part, folder: string, reading: Reading): ConfigFile {
  const found: { -readonly [Name in PartName]?: Part } = {};
  let isKnown = true;
  const takePart = (part: Part, level: string): void => {
    // A key that itself holds a dot names nothing: `api.url:` is not `url:` below `api:`.
    const name = part.key.includes('.') ? '' : level + part.key;
    const row = ROWS.find((one) => one.name === name);
    const isPart = name === 'streams' || name === 'tables';
    const below = ROWS.filter((one) => one.name.startsWith(`${name}.`));
    if (!isPart && below.length === 0) {
      if (row !== undefined) takeSetting(row, part, folder, reading);
      else reading.problems.add(part.place, () => `there is no such setting${hint(part, level)}`);
    } else if (part.parts !== undefined) {
      if (isPart) found[name] = part;
      else for (const inner of part.parts) takePart(inner, `${name}.`);
    } else if (part.what !== '') {
      isKnown = false;
      const names = below.flatMap((one) => (one.inFile ? one.name.slice(name.length + 1) : []));
      const expected = isPart ? ': names, and what each has below it' : ` of ${names.join(', ')}`;
      reading.problems.add(part.place, `expected a mapping${expected}`);
    }
  };
  for (const part of top.parts ?? []) takePart(part, '');
  return { ...found, isKnown };
}

function takeSetting(row: SettingRow, part: Part, folder: string, reading: Reading): void {
  const { problems } = reading;
  const { place, spot, parts } = part;
  const text = row.kind.kind === 'fields' && parts ? fieldsText(parts) : part.text;
  if (!row.inFile) {
    if (text !== undefined && isSecret(row.kind)) problems.hide(text);
    problems.add(place, elsewhere(row));
  } else if (text !== undefined)
    reading.take(row.key, text, { source: 'file', place: spot }, { place, folder });
  else if (part.what !== '') problems.add(place, `expected one value, but found ${part.what}`);
  else if (row.key === 'totalPath')
    // Elsewhere nothing means unset; here somebody may mean that there is no total.
    problems.add(place, 'is empty; write none if there is no total, or leave the line out');
}

/** Fields of records, a name a line, as the one text that they are elsewhere; commas between paths are as good as spaces. */
const fieldsText = (parts: readonly Part[]): string =>
  `{${parts.map(({ key, text = '' }) => `${key}: ${text.replaceAll(',', ' ')}`).join(', ')}}`;

function elsewhere(row: SettingRow): string {
  const file = fileOf(row);
  if (isSecret(row.kind) && file !== undefined)
    return `a secret does not belong in this file; set the environment variable ${row.env[0]}, or ${file.name}`;
  return `cannot be set in this file; set the environment variable ${row.env[0]}`;
}

function hint({ key, path }: Part, level: string): string {
  const [before, after] = key.split('.');
  if (level === '' && ROWS.some(({ name }) => name === key))
    return `; write ${after}: in a line below ${before}:`;
  const names = ROWS.flatMap(({ name, inFile }) => (inFile ? name : []));
  const sections = names.flatMap((name) => name.match(/^.+(?=\.)/) ?? []);
  // The right word may stand on the wrong level.
  const moved = names.find((name) => name.endsWith(`.${key}`));
  return moved === undefined
    ? didYouMean(path, [...names, ...sections, 'tables'])
    : `; did you mean ${moved}?`;
}
