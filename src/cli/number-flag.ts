/** A flag that takes a number and is no setting. */
import { SettingsError } from '../errors.ts';
import { Wrong } from '../settings/problems.ts';
import { parseInteger } from '../settings/values/quantity.ts';

/**
 * The number that was given with `flag`; undefined: the flag was not given.
 * @throws {SettingsError} for what is no whole number from `least` to `most`.
 */
export function numberFlag(
  flag: string,
  given: unknown,
  least: number,
  most: number,
): number | undefined {
  if (given === undefined) return undefined;
  const text = String(given);
  const found = parseInteger(text, least, most);
  if (found instanceof Wrong) throw new SettingsError(`flag ${flag}: ${found.about(text)}`);
  return found;
}
