/** What the verbs have in common that read days that moved: the folder or bucket. */
import type { MovedRecords } from '../store/moved-days.ts';
import { StoredRecords, UNREACHED_RECORDS } from '../tier/moved-records.ts';
import type { Opening } from './tier-wiring.ts';

/** What days that moved hold; without a setting that says where that is, each of them is an error. */
export async function openMoved(opening: Opening): Promise<MovedRecords> {
  if (opening.settings.tierUrl === undefined) return UNREACHED_RECORDS;
  const { openObjectStore } = await import('./tier-wiring.ts');
  return new StoredRecords(await openObjectStore(opening));
}
