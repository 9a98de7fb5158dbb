/** Flags that are no settings, and more than words: streams, numbers and ages. */
import { SettingsError } from '../errors.ts';
import type { Stream } from '../model.ts';
import { Wrong } from '../settings/problems.ts';
import { AGE } from '../settings/table/kinds.ts';
import { parseDuration, parseInteger } from '../settings/values/quantity.ts';
import { parseNames } from '../settings/values/value.ts';

/**
 * The streams that were chosen with `--stream`, out of those of the settings.
 * @param names what was typed; undefined: all.
 * @throws {SettingsError} for a name that no stream has.
 */
export function chosen(streams: readonly Stream[], names: unknown): readonly Stream[] {
  if (names === undefined) return streams;
  const known = streams.map((stream) => stream.name);
  const wanted = namesFlag('--stream', names);
  const unknown = wanted.find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new SettingsError(`flag --stream: there is no stream ${JSON.stringify(unknown)}`, {
      hint: `The streams are ${known.join(', ')}.`,
    });
  return streams.filter((stream) => wanted.includes(stream.name));
}

/**
 * The names that were given with `flag`, with commas between them.
 * @throws {SettingsError} where there is none.
 */
export function namesFlag(flag: string, given: unknown): readonly string[] {
  const text = String(given);
  const found = parseNames(text);
  if (found instanceof Wrong) throw new SettingsError(`flag ${flag}: ${found.about(text)}`);
  return found;
}

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
  const found = parseInteger(text, { min: least, max: most });
  if (found instanceof Wrong) throw new SettingsError(`flag ${flag}: ${found.about(text)}`);
  return found;
}

/**
 * Milliseconds from the age that was given with `--older-than`, such as `400d`; undefined: the flag was not given.
 * @throws {SettingsError} for what is none.
 */
export function ageFlag(given: unknown): number | undefined {
  if (given === undefined) return undefined;
  const text = String(given);
  const found = parseDuration(text, AGE);
  if (found instanceof Wrong)
    throw new SettingsError(
      `flag --older-than: ${JSON.stringify(text)} is no age of at least a day`,
      { hint: 'Give days, such as 400d.' },
    );
  return found;
}
