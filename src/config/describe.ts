/** What `daywalk config` prints: every effective value and where it came from, secrets masked; and the list of those secrets. */
import { DEFAULT, type Origin } from './origin.ts';
import { Secret } from './secret.ts';
import type { Settings } from './settings.ts';
import { streamLines } from './streams.ts';
import { ROWS, type Row } from './table.ts';
import { passwordsIn } from './url.ts';
import { formatValue } from './value.ts';

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

/** Every setting, in the order of the table, each stream after the streams. */
export function describeSettings(settings: Settings): SettingLine[] {
  return ROWS.flatMap((row) => {
    const line = lineOf(row.name, textOf(row, settings), row.unset, settings);
    if (row.key !== 'streams') return line;
    const streams = settings.streams.flatMap(streamLines);
    return [line, ...streams.map(([name, value]) => lineOf(name, value, '', settings))];
  });
}

function textOf(row: Row, settings: Settings): string | null {
  if (row.key === 'streams') return settings.streams.map((stream) => stream.name).join(', ');
  const value = settings[row.key];
  return value === undefined ? null : formatValue(row.kind, value);
}

function lineOf(
  name: string,
  value: string | null,
  unset: string,
  settings: Settings,
): SettingLine {
  const { source, place } = settings.origins[name] ?? DEFAULT;
  return { name, value, unset: value === null ? unset : null, source, place };
}

/** The secrets that are struck out of what is written: one of three letters would strike half of every line out. */
export const secretsToStrike = (settings: Settings): string[] =>
  secretsOf(settings).filter((secret) => secret.length > 3);

/** Every text that must not be printed, in the forms in which it could be: as it is, in JSON and in a URL; longest first. */
export function secretsOf(settings: Settings): string[] {
  const texts = ROWS.flatMap((row) => {
    const value = settings[row.key];
    if (!(value instanceof Secret)) return [];
    const { kind } = row;
    return kind.kind === 'url' && kind.of !== 'api'
      ? [value.reveal(), ...passwordsIn(value, kind.of)]
      : [value.reveal()];
  });
  const forms = texts.flatMap((text) => [
    text,
    JSON.stringify(text).slice(1, -1),
    encodeURIComponent(text),
  ]);
  return [...new Set(forms)].sort((a, b) => b.length - a.length);
}
