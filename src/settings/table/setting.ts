/** A setting is one row of the table: its name, where it may come from, what it may be; plain data, because `--help` reads it and must start fast. */

/** What the text of a setting must look like; the parsers are in value.ts. */
export type Kind =
  /** Durations in milliseconds, sizes in bytes, rates in requests a second. */
  | {
      readonly kind: 'integer' | 'duration' | 'size' | 'rate';
      readonly min: number;
      readonly max: number;
    }
  | { readonly kind: 'choice'; readonly choices: readonly string[] }
  | {
      readonly kind:
        | 'boolean'
        | 'date'
        | 'timezone'
        | 'cron'
        | 'path'
        /** A folder, or a bucket as `s3://bucket/prefix`. */
        | 'place'
        | 'text'
        | 'url'
        | 'names'
        | 'hosts'
        | 'fields'
        /** How a time is written: `YYYY-MM-DD HH:MI:SS`. */
        | 'timeFormat'
        /** An age, or `forever`, which is null. */
        | 'retention'
        /** `address:port`, or `off`, which is null: nowhere. */
        | 'listen'
        | 'apiKey'
        | 'jsonPath'
        /** A path within a record. */
        | 'fieldPath'
        /** A path, or `none`, which is null: there is no total that can be trusted. */
        | 'totalPath';
    }
  /** It may hold a password or a token, so its value is a secret. */
  | { readonly kind: 'secretUrl'; readonly of: 'database' | 'proxy' | 'hook' };

/** The headings under which help and docs/settings.md list the settings. */
export type Group =
  | 'General'
  | 'API'
  | 'Database'
  | 'Schedule'
  | 'Streams'
  | 'Walking'
  | 'Archive'
  | 'Tier'
  | 'Status page'
  | 'Alerts'
  | 'Log';

export interface Setting<K extends Kind = Kind, D extends string | null = string | null> {
  readonly group: Group;
  /** Its name in `daywalk.yaml` and in what `daywalk config` prints; a dot is a level. */
  readonly name: string;
  readonly kind: K;
  /** As an operator would write it; null: unset. */
  readonly default: D;
  /** What happens when it is not set; only where there is no default. */
  readonly unset: string;
  readonly description: string;
  /** Names in the environment, the first one documented; of several that are set, the last one counts. */
  readonly env: readonly [string, ...string[]];
  /** `--page-length`; null: this is never a flag. */
  readonly flag: string | null;
  /** `<n>`, for help; empty: the flag alone says yes. */
  readonly placeholder: string;
  /** May it stand in `daywalk.yaml`? */
  readonly inFile: boolean;
}

/** Whether it is never printed, logged or given as a flag. */
export const isSecret = ({ kind }: Kind): boolean => kind === 'apiKey' || kind === 'secretUrl';

/** What a row says beside name, kind and default; what it leaves out follows the rule, as that environment and flag are spelled like the name. */
type Rest = Pick<Setting, 'description'> & Exceptions;
type Exceptions = Partial<Pick<Setting, 'env' | 'flag' | 'placeholder' | 'inFile' | 'unset'>>;

/** Makes the rows of one group, with its own exceptions; `page_length` becomes `DAYWALK_PAGE_LENGTH` and `--page-length`. */
export function section(group: Group, exceptions: Exceptions = {}) {
  return <const K extends Kind, const D extends string | null>(
    name: string,
    kind: K,
    fallback: D,
    rest: Rest,
  ): Setting<K, D> => ({
    group,
    name,
    kind,
    default: fallback,
    unset: 'not set',
    env: [`DAYWALK_${name.replaceAll('.', '_').toUpperCase()}`],
    flag: `--${name.replaceAll(/[._]/g, '-')}`,
    placeholder: placeholderOf(kind),
    inFile: true,
    ...exceptions,
    ...rest,
  });
}

/**
 * Makes the rows of a secret and of the file that may hold it, by their keys: `apiKey` and `apiKeyFile`. Both have a value
 * where the file is named, so that a changed secret can be read again.
 * @param what what the file holds, as its description says it.
 */
export function secretWithFile<const Key extends string, const K extends Kind>(
  row: ReturnType<typeof section>,
  key: Key,
  name: string,
  what: string,
  { kind, ...rest }: { readonly kind: K } & Rest,
) {
  const secret = row(name, kind, null, { flag: null, inFile: false, ...rest });
  const file = row(`${name}_file`, { kind: 'path' }, null, {
    description: `A file that holds ${what} and nothing else.`,
    env: [`${secret.env[0]}_FILE`],
    flag: null,
  });
  return { [key]: secret, [`${key}File`]: file } as Readonly<
    Record<Key, typeof secret> & Record<`${Key}File`, typeof file>
  >;
}

/** The same for a key, of which `what` (`the API key`) says all. */
export const secretKey = <const Key extends string>(
  row: ReturnType<typeof section>,
  key: Key,
  name: string,
  what: string,
) =>
  secretWithFile(row, key, name, what, {
    kind: { kind: 'apiKey' },
    description: `T${what.slice(1)}; in the environment or in a file, nowhere else.`,
  });

/** What stands for a value in help, where that is not called like its kind. */
const PLACEHOLDERS: Partial<Record<Kind['kind'], string>> = {
  integer: 'n',
  path: 'file',
  place: 'folder|s3://…',
  listen: 'address:port|off',
  boolean: 'yes|no',
  timezone: 'zone',
  jsonPath: 'keys',
  fieldPath: 'keys',
  totalPath: 'keys',
};

const placeholderOf = (kind: Kind): string =>
  `<${kind.kind === 'choice' ? kind.choices.join('|') : (PLACEHOLDERS[kind.kind] ?? kind.kind)}>`;
