/** What `daywalk.yaml` says, setting by setting; a key that no setting has is refused. */
import type { Raw } from '../origin.ts';
import type { Problems } from '../problems.ts';
import { ROWS, type SettingKey, type SettingRow } from '../table/table.ts';
import { didYouMean } from '../values/spelling.ts';
import { type Entry, joined, type Mapping } from './yaml-tree.ts';

export interface FileSettings {
  readonly raws: ReadonlyMap<SettingKey, Raw>;
  /** The parts `streams:` and `tables:`, where there are such. */
  readonly streams: Mapping | undefined;
  readonly tables: Mapping | undefined;
  /** Whether each part is one, so that what is not in it is not set. */
  readonly whole: boolean;
}

const BY_NAME: ReadonlyMap<string, SettingRow> = new Map(ROWS.map((row) => [row.name, row]));
const PARTS = {
  streams: 'a name, then resource: and filters: below it',
  tables: 'a name, then stream: and columns: below it',
};

/** Takes the settings out of the file's tree; `folder` is the file's own. */
export function fileSettings(top: Mapping, folder: string, problems: Problems): FileSettings {
  const raws = new Map<SettingKey, Raw>();
  const parts: { streams?: Mapping; tables?: Mapping } = {};
  let whole = true;
  const noMapping = (place: string, of: string) => {
    whole = false;
    problems.add(place, `expected a mapping${of}`);
  };
  const walk = (mapping: Mapping, level: string) => {
    for (const entry of mapping.entries) {
      const place = `${entry.spot} (${joined(level, entry.key)})`;
      const name = nameOf(level, entry.key);
      const row = BY_NAME.get(name);
      const { value } = entry;
      if (name === 'streams' || name === 'tables') {
        if (value.is === 'mapping') parts[name] = value;
        else if (value.is !== 'empty') noMapping(place, `: ${PARTS[name]}`);
      } else if (ROWS.some((one) => one.name.startsWith(`${name}.`))) {
        if (value.is === 'mapping') walk(value, name);
        else if (value.is !== 'empty') noMapping(place, ` of ${childrenOf(name).join(', ')}`);
      } else if (row === undefined) {
        problems.add(place, () => `there is no such setting${hint(level, entry.key)}`);
      } else {
        const raw = rawOf(entry, row, place, folder, problems);
        if (raw) raws.set(row.key, raw);
      }
    }
  };
  walk(top, '');
  return { raws, streams: parts.streams, tables: parts.tables, whole };
}

function rawOf(
  { spot, value }: Entry,
  row: SettingRow,
  place: string,
  folder: string,
  problems: Problems,
): Raw | undefined {
  if (!row.inFile) {
    if (value.is === 'text' && row.secret) problems.hide(value.text);
    problems.add(place, elsewhere(row));
    return undefined;
  }
  const isFields = value.is === 'mapping' && row.kind.kind === 'fields';
  const text = isFields ? fieldsText(value.entries) : value.is === 'text' ? value.text : null;
  if (text !== null) return { text, origin: { source: 'file', place: spot }, place, folder };
  if (value.is !== 'empty') {
    problems.add(
      place,
      `expected one value, but found ${value.is === 'other' ? value.what : 'a mapping'}`,
    );
  } else if (row.key === 'totalPath') {
    // Elsewhere nothing means unset; here somebody may mean that there is no total.
    problems.add(place, 'is empty; write none if there is no total, or leave the line out');
  }
  return undefined;
}

/** Fields of records, a name a line, as the one text that they are elsewhere; commas between paths are as good as spaces. */
const fieldsText = (entries: readonly Entry[]): string =>
  `{${entries
    .map(
      ({ key, value }) => `${key}: ${value.is === 'text' ? value.text.replaceAll(',', ' ') : ''}`,
    )
    .join(', ')}}`;

function elsewhere(row: SettingRow): string {
  const file = ROWS.find((other) => other.name === `${row.name}_file`);
  if (row.secret && file !== undefined)
    return `a secret does not belong in this file; set the environment variable ${row.env[0]}, or ${file.name}`;
  return `cannot be set in this file; set the environment variable ${row.env[0]}`;
}

/** Empty where the key itself holds a dot: `api.url:` is not `url:` below `api:`. */
function nameOf(level: string, key: string): string {
  if (key.includes('.')) return '';
  return level === '' ? key : `${level}.${key}`;
}

function hint(level: string, key: string): string {
  const [before, after] = key.split('.');
  if (level === '' && BY_NAME.has(key)) return `; write ${after}: in a line below ${before}:`;
  const names = ROWS.flatMap(({ name, inFile }) => (inFile ? name : []));
  // The right word may stand on the wrong level.
  const moved = names.find((name) => name.endsWith(`.${key}`));
  return moved === undefined ? didYouMean(joined(level, key), names) : `; did you mean ${moved}?`;
}

/** The names below a level. */
const childrenOf = (level: string): string[] =>
  ROWS.flatMap(({ name, inFile }) =>
    inFile && name.startsWith(`${level}.`) ? name.slice(level.length + 1) : [],
  );
