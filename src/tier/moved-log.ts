/** The log of the events table in step with what Postgres says: one file for each day that has moved, and none of another one. */
import type { Clock } from '../clock.ts';
import { ObjectStoreError } from '../errors.ts';
import type { Database } from '../store/database.ts';
import { listMovedDays, type MovedDay } from '../store/moved-days.ts';
import { EVENTS_FOLDER } from './day-objects.ts';
import type { LiveFile } from './delta/delta-actions.ts';
import type { DayFile, DeltaLog } from './delta/delta-log.ts';
import { foreign } from './delta/delta-replay.ts';
import type { ObjectStore } from './object-store.ts';
import { claimDay, claimLog, keepKnown } from './rows.ts';

/** What moving, restoring and checking need. */
export interface TierParts {
  readonly database: Database;
  readonly store: ObjectStore;
  readonly log: DeltaLog;
  readonly clock: Clock;
  /** Ends the work between two steps; what is left is mended by the next. */
  readonly signal: AbortSignal;
}

type StreamDay = Pick<MovedDay, 'stream' | 'day'>;

/** The object of a day's records, from the folder of the table. */
export const pathOf = ({ events }: Pick<MovedDay, 'events'>): string =>
  events.key.slice(EVENTS_FOLDER.length);

/** The object of a day's records as a file of the table. */
export const fileOfEvents = (
  { stream, day, events, records }: MovedDay,
  modificationTime: number,
): LiveFile => ({
  path: pathOf({ events }),
  partitionValues: { stream, day },
  size: events.bytes,
  modificationTime,
  dataChange: true,
  stats: JSON.stringify({ numRecords: records }),
});

/** Does something with a day while no other process does. @returns what `work` does, or why it was not done. */
export async function withDay<T>(
  { database }: TierParts,
  day: StreamDay,
  work: () => Promise<T>,
): Promise<T | string> {
  const result = await database.retry(() => database.alone(claimDay(day), work));
  return result ?? 'another process moves it just now';
}

/** Commits that a day has a file, or none, while no other process commits; what changes nothing is not written. */
export async function commitAlone({ database, log, signal }: TierParts, day: DayFile) {
  await database.retry(() => database.alone(claimLog, () => log.commit(day, signal)));
}

/** Removes what left the table a while ago, while no other process commits; never what Postgres says that a day is in. */
export async function cleanUpAlone({ database, log, signal }: TierParts): Promise<void> {
  const moved = await listMovedDays(database, null, null);
  const wanted = new Set(moved.map(({ events }) => events.key));
  const cleanUp = () => log.cleanUp(signal, (key) => wanted.has(key));
  await database.retry(() => database.alone(claimLog, cleanUp));
}

/** Brings the table in step with what Postgres says of a day that this process has taken. */
export async function settleDay(parts: TierParts, { stream, day }: StreamDay): Promise<void> {
  const { database, store, clock } = parts;
  const moved = await listMovedDays(database, [stream], { from: day, to: day });
  const here = moved.find(({ place }) => place === store.name);
  const file = here && fileOfEvents(here, clock.now());
  await commitAlone(parts, file ?? { partitionValues: { stream, day }, path: null });
}

/**
 * Mends what a killed process left: files of days that are not said to have moved, and days without a file. Files that no
 * publication of this database wrote are another's, and stay.
 * @returns these, and the days that are in the tier, and not in the table, as one of these has more of them.
 */
export async function settleLog(parts: TierParts) {
  const { database, store, log, signal } = parts;
  const moved = await listMovedDays(database, null, null);
  const wanted = new Map(
    moved.flatMap((day) => (day.place === store.name ? [[pathOf(day), day]] : [])),
  );
  const files = await log.files(signal);
  checkPlace(store.name, moved, files);
  const lacking = [...wanted].flatMap(([path, day]) => (files.has(path) ? [] : [day]));
  const strays = [...files.values()].filter(({ path }) => !wanted.has(path));
  const foreigner = strays.find(({ path }) => !NAMED.test(path));
  if (foreigner !== undefined) throw foreign(`${foreigner.path} is none of daywalk's files`);
  const ours = await keepKnown(database, strays.map(publicationOf));
  const unknown = strays.filter((file) => !ours.has(publicationOf(file)));
  const days = new Map<string, StreamDay>();
  const settle = (day: StreamDay) => days.set(`${day.stream} ${day.day}`, day);
  for (const file of strays) if (ours.has(publicationOf(file))) settle(file.partitionValues);
  const kept: StreamDay[] = [];
  for (const day of lacking)
    if (await isMoreThere(parts, unknown, day)) kept.push(day);
    else settle(day);
  // One that is taken just moves.
  for (const day of days.values()) await database.alone(claimDay(day), () => settleDay(parts, day));
  return { unknown, kept };
}

/**
 * Whether one of these files is there, has more of the day than is to take its place, and is of no publication of this database: where
 * a backup was put back it was made after it, and the source may have forgotten what it has.
 */
export async function isMoreThere(
  { database, store, signal }: TierParts,
  files: readonly LiveFile[],
  { stream, day, records }: StreamDay & Pick<MovedDay, 'records'>,
): Promise<boolean> {
  const more = files.find(
    ({ partitionValues: of, stats }) =>
      of.stream === stream && of.day === day && JSON.parse(stats ?? '{}').numRecords > records,
  );
  if (more === undefined || (await keepKnown(database, [publicationOf(more)])).size > 0)
    return false;
  return (await store.size(`${EVENTS_FOLDER}${more.path}`, signal)) !== null;
}

/** @throws {ObjectStoreError} where the folder or bucket has another name than when its days moved: they would be taken for none. */
function checkPlace(
  name: string,
  moved: readonly MovedDay[],
  files: ReadonlyMap<string, LiveFile>,
): void {
  const renamed = moved.find((day) => day.place !== name && files.has(pathOf(day)));
  if (renamed !== undefined)
    throw new ObjectStoreError(
      'settings',
      `${name} has days that moved to ${renamed.place}, as daywalk.tiered_days says`,
      {
        hint: 'If it was renamed, or is a copy that takes its place, give the rows there the new place; docs/tier.md has the statement.',
      },
    );
}

/** What wrote a file: the UUID that its name begins with. */
const publicationOf = ({ path }: LiveFile): string => NAMED.exec(path)?.[1] ?? '';
const NAMED = /\/([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})(?:-\d+)?\.parquet$/;
