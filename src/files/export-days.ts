/** Exports days to files: what is there as it is published is skipped, what is not complete is left out and told. */
import type { FileHandle } from 'node:fs/promises';
import type { Clock } from '../clock.ts';
import { DaywalkError, SettingsError } from '../errors.ts';
import type { Day } from '../model.ts';
import { daysBetween } from '../plan/days.ts';
import type { Database } from '../store/database.ts';
import { digestOfFile, lockFolder, sizeOf, writeWhole } from './folder.ts';
import { type Format, pathOf } from './layout.ts';
import {
  aboutDay,
  type IncompleteDay,
  isOf,
  type Manifest,
  ManifestBook,
  readManifest,
} from './manifest.ts';
import { writeNdjson } from './ndjson.ts';
import { writeParquet } from './parquet.ts';
import { recordsOf } from './records.ts';
import { type ArchivedDay, isUnchanged, listArchivedDays } from './rows.ts';
import type { Written } from './written.ts';

/** What an export needs. */
export interface ArchiveParts {
  readonly database: Database;
  readonly clock: Clock;
}

/** What to export, and where to. */
export interface FileExport {
  readonly folder: string;
  /** Null: that of the files that are there, `ndjson.gz` in a new folder. */
  readonly format: Format | null;
  readonly streams: readonly string[];
  /** Null: from the first day, to the last closed day. */
  readonly from: Day | null;
  readonly to: Day | null;
  /** Compare the digests of files that are there, and not only their sizes. */
  readonly checkFiles: boolean;
}

/** What an export did. */
export interface FileExportReport {
  readonly written: number;
  /** Days whose files were there already. */
  readonly skipped: number;
  /** Of the files written. */
  readonly records: number;
  readonly bytes: number;
  readonly incomplete: readonly IncompleteDay[];
}

/** A day whose stored pages do not give the records that its walks count. */
export class UnsoundDayError extends DaywalkError {}

const MANIFEST_EVERY_MS = 2_000;
/** A day may be published anew while it is read. */
const ATTEMPTS = 4;

/**
 * Writes a file for each complete day of the range.
 * @param onDay told of each day that was dealt with, and how many there are.
 * @throws {SettingsError} where the folder cannot be written; what was written before stays, with its manifest.
 */
export async function exportDays(
  parts: ArchiveParts,
  options: FileExport,
  signal: AbortSignal,
  onDay: (done: number, all: number, report: FileExportReport) => void = () => {},
): Promise<FileExportReport> {
  const days = await listAskedDays(parts.database, options, signal);
  const unlock = await lockFolder(options.folder);
  try {
    const manifest = await readManifest(options.folder);
    const format = formatFor(options, manifest);
    const book = new ManifestBook(options.folder, manifest);
    return await exportInto(book, parts, { ...options, format }, days, signal, onDay);
  } finally {
    await unlock();
  }
}

/** @throws {SettingsError} where the folder has files of another format: a reader of all of them would read each day twice. */
function formatFor({ folder, format }: FileExport, manifest: Manifest | null): Format {
  const there = manifest?.files.find((file) => file.format !== format)?.format;
  if (format === null) return there ?? 'ndjson.gz';
  if (there === undefined) return format;
  throw new SettingsError(
    `flag --format: ${folder} has files of ${there}, and takes no other format`,
    {
      hint: 'Name another folder with --out, or leave the flag out.',
    },
  );
}

/** An export whose format is settled. */
type SettledExport = FileExport & { readonly format: Format };

async function exportInto(
  book: ManifestBook,
  parts: ArchiveParts,
  options: SettledExport,
  days: readonly AskedDay[],
  signal: AbortSignal,
  onDay: (done: number, all: number, report: FileExportReport) => void,
): Promise<FileExportReport> {
  const { clock } = parts;
  const incomplete: IncompleteDay[] = [];
  const report = { written: 0, skipped: 0, records: 0, bytes: 0, incomplete };
  let noted = clock.monotonic();
  let failed = true;
  try {
    for (const [index, day] of days.entries()) {
      signal.throwIfAborted();
      const result = await exportDay(book, parts, options, day, signal);
      if (result === 'skipped') report.skipped += 1;
      else if ('state' in result) {
        book.leaveOut(result);
        incomplete.push(result);
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
    failed = false;
    return report;
  } finally {
    // What was written is noted also when the rest failed; that failure is the one to tell.
    const writing = book.write(clock.now());
    await (failed ? writing.catch(() => {}) : writing);
  }
}

type AskedDay = ArchivedDay | { readonly stream: string; readonly day: Day; readonly state: null };

/** Every day of the range in every stream, also those of which the store knows nothing; without a first day only those that it knows. */
async function listAskedDays(
  database: Database,
  { streams, from, to }: FileExport,
  signal: AbortSignal,
): Promise<AskedDay[]> {
  const known = await listArchivedDays(database, streams, { from, to }, signal);
  const last =
    to ??
    known
      .map(({ day }) => day)
      .sort()
      .at(-1);
  // What was pruned is no news, unless it is asked for.
  if (from === null || last === undefined) return known.filter((day) => day.state !== 'pruned');
  return streams.flatMap((stream) => {
    const days = new Map(known.flatMap((day) => (day.stream === stream ? [[day.day, day]] : [])));
    return daysBetween(from, last).map((day) => days.get(day) ?? { stream, day, state: null });
  });
}

async function exportDay(
  book: ManifestBook,
  parts: ArchiveParts,
  options: SettledExport,
  asked: AskedDay,
  signal: AbortSignal,
): Promise<'skipped' | Written | IncompleteDay> {
  const { database, clock } = parts;
  const { folder, format, checkFiles } = options;
  const path = pathOf(asked.stream, asked.day, format);
  const there = await intactFile(book, folder, path, checkFiles);
  const leftOut = (state: string, reason: string | null): IncompleteDay => ({
    stream: asked.stream,
    day: asked.day,
    state,
    reason,
    earlierFile: there === undefined ? null : path,
  });
  let day = asked;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (day.state === null)
      return leftOut('missing', 'before the first day of the stream, or not closed yet');
    if (day.state === 'pruned' && there !== undefined && isOf(there, day)) return 'skipped';
    if (day.state !== 'complete') return leftOut(day.state, day.lastError);
    if (there !== undefined && isOf(there, day)) {
      book.add({ ...there, ...aboutDay(day) });
      return 'skipped';
    }
    const current = day;
    let unchanged = false;
    const write = (file: FileHandle) => {
      const chunks = recordsOf(database, current, signal);
      return format === 'parquet'
        ? writeParquet(file, chunks, current, signal)
        : writeNdjson(file, chunks, format === 'ndjson.gz', signal);
    };
    const written = await writeWhole(folder, path, write, async ({ records }) => {
      unchanged = await isUnchanged(database, current);
      return unchanged && records === current.records;
    });
    const whole = written.records === day.records;
    if (unchanged && whole) {
      book.add({ path, format, ...aboutDay(day), ...written, exportedAt: isoOf(clock.now()) });
      return written;
    }
    const [now] = await listArchivedDays(database, [day.stream], { from: day.day, to: day.day });
    // Retention may remove pages while they are read.
    if (unchanged && now?.state !== 'pruned') throw unsound(day, written.records);
    day = now ?? { stream: asked.stream, day: asked.day, state: null };
  }
  return leftOut('complete', 'it was published anew again and again while it was read');
}

/** The entry of a file that is there as the manifest says. */
async function intactFile(book: ManifestBook, folder: string, path: string, checkFiles: boolean) {
  const entry = book.file(path);
  if (entry === undefined || (await sizeOf(folder, path)) !== entry.bytes) return undefined;
  const same = !checkFiles || (await digestOfFile(folder, path)) === entry.sha256;
  return same ? entry : undefined;
}

const isoOf = (now: number): string => new Date(now).toISOString();

function unsound({ stream, day, records }: ArchivedDay, found: number): UnsoundDayError {
  return new UnsoundDayError(
    `${stream} ${day}: its walks count ${records} records, and its pages hold ${found}`,
    { hint: `Something else than daywalk changed the tables: daywalk verify --offline names it.` },
  );
}
