/** Moves days: objects written and read back, then in the log of the events table, then Postgres says so; each step may be repeated. */
import { isDeepStrictEqual } from 'node:util';
import { DaywalkError } from '../errors.ts';
import type { Logger } from '../log.ts';
import type { AgedDay, AgeLimit, KeptDay } from '../model.ts';
import { listMovedDays, type MovedDay, type MovedObject } from '../store/moved-days.ts';
import { listOpenPrunings, removeMarked } from '../store/pruned-pages.ts';
import { shownRecords } from '../store/shown-records.ts';
import { counted } from '../text.ts';
import { EVENTS, PAGES } from './day-objects.ts';
import {
  cleanUpAlone,
  commitAlone,
  fileOfEvents,
  isMoreThere,
  settleDay,
  settleLog,
  type TierParts,
  withDay,
} from './moved-log.ts';
import { writeObject } from './moved-object.ts';
import { checkObject, isSpoiled } from './object-file.ts';
import { checkStore } from './object-store.ts';
import {
  type LeavingDay,
  listDaysToMove,
  type MarkedTiered,
  markTiered,
  readLeavingDay,
} from './rows.ts';
import { leavingPages } from './tiered-page-rows.ts';

/** A day may be published anew while it moves. */
const ATTEMPTS = 4;

/**
 * Moves days in this order, one after the other. The pages of a month are removed when its last day has moved, so that a
 * month of which nothing stays gives its space back at once.
 * @param forMs no day is begun after so long.
 */
export async function moveDays(
  parts: TierParts,
  days: readonly AgedDay[],
  onDay: (done: number) => void = () => {},
  forMs = Number.POSITIVE_INFINITY,
) {
  const { database, clock, signal } = parts;
  const since = clock.monotonic();
  const { unknown, kept } = await settleLog(parts);
  const left = await checkLeft(parts);
  const report = {
    days: [] as MovedDay[],
    kept: kept
      .map(({ stream, day }): KeptDay => ({ stream, day, reason: HOLDS_MORE }))
      .concat(left.kept),
    /** Months of which nothing is here any more: their space is given back at once, YYYY-MM. */
    emptied: [] as string[],
    /** Days that were left for the next time. */
    left: 0,
  };
  let month: string | null = null;
  for (const [index, due] of days.entries()) {
    signal.throwIfAborted();
    if (clock.monotonic() - since >= forMs) {
      report.left = days.length - index;
      break;
    }
    const { stream, day } = due;
    if (month !== null && month !== day.slice(0, 7))
      report.emptied.push(...(await removeMarked(database, signal, left.found)));
    month = day.slice(0, 7);
    const moving = async () =>
      (await isMoreThere(parts, unknown, due)) ? HOLDS_MORE : moveOne(parts, due);
    const result = due.kept ?? (await withDay(parts, due, moving));
    if (typeof result === 'string') report.kept.push({ stream, day, reason: result });
    else {
      report.days.push(result);
      left.found.add(result.publication);
    }
    onDay(index + 1);
  }
  report.emptied.push(...(await removeMarked(database, signal, left.found)));
  if (report.days.length > 0) await cleanUpAlone(parts);
  return report;
}

/** What a move did. */
export type MoveReport = Awaited<ReturnType<typeof moveDays>>;

/**
 * Looks at the objects of days whose pages a killed process left here: those pages may be all that there is by now.
 * @returns the publications of the days whose objects are as they were written, and why pages of the others stay.
 */
async function checkLeft({ database, store, signal }: TierParts) {
  const open = new Set((await listOpenPrunings(database)).map(({ moved }) => moved));
  const found = new Set<string>();
  const kept: KeptDay[] = [];
  for (const moved of open.size === 0 ? [] : await listMovedDays(database, null, null)) {
    const { stream, day, publication, place, pages, events } = moved;
    if (!open.has(publication)) continue;
    const stays = (why: string) => kept.push({ stream, day, reason: `${why}; ${BRING_BACK}` });
    if (place !== store.name) {
      stays(`it is in ${place}, and tier.url is ${store.name}`);
      continue;
    }
    try {
      for (const object of [pages, events]) await checkObject(store, object, signal);
      found.add(publication);
    } catch (error) {
      if (!isSpoiled(error)) throw error;
      stays(error.message);
    }
  }
  return { found, kept };
}

const BRING_BACK =
  'its pages, which were to be removed here, stay: daywalk tier --restore brings it back';

/** Moves a day; what did not move is taken out of the log again. */
async function moveOne(parts: TierParts, due: AgedDay): Promise<MovedDay | string> {
  const result = await moveDay(parts, due);
  if (typeof result === 'string') await settleDay(parts, due);
  return result;
}

/** @returns the day where it has moved, or why it stays. */
async function moveDay(parts: TierParts, due: AgedDay): Promise<MovedDay | string> {
  const { database } = parts;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const leaving = await readLeavingDay(database, due);
    if (leaving === null) return REASONS.pruned;
    const moved = await writeDay(parts, leaving);
    if (moved === null) {
      const now = await readLeavingDay(database, due);
      if (isDeepStrictEqual(now, leaving)) return UNSOUND;
      continue;
    }
    const marked = await markTiered(database, moved, leaving);
    if (marked === 'tiered') return moved;
    if (marked !== 'changed') return REASONS[marked];
  }
  return 'it was published anew again and again while it moved';
}

const REASONS: Record<Exclude<MarkedTiered, 'tiered' | 'changed'>, string> = {
  held: 'a worker has to do with it, or it is to be looked at or walked again: the next runs do that',
  unsealed: 'it is not in the ledger yet: the next run appends it',
  wanted: 'a record table that keeps it longer does not have it yet: the next run takes it in',
  pruned: 'it is not here any more: another process has pruned or moved it',
};
const HOLDS_MORE =
  'its object in the table of events holds more than is stored of it, and is not of this database as it is, as after a backup was put back: move that away, and its own takes the place';
const UNSOUND =
  'its stored pages are not those that its walks count, or that were sealed: daywalk verify --offline tells which';
/** Whether no later run moves it by itself. */
const isStuck = ({ reason }: KeptDay) =>
  [HOLDS_MORE, UNSOUND].includes(reason) || reason.endsWith(BRING_BACK);

/** Writes both objects, and makes the one of the records the file of its day in the events table; null: what came is not all of it. */
async function writeDay(parts: TierParts, leaving: LeavingDay): Promise<MovedDay | null> {
  const { database, store, clock } = parts;
  const { streamId, stream, day, publication } = leaving;
  const pageRows = leavingPages(database, leaving);
  const pages = await writeObject(parts, leaving, PAGES, pageRows, leaving.pages);
  if (pages === null) return null;
  const records = shownRecords(database, leaving);
  const events = await writeObject(parts, leaving, EVENTS, records, leaving.records);
  if (events === null) return null;
  const moved = {
    streamId,
    stream,
    day,
    publication,
    place: store.name,
    pages: objectOf(pages),
    events: objectOf(events),
    records: leaving.records,
    recordsSha256: events.recordsSha256,
  };
  await commitAlone(parts, fileOfEvents(moved, clock.now()));
  return moved;
}

const objectOf = ({ key, bytes, sha256 }: MovedObject): MovedObject => ({ key, bytes, sha256 });

/** Days stay until a person has seen to them. */
export class StuckDaysError extends DaywalkError {}

/** No day is begun after so long, so that the next run is not late; what is left, that one goes on with. */
const LONGEST_MS = 15 * 60_000;

/** Opens the folder or bucket, does the work in it, and closes it. */
export type InTier = (work: (tier: TierParts) => Promise<void>) => Promise<void>;

/**
 * Moves the days that are old enough.
 * @param inTier is called only where a day is to move, or one has moved whose pages are still here.
 * @throws {StuckDaysError} behind all others, where a person has to see to a day, as an object of it is lost, or a page of it damaged.
 */
export async function moveDueDays(
  { database, clock, log }: Pick<TierParts, 'database' | 'clock'> & { readonly log: Logger },
  limits: readonly AgeLimit[],
  inTier: InTier,
  signal: AbortSignal,
): Promise<void> {
  const due = await listDaysToMove(database, limits, false);
  const ready = due.filter(({ kept }) => kept === null);
  const open = await listOpenPrunings(database);
  if (ready.length === 0 && open.every(({ moved }) => moved === null)) {
    await removeMarked(database, signal);
    return;
  }
  const since = clock.monotonic();
  await inTier(async (tier) => {
    await checkStore(tier.store, signal);
    const { days, kept, left } = await moveDays(tier, ready, () => {}, LONGEST_MS);
    const ms = Math.round(clock.monotonic() - since);
    log.info({ days: days.length, kept: kept.length, left, ms }, 'days moved to the tier');
    for (const day of kept) log.warn({ ...day }, 'a day could not move to the tier');
    const [first, ...more] = kept.filter(isStuck);
    if (first === undefined) return;
    const others = more.length === 0 ? '' : ` (and ${counted(more.length, 'other day')})`;
    throw new StuckDaysError(`${first.stream} ${first.day} stays: ${first.reason}${others}`);
  });
}
