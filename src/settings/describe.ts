/** What `daywalk config` prints: every effective value and where it came from, secrets masked; and the list of those secrets. */

import { streamLines } from './file/streams.ts';
import { tableLines } from './file/tables.ts';
import { DEFAULT, type Origin, type Settings } from './settings.ts';
import { ROWS, type SettingRow } from './table/table.ts';
import { Secret } from './values/secret.ts';
import { passwordsIn } from './values/url.ts';
import { formatValue } from './values/value.ts';

/** One line of `daywalk config`, and one object of `daywalk config --json`. */
export interface SettingLine {
  /** As in the file: `page_length`, `streams.audit.resource`. */
  readonly name: string;
  /** As an operator would write it, secrets masked; null: unset. */
  readonly value: string | null;
  /** What daywalk does because it is unset; null where it is set. */
  readonly unset: string | null;
  readonly source: Origin['source'];
  readonly place: string;
}

/** Every setting, in the order of the table, each stream after the streams, the record tables at the end. */
export function describeSettings(settings: Settings): SettingLine[] {
  const rows = ROWS.flatMap((row): [name: string, value: string | null, unset?: string][] => [
    [row.name, textOf(row, settings), row.unset],
    ...(row.key === 'streams' ? settings.streams.flatMap(streamLines) : []),
  ]);
  return [...rows, ...settings.tables.flatMap(tableLines)].map(([name, value, unset = '']) => {
    // What a stream does not say itself is what is said for all.
    const general = name.replace(/^streams\.[^.]+\./, '');
    const { source, place } = settings.origins[name] ?? settings.origins[general] ?? DEFAULT;
    return { name, value, unset: value === null ? unset : null, source, place };
  });
}

function textOf(row: SettingRow, settings: Settings): string | null {
  if (row.key === 'streams') return settings.streams.map((stream) => stream.name).join(', ');
  const value = settings[row.key];
  return value === undefined ? null : formatValue(row.kind, value);
}

/** Every text that must not be shown. */
export function settingsSecrets(settings: Settings): string[] {
  const texts = ROWS.flatMap((row) => {
    const value = settings[row.key];
    if (!(value instanceof Secret)) return [];
    const { kind } = row;
    return kind.kind === 'secretUrl' ? passwordsIn(value, kind.of) : [value.reveal()];
  });
  return [...new Set(texts)];
}
