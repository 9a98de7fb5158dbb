/** Whether the program takes a body for JSON. */
import { EnvelopeError } from '../../src/errors.ts';
import { textOf } from '../../src/store/body-text.ts';
import { type JsonReader, scanJson } from '../../src/store/json-scan.ts';

const ignore = (): void => {};
const DEAF: JsonReader = {
  open: ignore,
  close: ignore,
  key: ignore,
  string: ignore,
  number: ignore,
  word: ignore,
};

/**
 * Whether `sanitise` takes the body for JSON: whether `JSON.parse` accepts it once a decoder has taken off a byte order
 * mark and put U+FFFD for bytes that are not valid.
 */
export function isJson(body: Buffer): boolean {
  try {
    scanJson(textOf(body), DEAF);
    return true;
  } catch (error) {
    if (error instanceof EnvelopeError) return false;
    throw error;
  }
}
