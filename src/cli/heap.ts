/**
 * What V8 is told about memory, to be imported before anything else (docs/decisions/0017 has the measurements;
 * https://nodejs.org/api/v8.html#v8setflagsfromstringflags).
 */
import { setFlagsFromString } from 'node:v8';

// The nursery stays at the size that it begins with, 1 MB. The bytes of an answer lie outside the heap, in pieces of
// 64 KiB that only a collection gives back. In a nursery that grows to 16 MB they pile up until V8 marks the whole heap
// because of them, which is a fifth of a worker's time.
setFlagsFromString('--semi-space-growth-factor=1');

/**
 * For verbs that fetch pages: from now on the heap may grow by as much as is alive in it before it is collected. By itself V8
 * lets up to three times as much pile up, and with it the bytes of pages that are done with, for which it marks the heap
 * again and again: a fifth of a worker's time with pages of 1 MB. Verbs that make many objects are slower with it.
 */
export function keepHeapSmall(): void {
  setFlagsFromString('--heap-growing-percent=100');
}
