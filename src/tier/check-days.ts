/** Checks tiered days: their objects against what was noted of them, and their pages against their seals. Nothing is changed. */
import { DaywalkError, ObjectStoreError } from '../errors.ts';
import type { MovedDay } from '../store/moved-days.ts';
import { eachPage, type TieredPage } from './day-objects.ts';
import type { TierParts } from './moved-log.ts';
import { checkObject } from './object-file.ts';
import { countSeals } from './rows.ts';
import { matchesSeal } from './tiered-page-rows.ts';

type CheckParts = Pick<TierParts, 'database' | 'store' | 'signal'>;

/** Reads both objects of each day whole. */
export async function checkTieredDays(parts: CheckParts, days: readonly MovedDay[]) {
  const sums = { days: days.length, pages: 0, bytes: 0 };
  /** An object that is not what was written, or a page in it that is not what was sealed. */
  const findings: (Pick<MovedDay, 'stream' | 'day'> & { readonly problem: string })[] = [];
  for (const moved of days) {
    parts.signal.throwIfAborted();
    const { stream, day, place, pages, events } = moved;
    const note = (problem: string) => findings.push({ stream, day, problem });
    sums.bytes += pages.bytes + events.bytes;
    if (place !== parts.store.name) note(`it is in ${place}, and tier.url is ${parts.store.name}`);
    else {
      await told(note, async () => {
        sums.pages += await checkPages(parts, moved, note);
      });
      await told(note, () => checkObject(parts.store, events, parts.signal));
    }
  }
  return { ...sums, findings };
}

/** What the check found; bytes are those of the objects. */
export type TierCheck = Awaited<ReturnType<typeof checkTieredDays>>;

/** An object that is gone or cannot be read is a finding; a store that is away is none. */
async function told(note: (problem: string) => void, check: () => Promise<void>): Promise<void> {
  try {
    await check();
  } catch (error) {
    const isFinding =
      error instanceof ObjectStoreError
        ? error.fault === 'settings'
        : !(error instanceof DaywalkError);
    if (!isFinding || !(error instanceof Error)) throw error;
    note(error.message);
  }
}

async function checkPages(
  { database, store, signal }: CheckParts,
  moved: MovedDay,
  note: (problem: string) => void,
): Promise<number> {
  const { key } = moved.pages;
  let [count, sealed] = [0, 0];
  const compare = async (page: TieredPage) => {
    count += 1;
    const matches = await matchesSeal(database, page);
    if (matches !== null) sealed += 1;
    if (matches === false)
      note(`${key}: page ${page.page_no} of walk ${page.walk_id} is not what was sealed`);
  };
  const isWhole = await eachPage(store, moved.pages, compare, signal);
  const seals = await countSeals(database, moved);
  if (seals !== null && sealed !== seals)
    note(`${key}: ${seals} pages were sealed, and it holds ${sealed} of them`);
  if (!isWhole) note(`${key} is not what was written`);
  return count;
}
