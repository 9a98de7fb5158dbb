/** Whether the program takes a body for JSON. */
import { EnvelopeError } from '../../src/errors.ts';
import { repair } from '../../src/store/bodies/body-repair.ts';

/**
 * Whether `repair` takes the body for JSON: whether `JSON.parse` accepts it once a decoder has taken off a byte order
 * mark and put U+FFFD for bytes that are not valid.
 */
export function isJson(body: Buffer): boolean {
  try {
    repair(body);
    return true;
  } catch (error) {
    if (error instanceof EnvelopeError) return false;
    throw error;
  }
}
