/** Loading the settings: flags over environment over file over defaults, and everything wrong with them in one error. */

import { checkEnvironment, type Environment } from './environment.ts';
import { readConfigFile } from './file/config-file.ts';
import { checkSelection, definedStreams, PER_STREAM, selectedStreams } from './file/streams.ts';
import { definedTables } from './file/tables.ts';
import { Reading } from './reading.ts';
import { checkTogether, chooseDatabase, type Need, readFiles } from './rules.ts';
import { DEFAULT, type Settings } from './settings.ts';
import { type ReadFile, readSmallFile } from './small-files.ts';
import { ROWS, SETTINGS } from './table/table.ts';
import { type FieldMap, parseFields } from './values/paths.ts';
import type { SettingValues } from './values/value.ts';

export interface LoadOptions {
  /** What was given on the command line, by the keys of the table; other keys are not looked at. */
  readonly flags: Readonly<Record<string, unknown>>;
  readonly environment: Environment;
  readonly cwd: string;
  /** Reads a file; the real one by default. */
  readonly readFile?: ReadFile;
  /** What it is an error to miss; `api`: the API's URL and key. */
  readonly require?: readonly Need[];
}

/**
 * The effective settings.
 * @throws SettingsError that tells everything wrong with them, one line each; no line holds a secret.
 */
export function loadSettings(options: LoadOptions): Settings {
  const { flags, environment, cwd, readFile = readSmallFile } = options;
  const reading = new Reading(cwd, readFile);
  for (const { key, flag } of ROWS) {
    const value = Object.hasOwn(flags, key) ? flags[key] : undefined;
    if (flag === null || value === undefined) continue;
    // The other spelling, where it was the one that was typed.
    const typed = key === 'streams' && value === flags.stream ? '--stream' : flag;
    reading.take(key, String(value), { source: 'flag', place: `flag ${typed}` });
  }
  for (const { key, env } of ROWS) {
    const name = env.findLast((one) => environment[one]?.trim());
    const place = `environment ${name}`;
    if (name) reading.take(key, environment[name] ?? '', { source: 'environment', place });
  }
  checkEnvironment(environment, reading.problems);
  const file = readConfigFile(reading, cwd);
  const streams = definedStreams(file.streams, reading);
  // Of what cannot be read nobody knows what it lacks.
  if (file.isKnown) checkSelection(reading, file.streams);
  const tables = definedTables(file.tables, streams, reading);
  readFiles(reading);
  chooseDatabase(reading);
  for (const { key, default: text } of ROWS)
    if (text !== null && !reading.raws.has(key)) reading.take(key, text, DEFAULT);
  if (file.isKnown) checkTogether(reading, options.require ?? []);
  reading.problems.throwIfAny();
  const { raws, origins } = reading;
  const values = Object.fromEntries(
    ROWS.map(({ key }) => [key, reading.values.get(key)]),
  ) as unknown as SettingValues;
  const set = PER_STREAM.filter((key) => reading.values.has(key));
  const forAll = Object.fromEntries(set.map((key) => [key, values[key]]));
  for (const [key, { origin }] of raws)
    if (origin.source !== 'default') origins.set(SETTINGS[key].name, origin);
  const base = parseFields(SETTINGS.archiveFields.default) as FieldMap;
  return {
    ...values,
    archiveFields: { ...base, ...values.archiveFields },
    config: file.path,
    streams: selectedStreams(streams, values.streams).map((own) => ({ ...forAll, ...own })),
    tables,
    origins: Object.fromEntries(origins),
  };
}
