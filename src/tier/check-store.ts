/** Whether an object store does what the tier relies on: it is asked with a small object before it is trusted. */
import { systemClock } from '../clock.ts';
import { ObjectStoreError } from '../errors.ts';
import { CHECK_FOLDER, type ObjectStore } from './object-store.ts';

/**
 * Writes a small object, another one of the same key, reads and removes it, and asks for what is not there any more.
 * @throws {ObjectStoreError} where the second one took effect, or anything else is not as it must be.
 */
export async function checkStore(store: ObjectStore, signal: AbortSignal): Promise<void> {
  const key = `${CHECK_FOLDER}${systemClock.uuid()}`;
  const [first, second] = [Buffer.from(`daywalk was here: ${key}`), Buffer.from('not to be kept')];
  const check = (holds: boolean | undefined, otherwise: string, hint: string) => {
    if (!holds) throw new ObjectStoreError('settings', `${store.name}: ${otherwise}`, { hint });
  };
  try {
    check(
      (await store.create(key, first, signal)) === 'created',
      'a new object is said to have been there',
      'The store does not keep the metadata of objects (x-amz-meta-…), or answers out of a cache.',
    );
    check(
      (await store.create(key, second, signal)) === 'exists' &&
        (await store.read(key, signal))?.equals(first),
      'a second object of the same key took the place of the first',
      'The store ignores conditional writes (If-None-Match: *), without which two workers may overwrite each other: take a newer version of it, or another one.',
    );
    const range = await store.read(key, signal, { start: 8, end: 16 });
    check(
      range?.equals(first.subarray(8, 16)) && (await store.size(key, signal)) === first.length,
      'an object that was just written is not read as it is',
      'The store must show every object as soon as it is written: is there a cache on the way?',
    );
    await store.remove(key, signal);
    check(
      (await store.read(key, signal)) === null,
      'an object that was removed is still there',
      'Is there a cache on the way?',
    );
  } catch (error) {
    const isAway = error instanceof ObjectStoreError && error.fault === 'away';
    if (!isAway) await store.remove(key, signal).catch(() => {});
    throw error;
  }
}
