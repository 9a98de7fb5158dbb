/** Which format a folder gets: it has files of one format and of one content only. */
import { SettingsError } from '../errors.ts';
import type { Contents } from './contents.ts';
import { FORMATS, type Format, nameOf } from './layout.ts';
import type { Manifest, ManifestFile } from './manifest.ts';

/**
 * The format that was asked for, that of the files that are there, or that of the contents.
 * @param lying names of files of days that no manifest tells of, as after a kill before the first one.
 * @throws {SettingsError} where the folder has files of another format, or of something else: a reader of all of them would
 * read each day twice.
 */
export function formatFor(
  folder: string,
  contents: Contents,
  asked: Format | null,
  manifest: Manifest | null,
  lying: ReadonlySet<string>,
): Format {
  const other = manifest?.files.find(
    ({ table }) =>
      table?.name !== contents.table?.name || table?.columns !== contents.table?.columns,
  );
  if (other !== undefined)
    throw new SettingsError(
      `flag --out: ${folder} has ${whatOf(other, contents)}, and takes nothing else`,
      { hint: 'Name another folder with --out.' },
    );
  const formats = manifest?.files.map((file) => file.format) ?? [];
  const there = [...formats, ...FORMATS.filter((format) => lying.has(nameOf(format)))].find(
    (format) => format !== asked,
  );
  if (asked === null) return there ?? contents.format;
  if (there === undefined) return asked;
  throw new SettingsError(
    `flag --format: ${folder} has files of ${there}, and takes no other format`,
    {
      hint: 'Name another folder with --out, or leave the flag out.',
    },
  );
}

/** What a file that keeps others out of its folder is of. */
function whatOf({ table }: ManifestFile, { table: wanted }: Contents): string {
  if (table === undefined) return 'the records of streams';
  const name = `the record table ${table.name}`;
  return table.name === wanted?.name ? `${name} with other columns (${table.columns})` : name;
}
