/** Flags that are no settings, and more than words: names, numbers, ages and folders. */
import { SettingsError } from '../errors.ts';
import { Wrong } from '../settings/problems.ts';
import { AGE } from '../settings/table/kinds.ts';
import { parseDuration, parseInteger } from '../settings/values/quantity.ts';
import { parseNames, parseValue } from '../settings/values/value.ts';

/**
 * Those that were chosen with a flag, by their names, out of all of them.
 * @param names what was typed; undefined: all.
 * @throws {SettingsError} for a name that none has.
 */
export function chosen<T extends { readonly name: string }>(
  all: readonly T[],
  names: unknown,
  flag = '--stream',
): readonly T[] {
  const wanted = flagValue(flag, names, parseNames);
  if (wanted === undefined) return all;
  const known = all.map(({ name }) => name);
  const unknown = wanted.find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new SettingsError(
      `flag ${flag}: ${JSON.stringify(unknown)} is not one of those that the settings define: ${known.join(', ') || 'none'}`,
    );
  return all.filter(({ name }) => wanted.includes(name));
}

/** The number that was given with `flag`; undefined: the flag was not given. */
export const numberFlag = (flag: string, given: unknown, min: number, max: number) =>
  flagValue(flag, given, (text) => parseInteger(text, { min, max }));

/** Milliseconds from the age that was given with `--older-than`, such as `400d`; undefined: the flag was not given. */
export const ageFlag = (given: unknown) =>
  flagValue('--older-than', given, (text) => parseDuration(text, AGE));

/**
 * The file or folder that was given with `flag`.
 * @throws {SettingsError} for what no setting takes, such as nothing: a variable that is not set does not mean the folder that
 *   the program is run in.
 */
export const pathFlag = (flag: string, given: unknown): string =>
  pathAt(`flag ${flag}`, String(given));

/** The same of what stands at another place, as messages name it. */
export function pathAt(place: string, text: string): string {
  const path = parseValue(PATH, text, process.cwd());
  if (path instanceof Wrong) throw new SettingsError(`${place}: ${path.about(text)}`);
  return String(path);
}
const PATH = { kind: 'path' } as const;

/** @throws {SettingsError} for what is none. */
function flagValue<T>(
  flag: string,
  given: unknown,
  parse: (text: string) => T | Wrong,
): T | undefined {
  if (given === undefined) return undefined;
  const text = String(given);
  const found = parse(text);
  if (found instanceof Wrong) throw new SettingsError(`flag ${flag}: ${found.about(text)}`);
  return found;
}
