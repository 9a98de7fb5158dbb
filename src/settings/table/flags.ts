/** The command line's options, as plain data made from the table. */
import type { SettingKey, SettingRow } from './table.ts';

/** What commander needs for one option. It gets no default: what was not given on the command line must stay unset. */
export interface FlagSpec {
  /** Commander's attribute name for it, and the key to give to `loadSettings`. */
  readonly key: SettingKey;
  /** `--page-length <n>`; `--embedded` takes no value */
  readonly flag: string;
  readonly description: string;
  /** The heading to list it under. */
  readonly group: string;
}

/** The options for those of `rows` that have a flag. */
export function flagsOf(rows: readonly SettingRow[]): FlagSpec[] {
  return rows.flatMap((row) =>
    row.flag === null
      ? []
      : {
          key: row.key,
          flag: `${row.flag} ${row.placeholder}`.trimEnd(),
          description: told(row, `env: ${row.env[0]}`),
          group: row.group,
        },
  );
}

/** A setting that no flag sets: a secret, or one that belongs into the file. */
export interface EnvironmentSpec {
  readonly variable: string;
  readonly description: string;
}

/** Those of `rows` that have no flag. */
export function environmentOnly(rows: readonly SettingRow[]): EnvironmentSpec[] {
  return rows
    .filter((row) => row.flag === null)
    .map((row) => ({
      variable: row.env[0],
      description: row.inFile ? told(row, `in the file: ${row.name}`) : told(row),
    }));
}

function told(
  { description, default: fallback, unset }: SettingRow,
  ...more: readonly string[]
): string {
  return `${description} (${[`default: ${fallback ?? unset}`, ...more].join('; ')})`;
}
