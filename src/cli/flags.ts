/** Flags that are no settings, and more than words: read as the texts of settings are. */
import { SettingsError } from '../errors.ts';
import { Wrong } from '../settings/problems.ts';
import { AGE, integer } from '../settings/table/kinds.ts';
import type { Kind } from '../settings/table/setting.ts';
import { parseValue, type ValueOf } from '../settings/values/value.ts';

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
  const wanted = flagValue(flag, names, { kind: 'names' });
  if (wanted === undefined) return all;
  const known = all.map(({ name }) => name);
  const unknown = wanted.find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new SettingsError(
      `flag ${flag}: ${JSON.stringify(unknown)} is not one of those that the settings define: ${known.join(', ') || 'none'}`,
    );
  return all.filter(({ name }) => wanted.includes(name));
}

/** A file or folder. */
export const PATH = { kind: 'path' } as const;

/** The number that was given with `flag`; undefined: the flag was not given. */
export const numberFlag = (flag: string, given: unknown, min: number, max: number) =>
  flagValue(flag, given, integer(min, max));

/** Milliseconds from the age that was given with `--older-than`, such as `400d`; undefined: the flag was not given. */
export const ageFlag = (given: unknown) => flagValue('--older-than', given, AGE);

/** What was given with `flag`, as a setting of this kind takes it; undefined: the flag was not given. */
export const flagValue = <K extends Kind>(flag: string, given: unknown, kind: K) =>
  given === undefined ? undefined : valueAt(`flag ${flag}`, String(given), kind);

/**
 * What stands at a place, as messages name it.
 * @throws {SettingsError} for what no setting of this kind takes, such as nothing: a variable that is not set does not mean
 *   the folder that the program is run in.
 */
export function valueAt<K extends Kind>(place: string, text: string, kind: K): ValueOf<K> {
  const found = parseValue(kind, text, process.cwd());
  if (found instanceof Wrong) throw new SettingsError(`${place}: ${found.about(text)}`);
  return found as ValueOf<K>;
}
