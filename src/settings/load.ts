/** Loading the settings: flags over environment over file over defaults, and everything wrong with them in one error. */

import { defined } from './defined.ts';
import { checkEnvironment, type Environment } from './environment.ts';
import { readConfigFile } from './file/config-file.ts';
import { PER_STREAM } from './file/stream-definition.ts';
import {
  checkSelection,
  definedStreams,
  type StreamDefinitions,
  selectedStreams,
} from './file/streams.ts';
import { definedTables } from './file/tables.ts';
import type { Origin, Raw } from './origin.ts';
import { Reading } from './reading.ts';
import {
  checkNeeded,
  checkPem,
  checkTogether,
  chooseDatabase,
  type Need,
  readSecrets,
} from './rules.ts';
import type { ApiSettings, Settings } from './settings.ts';
import { type ReadFile, readAgain } from './small-files.ts';
import { ROWS, SETTINGS, type SettingRow } from './table/table.ts';
import { type FieldMap, parseFields } from './values/field-map.ts';
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
export function loadSettings(
  options: LoadOptions & { readonly require: readonly ['api', ...Need[]] },
): ApiSettings;
export function loadSettings(options: LoadOptions): Settings;
export function loadSettings(options: LoadOptions): Settings {
  const { environment, cwd, readFile = readAgain } = options;
  const reading = new Reading(readFile);
  const { problems } = reading;
  for (const row of ROWS) reading.take(row.key, flagRaw(row, options.flags, cwd));
  for (const row of ROWS) reading.take(row.key, environmentRaw(row, environment, cwd));
  checkEnvironment(environment, problems);
  const file = readConfigFile(reading, cwd);
  // Of what cannot be read nobody knows what it lacks.
  const isKnown = file === null || file?.settings.whole === true;
  for (const [key, raw] of file?.settings.raws ?? []) reading.take(key, raw);
  const definitions = definedStreams(file?.settings.streams, problems);
  if (isKnown) checkSelection(reading, definitions.names);
  const tables = definedTables(file?.settings.tables, definitions.streams, problems);
  readSecrets(reading);
  chooseDatabase(reading);
  checkPem(reading);
  for (const { key, default: text } of ROWS)
    if (text !== null && !reading.raws.has(key))
      reading.take(key, rawAt('default', 'default', text, cwd));
  if (isKnown) {
    checkTogether(reading);
    checkNeeded(reading, options.require ?? []);
  }
  problems.throwIfAny();
  return assembled(reading, definitions, tables, file?.path);
}

/** Puts the settings together; everything in `reading` is right by now. */
function assembled(
  reading: Reading,
  definitions: StreamDefinitions,
  { tables, origins: tableOrigins }: ReturnType<typeof definedTables>,
  config: string | undefined,
): Settings {
  const values = Object.fromEntries(
    ROWS.map(({ key }) => [key, reading.values.get(key)]),
  ) as unknown as SettingValues;
  const forAll = defined(Object.fromEntries(PER_STREAM.map((key) => [key, values[key]])));
  const streams = selectedStreams(definitions.streams, values.streams).map((stream) => ({
    ...forAll,
    ...stream,
  }));
  const origins = new Map([...definitions.origins, ...tableOrigins]);
  for (const [key, raw] of reading.raws)
    if (raw.origin.source !== 'default') origins.set(SETTINGS[key].name, raw.origin);
  const base = parseFields(SETTINGS.archiveFields.default) as FieldMap;
  const archiveFields = { ...base, ...values.archiveFields };
  const own = { archiveFields, config, streams, tables };
  return { ...values, ...own, origins: Object.fromEntries(origins) };
}

function rawAt(source: Origin['source'], place: string, text: string, folder: string): Raw {
  return { text, origin: { source, place }, place, folder };
}

function flagRaw(row: SettingRow, flags: LoadOptions['flags'], folder: string): Raw | undefined {
  const value = Object.hasOwn(flags, row.key) ? flags[row.key] : undefined;
  if (row.flag === null || value === undefined) return undefined;
  // The other spelling, where it was the one that was typed.
  const isOther = row.key === 'streams' && value === flags.stream;
  return rawAt('flag', `flag ${isOther ? '--stream' : row.flag}`, String(value), folder);
}

function environmentRaw(row: SettingRow, environment: Environment, folder: string) {
  const name = row.env.findLast((one) => environment[one]?.trim());
  if (name === undefined) return undefined;
  return rawAt('environment', `environment ${name}`, environment[name] ?? '', folder);
}
