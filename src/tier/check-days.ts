/** Checks tiered days: their objects against what was noted of them, their pages against their seals, their records against their pages. Nothing is changed. */
import { DaywalkError } from '../errors.ts';
import type { MovedDay } from '../store/moved-days.ts';
import { WrittenDigest } from '../written.ts';
import { eachPage, readEvents, type TieredPage } from './day-objects.ts';
import type { TierParts } from './moved-log.ts';
import { isSpoiled, readBack, spoiledObject } from './object-file.ts';
import { countSeals } from './rows.ts';
import { checkPage } from './tiered-page-rows.ts';

type CheckParts = Pick<TierParts, 'database' | 'store' | 'signal'>;

/** Reads both objects of each day whole. */
export async function checkTieredDays(parts: CheckParts, days: readonly MovedDay[]) {
  const sums = { days: days.length, pages: 0, bytes: 0 };
  /** An object that is not what was written, a page in it that is not what was sealed, or records that its pages do not show. */
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
      await told(note, () => checkEvents(parts, moved));
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
    const isFinding = isSpoiled(error) || !(error instanceof DaywalkError);
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
  let count = 0;
  const sealed = new Set<string>();
  const records = new WrittenDigest();
  const compare = async (page: TieredPage) => {
    count += 1;
    const { matches, shown } = await checkPage(database, page);
    records.take(shown.map((text) => ({ text })));
    if (matches !== null) sealed.add(`${page.walk_id} ${page.page_no}`);
    if (matches === false)
      note(`${key}: page ${page.page_no} of walk ${page.walk_id} is not what was sealed`);
  };
  const isWhole = await eachPage(store, moved.pages, compare, signal);
  const seals = await countSeals(database, moved);
  if (seals !== null && sealed.size !== seals)
    note(`${key}: ${seals} pages were sealed, and it holds ${sealed.size} of them`);
  if (!isWhole) note(`${key} is not what was written`);
  else if (records.end().recordsSha256 !== moved.recordsSha256)
    note(`${moved.events.key} is said to hold other records than the pages of its day show`);
  return count;
}

/** The object of the records against what was noted of it: its bytes, and the digest over its records that its pages are held against. */
async function checkEvents({ store, signal }: CheckParts, { events, recordsSha256 }: MovedDay) {
  const found = await readBack(readEvents, store, events.key, signal);
  if (found.sha256 !== events.sha256 || found.recordsSha256 !== recordsSha256)
    throw spoiledObject(store, events.key);
}
