/** Prunes: lists what is old enough to go and what must stay, and does it, so that a killed pruning can be repeated. */
import { SettingsError } from '../errors.ts';
import { faultOf } from '../files/folder.ts';
import { isOf, type ManifestFile, readManifest } from '../files/manifest.ts';
import type { AgeLimit, Day, KeptDay } from '../model.ts';
import type { Database } from '../store/database.ts';
import { removeMarked } from '../store/pruned-pages.ts';
import {
  listOldDays,
  type Marked,
  markPruned,
  type OldDay,
  type PruningKind,
  readMonths,
} from './rows.ts';

/** What a person asks to prune. */
export interface PruneRequest {
  readonly kind: PruningKind;
  readonly limits: readonly AgeLimit[];
  /** A folder of `daywalk export`: only days go whose file is there as they are shown; null: all. */
  readonly exported: string | null;
  /** Why days of a stream must stay whatever their age. */
  readonly claimed?: ReadonlyMap<string, string>;
}

/**
 * Works out what would go; changes nothing.
 * @throws {SettingsError} where the folder holds no export.
 */
export async function planPruning(
  database: Database,
  { kind, limits, exported, claimed }: PruneRequest,
) {
  const files = exported === null ? null : await exportedFiles(exported);
  const old = await listOldDays(database, kind, limits);
  const days: OldDay[] = [];
  const kept: KeptDay[] = [];
  for (const day of old) {
    const reason =
      day.kept ?? claimed?.get(day.stream) ?? (await exportReason(day, exported, files));
    if (reason === null) days.push(day);
    else kept.push({ stream: day.stream, day: day.day, reason });
  }
  return { days, kept, months: await monthsOf(database, days) };
}

/** What would go, and what stays. */
export type PrunePlan = Awaited<ReturnType<typeof planPruning>>;

async function exportedFiles(folder: string): Promise<readonly ManifestFile[]> {
  const manifest = await readManifest(folder);
  const table = manifest?.files.find((file) => file.table !== undefined)?.table;
  if (table !== undefined)
    throw new SettingsError(
      `flag --require-export: ${folder} holds the record table ${table.name}, not the records as they were sent`,
      { hint: 'Name a folder that `daywalk export --out` writes into without --table.' },
    );
  if (manifest !== null) return manifest.files;
  throw new SettingsError(`flag --require-export: ${folder} holds no export`, {
    hint: 'Name the folder that `daywalk export --out` writes into.',
  });
}

/** Why the export does not hold the day; null: it does, as it is shown now. */
async function exportReason(
  day: OldDay,
  folder: string | null,
  files: readonly ManifestFile[] | null,
): Promise<string | null> {
  if (folder === null || files === null) return null;
  // A folder has one format, and so one file of a day.
  const file = files.find((one) => one.stream === day.stream && one.day === day.day);
  if (file === undefined) return 'it is not exported';
  if (!isOf(file, day)) return 'what is shown of it changed since it was exported';
  const reason = await faultOf(folder, file);
  if (reason !== null) return `its exported file ${reason}`;
  // What they have, it has not.
  for (const beside of file.beside ?? []) {
    const other = files.find((one) => one.stream === day.stream && one.day === beside);
    const fault = other === undefined ? 'is gone' : await faultOf(folder, other);
    if (fault !== null) return `the exported file of ${beside}, which has some of it, ${fault}`;
  }
  return null;
}

/** The months of which something goes, YYYY-MM, each with about how many bytes on the disk; of a whole one nothing is kept. */
async function monthsOf(database: Database, days: readonly OldDay[]) {
  const monthOf = (day: Day): string => day.slice(0, 7);
  const firstDays = [...new Set(days.map(({ day }) => `${monthOf(day)}-01`))];
  const stored = await readMonths(database, firstDays);
  return stored.map(({ month: first, size, bytes, pages }) => {
    const month = monthOf(first);
    const going = days.filter(({ day }) => monthOf(day) === month);
    const sum = (of: 'storedPages' | 'bytes') => going.reduce((all, day) => all + day[of], 0);
    const share = bytes === 0 ? 0 : sum('bytes') / bytes;
    return { month, whole: sum('storedPages') === pages, size: Math.round(size * share) };
  });
}

/**
 * Does what was planned: marks day by day, from when on nobody sees it any more, then removes the pages. What an
 * interrupted pruning left is removed too.
 * @returns beside the days the months whose partition was emptied at once.
 */
export async function prune(
  database: Database,
  kind: PruningKind,
  plan: PrunePlan,
  signal: AbortSignal,
) {
  const days: OldDay[] = [];
  const kept = [...plan.kept];
  // The newest first: what a midnight hides of the day behind comes back there when the day before goes, and the day would have changed.
  for (const day of plan.days.toReversed()) {
    signal.throwIfAborted();
    const marked = await markPruned(database, kind, day);
    if (marked === 'pruned') days.unshift(day);
    else kept.push({ stream: day.stream, day: day.day, reason: REASONS[marked] });
  }
  return { days, kept, emptied: await removeMarked(database, signal) };
}

const REASONS: Record<Exclude<Marked, 'pruned'>, string> = {
  held: 'a worker took it up just now',
  changed: 'what is shown of it changed just now',
  unsealed: 'it is not in the ledger yet: the next run appends it',
  wanted: 'a record table that keeps it longer does not have it yet: the next run takes it in',
};
