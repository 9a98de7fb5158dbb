/** Whether a body is JSON: to the program, and to JavaScript. */
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

/** What `JSON.parse` takes, after a decoder has done what it does. */
export function parses(body: Buffer): boolean {
  try {
    JSON.parse(new TextDecoder().decode(body));
    return true;
  } catch {
    return false;
  }
}
