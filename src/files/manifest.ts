/** The manifest of an export: what each file holds and on what proof, and which days are not there; for auditors and for the next run. */
import { join } from 'node:path';
import { SettingsError } from '../errors.ts';
import type { Day } from '../model.ts';
import { codeOf, withFile } from '../rooted-files.ts';
import type { Written } from '../written.ts';
import { type Contents, type ExportedTable, FORMATS, type Format, pathOf } from './contents.ts';
import { namedFileError, sizeOf, writeWhole } from './folder.ts';
import type { ArchivedDay } from './rows.ts';

export const MANIFEST = 'manifest.json';
/** `sha256sum --check SHA256SUMS` in the folder proves all files. */
const SUMS = 'SHA256SUMS';
const VERSION = 1;

/** A day's file. */
export interface ManifestFile extends Written, AboutDay {
  /** From the folder, with `/` between its parts. */
  readonly path: string;
  /** Absent: it holds the records as they were sent. */
  readonly table?: ExportedTable;
  readonly format: Format;
  readonly exportedAt: string;
}

/** A day of an asked range that is not complete, and so has no file as it is now. */
export interface IncompleteDay {
  readonly stream: string;
  readonly day: Day;
  readonly state: string;
  readonly reason: string | null;
  /** A file of an earlier export, when the day was complete. */
  readonly earlierFile: string | null;
}

/** The whole manifest. */
export interface Manifest {
  readonly manifest: typeof VERSION;
  readonly writtenAt: string;
  /** Of all its files. */
  readonly format: Format | null;
  /** By stream, day and format. */
  readonly files: readonly ManifestFile[];
  readonly incomplete: readonly IncompleteDay[];
}

type AboutDay = Readonly<ReturnType<typeof aboutDay>>;

/** What of an archived day is told about its file. */
export function aboutDay(day: ArchivedDay) {
  return {
    stream: day.stream,
    resource: day.resource,
    day: day.day,
    /** Kind of proof. */
    proof: day.proof,
    windows: day.windows,
    pages: day.pages,
    /** Bytes received from the source for them. */
    bytesReceived: day.bytes,
    /** The walks that are shown, and the digest over what is to be said of single records: they name the content exactly. */
    walks: day.walks,
    marks: day.marks,
    /** Records among those of the file that the source does not show any more. */
    gone: day.gone,
    /** Pruned days whose files are beside it: what was shown under them, and is shown of this day since, is in those only. */
    ...(day.beside?.length && { beside: day.beside }),
    /** In which the times of a record table were read that have no offset. */
    ...(day.timeZone && { timeZone: day.timeZone }),
    /** Where the day stands in `daywalk.ledger` as it is in the file; null: not yet. */
    ledger: day.ledger,
    /** The key of its publication, by which it is known as long as the ledger does not have it. */
    ...(day.ledger === null && { publication: day.publications.at(-1) }),
    completedAt: day.completedAt?.toISOString() ?? null,
    /** When the source was last seen to be as stored. */
    lookedAt: day.lookedAt?.toISOString() ?? null,
  };
}

/** Whether the file was made of exactly what is shown of the day. After a backup was put back, numbers of walks come again; digests and publications do not. */
export function isOf(
  { walks, marks, ledger, publication }: ManifestFile,
  day: Pick<ArchivedDay, 'walks' | 'marks' | 'publications'> & {
    readonly ledger: { readonly digest: string } | null;
  },
): boolean {
  const isSame = walks.join() === day.walks.join() && marks === day.marks;
  if (ledger === null) return isSame && day.publications.some((key) => key === publication);
  return isSame && ledger.digest === day.ledger?.digest;
}

/**
 * Reads the manifest of a folder; null: it has none.
 * @throws {SettingsError} when it is not a manifest.
 */
export async function readManifest(folder: string): Promise<Manifest | null> {
  const path = join(folder, MANIFEST);
  let found: Partial<Manifest> | null = null;
  try {
    found = JSON.parse(await withFile(folder, MANIFEST, (file) => file.readFile('utf8')));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    if (!(error instanceof SyntaxError)) throw namedFileError(error, path);
  }
  if (found?.manifest === VERSION && Array.isArray(found.files) && found.files.every(isFile))
    return { ...found, incomplete: found.incomplete ?? [] } as Manifest;
  throw new SettingsError(`${path} is not a manifest that this version of daywalk reads`, {
    hint: 'Move it away, or name another folder with --out.',
  });
}

/** A name of a stream or table, which means nothing to a file system. */
const isName = (value: unknown): value is string =>
  typeof value === 'string' && /^[a-z0-9_-]+$/.test(value);

/** Whoever writes a manifest may not name a file elsewhere, nor put a line of his own into the sums. */
const isFile = (file: Partial<ManifestFile> | null): boolean =>
  file !== null &&
  isName(file.stream) &&
  /^\d{4}-\d\d-\d\d$/.test(String(file.day)) &&
  FORMATS.some((format) => format === file.format) &&
  (file.table === undefined || isName(file.table?.name)) &&
  (file.beside === undefined || Array.isArray(file.beside)) &&
  file.path === pathOf(file.stream, file.table?.name, String(file.day), file.format as Format) &&
  /^[\da-f]{64}$/.test(String(file.sha256)) &&
  typeof file.bytes === 'number' &&
  Array.isArray(file.walks);

/** The manifest of a folder while an export goes on; written at once every few seconds, and in the end. */
export class ManifestBook {
  readonly #folder: string;
  readonly #files: Map<string, ManifestFile>;
  readonly #incomplete: Map<string, IncompleteDay>;
  /** Null: the folder is new. */
  #format: Format | null;
  /** Of the manifest that was written last; null: none was. */
  #bytes: number | null = null;

  /** @param known what {@link readManifest} found. */
  constructor(folder: string, known: Manifest | null) {
    this.#folder = folder;
    this.#files = new Map(known?.files.map((file) => [file.path, file]));
    this.#incomplete = new Map(known?.incomplete.map((day) => [keyOf(day), day]));
    const format = FORMATS.find((one) => one === known?.format);
    this.#format = format ?? known?.files[0]?.format ?? null;
  }

  /**
   * The format of the folder: of a new one from now on the one that was asked for, or that of the contents.
   * @throws {SettingsError} where the folder has files of another format, or of something else: a reader of all of them would
   * read each day twice.
   */
  formatFor(contents: Contents, asked: Format | null): Format {
    const other = [...this.#files.values()].find(
      ({ table }) =>
        table?.name !== contents.table?.name || table?.columns !== contents.table?.columns,
    );
    if (other !== undefined)
      throw new SettingsError(
        `flag --out: ${this.#folder} has ${whatOf(other, contents)}, and takes nothing else`,
        { hint: 'Name another folder with --out.' },
      );
    this.#format ??= asked ?? contents.format;
    if (asked === null || asked === this.#format) return this.#format;
    throw new SettingsError(
      `flag --format: ${this.#folder} has files of ${this.#format}, and takes no other format`,
      { hint: 'Name another folder with --out, or leave the flag out.' },
    );
  }

  file(path: string): ManifestFile | undefined {
    return this.#files.get(path);
  }

  /** Notes a day's file. */
  add(file: ManifestFile): void {
    this.#files.set(file.path, file);
    this.#incomplete.delete(keyOf(file));
  }

  /** Notes that a day is not complete. */
  leaveOut(day: IncompleteDay): void {
    this.#incomplete.set(keyOf(day), day);
  }

  /**
   * Writes it, and the sums of all files beside it.
   * @throws {SettingsError} where the last one is not there any more: the files that it names went with it.
   */
  async write(now: number): Promise<void> {
    if (this.#bytes !== null && (await sizeOf(this.#folder, MANIFEST)) !== this.#bytes)
      throw new SettingsError(`${this.#folder} is not as this export left it a moment ago`, {
        hint: 'Was it moved, unmounted or written by something else? See to it, then run the same command again: days that are there are skipped.',
      });
    const files = [...this.#files.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
    const incomplete = [...this.#incomplete.entries()].sort(([a], [b]) => (a < b ? -1 : 1));
    const manifest: Manifest = {
      manifest: VERSION,
      writtenAt: new Date(now).toISOString(),
      format: this.#format,
      files,
      incomplete: incomplete.map(([, day]) => day),
    };
    const sums = files.map(({ sha256, path }) => `${sha256}  ${path}\n`).join('');
    await writeWhole(this.#folder, SUMS, (file) => file.writeFile(sums));
    const text = `${JSON.stringify(manifest, null, 1)}\n`;
    await writeWhole(this.#folder, MANIFEST, (file) => file.writeFile(text));
    this.#bytes = Buffer.byteLength(text);
  }
}

const keyOf = ({ stream, day }: { stream: string; day: Day }): string => `${stream} ${day}`;

/** What a file that keeps others out of its folder is of. */
function whatOf({ table }: ManifestFile, { table: wanted }: Contents): string {
  if (table === undefined) return 'the records of streams';
  const name = `the record table ${table.name}`;
  return table.name === wanted?.name ? `${name} with other columns (${table.columns})` : name;
}
