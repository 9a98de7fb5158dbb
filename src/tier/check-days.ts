/** Checks tiered days: objects against what was noted of them, pages against their seals, records against their pages, and the table that others read. Nothing is changed. */
import { DaywalkError } from '../errors.ts';
import { listMovedDays, type MovedDay } from '../store/moved-days.ts';
import { WrittenDigest } from '../written.ts';
import { eachPage, readEvents, type TieredPage } from './day-objects.ts';
import { DeltaLogError } from './delta/delta-actions.ts';
import { pathOf, type TierParts } from './moved-log.ts';
import { isSpoiled, readBack, spoiledObject } from './object-file.ts';
import { countSeals } from './rows.ts';
import { checkPage } from './tiered-page-rows.ts';

type CheckParts = Pick<TierParts, 'database' | 'store' | 'log' | 'signal'>;

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
  for (const { stream, day, problem } of await checkTable(parts, days))
    findings.push({ stream, day, problem });
  return { ...sums, findings };
}

/** What the check found; bytes are those of the objects. */
export type TierCheck = Awaited<ReturnType<typeof checkTieredDays>>;

/** The days that the table of events does not have as Postgres says: who reads it misses their records, or has them twice. */
async function checkTable({ database, store, log, signal }: CheckParts, days: readonly MovedDay[]) {
  const here = days.filter(({ place }) => place === store.name);
  const inTable = new Map<string, string[]>();
  try {
    for (const { partitionValues, path } of (await log.files(signal)).values()) {
      const paths = inTable.get(nameOf(partitionValues)) ?? [];
      inTable.set(nameOf(partitionValues), [...paths, path]);
    }
  } catch (error) {
    if (!(error instanceof DeltaLogError) && !isSpoiled(error)) throw error;
    return here.map((one) => ({ ...one, problem: error.message }));
  }
  const wrong = here.filter((one) => inTable.get(nameOf(one))?.join() !== pathOf(one));
  // What came back meanwhile, or moved anew, is in it otherwise.
  const now = wrong.length === 0 ? [] : await listMovedDays(database, null, null);
  const still = new Set(now.map(({ publication }) => publication));
  return wrong
    .filter(({ publication }) => still.has(publication))
    .map((one) => ({
      ...one,
      problem: `the table of events does not have ${one.events.key}, or not it alone: the next daywalk tier puts that right`,
    }));
}

const nameOf = ({ stream, day }: Pick<MovedDay, 'stream' | 'day'>) => `${stream} ${day}`;

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
