/** Restores days: their pages come back from the object, then Postgres shows them again, then they leave the events table. */
import { ObjectStoreError } from '../errors.ts';
import type { KeptDay } from '../model.ts';
import type { MovedDay } from '../store/moved-days.ts';
import { listOpenPrunings } from '../store/pruned-pages.ts';
import { eachPage, type TieredPage } from './day-objects.ts';
import { isMoreThere, settleDay, settleLog, type TierParts, withDay } from './moved-log.ts';
import { checkObject, isSpoiled } from './object-file.ts';
import { removeAgain, restoreDay } from './rows.ts';
import { putBack } from './tiered-page-rows.ts';

/** A pruning that began before may remove pages that were just put back. */
const ATTEMPTS = 4;

/**
 * Brings days back, one after the other; the objects stay.
 * @param recheckDays how long after it closed a day is looked at again.
 * @returns the days that are back, and those that are still in the tier.
 * @throws {ObjectStoreError} where an object is gone, or not what was written.
 */
export async function restoreDays(
  parts: TierParts,
  days: readonly MovedDay[],
  recheckDays: number,
  onDay: (done: number) => void = () => {},
) {
  const { store, signal } = parts;
  const report = { days: [] as MovedDay[], kept: [] as KeptDay[] };
  for (const [index, moved] of days.entries()) {
    signal.throwIfAborted();
    const restore = () => restoreOne(parts, moved, recheckDays);
    const result =
      moved.place === store.name
        ? await withDay(parts, moved, restore)
        : `it is in ${moved.place}, and tier.url is ${store.name}`;
    if (typeof result !== 'string') report.days.push(moved);
    else report.kept.push({ stream: moved.stream, day: moved.day, reason: result });
    onDay(index + 1);
  }
  // Behind the days: one whose records are lost comes back from its pages.
  await settleLog(parts);
  return report;
}

/** @returns true, or why it is not here. */
async function restoreOne(
  parts: TierParts,
  moved: MovedDay,
  recheckDays: number,
): Promise<true | string> {
  const { database, store, signal } = parts;
  const isBack = async () => (await restoreDay(database, moved, recheckDays)) === 'restored';
  const open = await listOpenPrunings(database);
  // What a killed move left to be removed may be all that there is of the day; where it is not all, nothing but what was written is put beside it.
  const isLeft = open.some((pruning) => pruning.moved === moved.publication);
  let restored = isLeft && (await isBack());
  if (isLeft && !restored) await checkObject(store, moved.pages, signal);
  for (let attempt = 0; !restored && attempt < ATTEMPTS; attempt++) {
    await putPagesBack(parts, moved).catch(async (error: unknown) => {
      // The reason is told, and not what becomes of this. What came of a spoiled object is neither believed later nor removed.
      if (!isSpoiled(error)) await removeAgain(database, moved).catch(() => {});
      throw error;
    });
    restored = await isBack();
  }
  if (!restored)
    return 'its pages were removed again and again while it was brought back: is another process pruning its month?';
  // Moving tells of it.
  const files = [...(await parts.log.files(signal)).values()];
  if (!(await isMoreThere(parts, files, moved))) await settleDay(parts, moved);
  return true;
}

async function putPagesBack(
  { database, store, signal }: TierParts,
  { stream, day, pages }: MovedDay,
): Promise<void> {
  const wrong = (found: string) =>
    new ObjectStoreError('settings', `${stream} ${day}: ${pages.key} in ${store.name} ${found}`, {
      hint: 'The day stays where it is, and nothing of it is shown. Put the object back from a copy of the folder or bucket.',
    });
  const put = async (page: TieredPage) => {
    signal.throwIfAborted();
    if (!(await putBack(database, page)))
      throw wrong(`holds another page ${page.page_no} of walk ${page.walk_id} than was sealed`);
  };
  if (!(await eachPage(store, pages, put, signal))) throw wrong('is not what was written');
}
