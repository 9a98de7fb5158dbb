/** What the verbs have in common that read days that moved: the folder or bucket, opened before and closed after. */
import type { Logger } from '../log.ts';
import type { Settings } from '../settings/settings.ts';
import type { MovedRecords } from '../store/moved-days.ts';
import { StoredRecords, UNREACHED_RECORDS } from '../tier/moved-records.ts';

/** Calls `work` with what days that moved hold; without a setting that says where that is, each of them is an error. */
export async function withMoved<T>(
  opened: { readonly settings: Settings; readonly log: Logger },
  work: (moved: MovedRecords) => Promise<T>,
): Promise<T> {
  if (opened.settings.tierUrl === undefined) return work(UNREACHED_RECORDS);
  const { withObjectStore } = await import('./tier-wiring.ts');
  return withObjectStore(opened, (store) => work(new StoredRecords(store)));
}
