/** Ages: how old a day must be before it may be pruned, as `400d`. */
import { SettingsError } from '../../errors.ts';
import { Wrong } from '../problems.ts';
import { DAY, LONGEST_AGE } from '../table/kinds.ts';
import { parseDuration } from './quantity.ts';

/**
 * Milliseconds from an age such as `400d`.
 * @param place where it was found, for the error.
 * @throws {SettingsError} when it is none.
 */
export function parseAge(text: string, place: string): number {
  const found = parseDuration(text, DAY, LONGEST_AGE);
  if (found instanceof Wrong)
    throw new SettingsError(`${place}: ${JSON.stringify(text)} is no age of at least a day`, {
      hint: 'Give days, such as 400d.',
    });
  return found;
}
