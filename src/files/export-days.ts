/** Exports days to files: what is there as it is published is skipped, what is not complete is left out and told. */
import type { FileHandle } from 'node:fs/promises';
import type { Clock } from '../clock.ts';
import { DaywalkError, SettingsError } from '../errors.ts';
import type { Day, OpenRange } from '../model.ts';
import { daysBetween } from '../plan/days.ts';
import { advisoryLock } from '../store/advisory-locks.ts';
import type { Database } from '../store/database.ts';
import { readStreams } from '../store/streams.ts';
import type { Written } from '../written.ts';
import { type Contents, type ExportedTable, type Format, pathOf } from './contents.ts';
import { faultOf, writeWhole } from './folder.ts';
import { aboutDay, type IncompleteDay, isOf, ManifestBook, readManifest } from './manifest.ts';
import { type ArchivedDay, hasMade, isAway } from './rows.ts';

/** What an export needs. */
export interface ArchiveParts {
  readonly database: Database;
  readonly clock: Clock;
}

/** What to export, from the first day to the last closed one where none is named, and where to. */
export interface FileExport extends OpenRange {
  readonly folder: string;
  readonly contents: Contents;
  /** Null: that of the files that are there, that of the contents in a new folder. */
  readonly format: Format | null;
  /** Compare the digests of files that are there, and not only their sizes. */
  readonly checkFiles: boolean;
}

/** What an export did; skipped are days whose files were there, records and bytes those of the files written. */
export type FileExportReport = Readonly<ReturnType<typeof newReport>>;
const newReport = () => ({
  written: 0,
  skipped: 0,
  records: 0,
  bytes: 0,
  incomplete: [] as IncompleteDay[],
});

type OnDay = (done: number, all: number, report: FileExportReport) => void;

/** A day whose stored pages, or rows of a record table, are not the records that its walks count. */
export class UnsoundDayError extends DaywalkError {}

const MANIFEST_EVERY_MS = 2_000;
/** A day may be published anew while it is read. */
const ATTEMPTS = 4;

const HOLDS_MORE =
  'its file holds more than is stored of it, and is not of this database as it is, as after a backup was put back: move it away, and it is written anew';

/**
 * Writes a file for each complete day of the range.
 * @param onDay told of each day that was dealt with, and how many there are.
 * @throws {SettingsError} where the folder cannot be written; what was written before stays, with its manifest.
 */
export async function exportDays(
  parts: ArchiveParts,
  options: FileExport,
  signal: AbortSignal,
  onDay: OnDay = () => {},
): Promise<FileExportReport> {
  const { database, clock } = parts;
  const { folder, contents } = options;
  const days = await listAskedDays(database, options);
  const claim = advisoryLock('daywalk.export', folder);
  const report = await database.alone(claim, async () => {
    const book = new ManifestBook(folder, await readManifest(folder));
    const format = book.formatFor(contents, options.format);
    // Before the first file: a folder that a kill leaves without an entry for it is known as one of this format.
    await book.write(clock.now());
    return exportInto({ ...parts, ...options, format, book, signal }, days, onDay);
  });
  if (report !== null) return report;
  throw new SettingsError(`${folder} is being written by another export`, {
    hint: 'Wait for it, or write into another folder.',
  });
}

/** An export that has its folder, and whose format is settled. */
interface Job extends ArchiveParts, FileExport {
  readonly format: Format;
  readonly book: ManifestBook;
  readonly signal: AbortSignal;
}

async function exportInto(job: Job, days: readonly AskedDay[], onDay: OnDay) {
  const { book, clock, signal } = job;
  const report = newReport();
  let noted = clock.monotonic();
  try {
    for (const [index, day] of days.entries()) {
      signal.throwIfAborted();
      const result = await exportDay(job, day);
      if (result === 'skipped') report.skipped += 1;
      else if ('state' in result) {
        book.leaveOut(result);
        report.incomplete.push(result);
      } else {
        report.written += 1;
        report.records += result.records;
        report.bytes += result.bytes;
      }
      onDay(index + 1, days.length, report);
      if (clock.monotonic() - noted < MANIFEST_EVERY_MS) continue;
      await book.write(clock.now());
      noted = clock.monotonic();
    }
  } catch (error) {
    // What was written is noted all the same; this failure is the one to tell.
    await book.write(clock.now()).catch(() => {});
    throw error;
  }
  await book.write(clock.now());
  return report;
}

/** Null: the store knows nothing of it. */
type UnknownDay = Pick<IncompleteDay, 'stream' | 'day' | 'reason'> & { readonly state: null };
type AskedDay = ArchivedDay | UnknownDay;

/** Why a day is missing that a backfill would walk. */
export const BEFORE_FIRST = 'before the first day of the stream';

/** Every day of the range in every stream until that ends, also those of which the store knows nothing; without a first day only those that it knows. */
async function listAskedDays(database: Database, { contents, from, to }: FileExport) {
  const known = await contents.listDays({ from, to });
  const newest = known.map(({ day }) => day).sort();
  const last = to ?? newest.at(-1);
  // What was pruned or moved is no news, unless it is asked for.
  if (from === null || last === undefined) return known.filter((day) => !isAway(day.state));
  const registered = await readStreams(database, contents.streams);
  const ofEnded = known.filter(({ stream }) => !contents.streams.includes(stream));
  const asked = contents.streams.flatMap((stream) => {
    const days = new Map(known.flatMap((day) => (day.stream === stream ? [[day.day, day]] : [])));
    const { since, until = null } = registered.find(({ name }) => name === stream) ?? {};
    return daysBetween(from, last).flatMap((day) => {
      const reason =
        since !== undefined && day < since ? BEFORE_FIRST : 'not closed or planned yet';
      const unknown = until !== null && day > until ? [] : { stream, day, state: null, reason };
      return days.get(day) ?? unknown;
    });
  });
  return [...asked, ...ofEnded];
}

async function exportDay(job: Job, asked: AskedDay): Promise<'skipped' | Written | IncompleteDay> {
  const { book, contents, format } = job;
  const { table } = contents;
  const path = pathOf(asked.stream, table?.name, asked.day, format);
  const there = await intactFile(job, path);
  const leftOut = (state: string, reason: string | null): IncompleteDay => ({
    stream: asked.stream,
    day: asked.day,
    state,
    reason,
    earlierFile: there === undefined ? null : path,
  });
  const isThere = (now: ArchivedDay): boolean =>
    there !== undefined &&
    isOf(there, now) &&
    there.table?.id === table?.id &&
    (now.timeZone === undefined || there.timeZone === now.timeZone);
  let day = asked;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (day.state === null) return leftOut('missing', day.reason);
    if (isAway(day.state) && isThere(day)) return 'skipped';
    if (day.state !== 'complete') return leftOut(day.state, day.lastError);
    const beside = await keptBeside(job, day);
    if (there && isThere(day) && (there.beside ?? []).every((other) => beside.includes(other))) {
      book.add({ ...there, ...aboutDay(day) });
      return 'skipped';
    }
    // The object of a day that moved does not tell them apart.
    if (!day.moved) day = { ...day, beside };
    // The source may have forgotten meanwhile what only this file has.
    if (there && there.records > recordsOf(day) && !(await hasMade(job.database, day, there)))
      return leftOut(day.state, HOLDS_MORE);
    const { written, unchanged } = await writeDay(job, path, day);
    if (unchanged && written.records === recordsOf(day)) {
      const about = { path, ...(table && { table }), format, ...aboutDay(day) };
      book.add({ ...about, ...written, exportedAt: new Date(job.clock.now()).toISOString() });
      return written;
    }
    const range = { from: day.day, to: day.day };
    const { stream } = day;
    const now = (await contents.listDays(range)).find((one) => one.stream === stream);
    // Pages may be removed while they are read, by retention or because the day moved.
    const isHere = !isAway(now?.state) && now?.moved?.publication === day.moved?.publication;
    if (unchanged && isHere) throw unsound(day, table, written.records);
    day = now ?? { stream, day: asked.day, state: null, reason: 'not there any more' };
  }
  return leftOut('complete', 'it was published anew again and again while it was read');
}

/** The pruned days under which some of what is shown of this day was shown then, and whose files the folder has as they were then. */
async function keptBeside(job: Job, { stream, stood }: ArchivedDay): Promise<Day[]> {
  const { table, listDays } = job.contents;
  const kept: Day[] = [];
  for (const day of Object.keys(stood).sort()) {
    const file = await intactFile(job, pathOf(stream, table?.name, day, job.format));
    const known = file ? await listDays({ from: day, to: day }) : [];
    if (known.some((then) => then.stream === stream && file && isOf(file, then))) kept.push(day);
  }
  return kept;
}

/** How many records its file has. */
const recordsOf = ({ records, stood, beside = [] }: ArchivedDay): number =>
  beside.reduce((left, day) => left - (stood[day] ?? 0), records);

/** Writes a day's file; it is kept where the day was still as it was listed, and all of it was there. */
async function writeDay(
  { database, folder, contents, format, signal }: Job,
  path: string,
  day: ArchivedDay,
): Promise<{ readonly written: Written; readonly unchanged: boolean }> {
  let unchanged = false;
  const write = (file: FileHandle) => contents.write(file, day, format, signal);
  const written = await database.retry(() =>
    writeWhole(folder, path, write, async ({ records }) => {
      unchanged = await contents.isUnchanged(day);
      return unchanged && records === recordsOf(day);
    }),
  );
  return { written, unchanged };
}

/** The entry of a file that is there as the manifest says. */
async function intactFile({ book, folder, checkFiles }: Job, path: string) {
  const entry = book.file(path);
  const isIntact = entry && (await faultOf(folder, entry, checkFiles)) === null;
  return isIntact ? entry : undefined;
}

function unsound(
  { stream, day, records }: ArchivedDay,
  table: ExportedTable | undefined,
  found: number,
): UnsoundDayError {
  const [holder, advice] =
    table === undefined
      ? ['its pages hold', 'daywalk verify --offline names it.']
      : [`daywalk.${table.name} holds`, `daywalk tables --rebuild ${table.name} makes it anew.`];
  return new UnsoundDayError(
    `${stream} ${day}: its walks count ${records} records, and ${holder} ${found}`,
    { hint: `Something else than daywalk changed the tables: ${advice}` },
  );
}
