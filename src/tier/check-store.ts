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
  try {
    await checkWriting(store, key, signal);
  } catch (error) {
    const isAway = error instanceof ObjectStoreError && error.fault === 'away';
    if (!isAway) await store.remove(key, signal).catch(() => {});
    throw error;
  }
  await store.remove(key, signal);
  if ((await store.read(key, signal)) !== null)
    throw untrusted(
      store,
      'an object that was removed is still there',
      'Is there a cache on the way?',
    );
}

async function checkWriting(store: ObjectStore, key: string, signal: AbortSignal): Promise<void> {
  const [first, second] = [Buffer.from(`daywalk was here: ${key}`), Buffer.from('not to be kept')];
  if ((await store.create(key, first, signal)) !== 'created')
    throw untrusted(
      store,
      'a new object is said to have been there',
      'The store does not keep the metadata of objects (x-amz-meta-…), or answers out of a cache.',
    );
  const isRefused = (await store.create(key, second, signal)) === 'exists';
  const kept = await store.read(key, signal);
  if (!isRefused || !kept?.equals(first))
    throw untrusted(
      store,
      'a second object of the same key took the place of the first',
      'The store ignores conditional writes (If-None-Match: *), without which two workers may overwrite each other: take a newer version of it, or another one.',
    );
  const range = await store.read(key, signal, { start: 8, end: 16 });
  const isSized = (await store.size(key, signal)) === first.length;
  if (!isSized || !range?.equals(first.subarray(8, 16)))
    throw untrusted(
      store,
      'an object that was just written is not read as it is',
      'The store must show every object as soon as it is written: is there a cache on the way?',
    );
}

function untrusted(store: ObjectStore, found: string, hint: string): ObjectStoreError {
  return new ObjectStoreError('settings', `${store.name}: ${found}`, { hint });
}
