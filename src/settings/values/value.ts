/** Values: the text of a setting read as what its row in the table says it is. */
import { resolve } from 'node:path';
import type { TimeFormat } from '../../model.ts';
import { printable } from '../../text.ts';
import { shown, Wrong } from '../problems.ts';
import { AGE } from '../table/kinds.ts';
import { isSecret, type Kind } from '../table/setting.ts';
import type { SETTINGS } from '../table/table.ts';
import { formatListen, parseListen } from './listen.ts';
import {
  formatFields,
  formatJsonPath,
  parseFieldPath,
  parseFields,
  parseJsonPath,
  parseTotalPath,
} from './paths.ts';
import {
  formatRate,
  formatSize,
  parseDuration,
  parseInteger,
  parseRate,
  parseSize,
  writeDuration,
} from './quantity.ts';
import { MASK, Secret } from './secret.ts';
import { didYouMean } from './spelling.ts';
import { parseCron, parseDay, parseTimeFormat, parseTimezone } from './time.ts';
import { maskedUrl, parseApiUrl, parseDatabaseUrl, parseHookUrl, parseProxyUrl } from './url.ts';

/** How the text of a kind is read, and how its value is written; as it is, where that is not said. */
interface Spelling<K> {
  readonly read: (word: string, kind: K, folder: string) => unknown;
  readonly write?: (value: never) => string;
}

const SECRET_URLS = { database: parseDatabaseUrl, proxy: parseProxyUrl, hook: parseHookUrl };

const SPELLINGS = {
  integer: { read: parseInteger },
  duration: { read: parseDuration, write: writeDuration },
  size: { read: parseSize, write: formatSize },
  rate: { read: parseRate, write: formatRate },
  boolean: { read: parseBoolean, write: (value: boolean) => (value ? 'yes' : 'no') },
  choice: { read: (word, { choices }) => parseChoice(word, choices) },
  date: { read: parseDay },
  timezone: { read: parseTimezone },
  cron: { read: parseCron },
  listen: { read: parseListen, write: formatListen },
  path: { read: (word, _, folder) => parsePath(word, folder) },
  place: { read: (word, _, folder) => parsePlace(word, folder) },
  text: {
    read: (word) => (printable(word) === word ? word : new Wrong('holds a control character')),
  },
  names: { read: parseNames, write: (names: readonly string[]) => names.join(', ') },
  hosts: { read: parseHosts, write: (names: readonly string[]) => names.join(', ') },
  fields: { read: parseFields, write: formatFields },
  url: { read: parseApiUrl },
  jsonPath: { read: parseJsonPath, write: formatJsonPath },
  fieldPath: { read: parseFieldPath, write: formatJsonPath },
  totalPath: { read: parseTotalPath, write: formatJsonPath },
  timeFormat: { read: parseTimeFormat, write: ({ text }: TimeFormat) => text },
  retention: {
    read: parseRetention,
    write: (ms: number | null) => (ms === null ? 'forever' : writeDuration(ms)),
  },
  apiKey: { read: parseKey },
  secretUrl: { read: (text, { of }) => SECRET_URLS[of](text) },
} satisfies { readonly [K in Kind as K['kind']]: Spelling<K> };

type Read<K extends Kind> = Exclude<ReturnType<(typeof SPELLINGS)[K['kind']]['read']>, Wrong>;

/** Any value. */
export type Value = Read<Kind>;

/** The type of a value of kind `K`. */
export type ValueOf<K extends Kind> = K extends { kind: 'choice'; choices: readonly (infer C)[] }
  ? C
  : Read<K>;

/** One value for every row of the table; undefined only where the row has no default. */
export type SettingValues = {
  readonly [Key in keyof typeof SETTINGS]:
    | ValueOf<(typeof SETTINGS)[Key]['kind']>
    | ((typeof SETTINGS)[Key]['default'] extends null ? undefined : never);
};

/** Reads `text`; relative paths are relative to `folder`. Secrets are read as they are, everything else without the space around it. */
export function parseValue(kind: Kind, text: string, folder: string): Value | Wrong {
  const word = isSecret(kind) ? text : text.trim();
  if (word === '' && !isSecret(kind)) return new Wrong('is empty');
  return (SPELLINGS[kind.kind] as Spelling<Kind>).read(word, kind, folder) as Value | Wrong;
}

/** `value` as an operator would write it, with secrets masked. */
export function formatValue(kind: Kind, value: Value): string {
  if (value instanceof Secret) return kind.kind === 'secretUrl' ? maskedUrl(value, kind.of) : MASK;
  const { write = String }: Spelling<never> = SPELLINGS[kind.kind];
  return write(value as never);
}

function parseKey(text: string): Secret | Wrong {
  // Tokens that are lent for a time have a thousand and more.
  if (text.length > 4096) return new Wrong('is longer than 4096 characters', false);
  if (/^(bearer|basic|apikey|x-api-key)[ :=]/i.test(text))
    return new Wrong('begins with a word of the header; give the key alone', false);
  if (text === '') return new Wrong('is empty', false);
  // A line break in a header value makes HTTP clients print the key in their errors.
  if (!/^[\x21-\x7e]+$/.test(text))
    return new Wrong('holds a space, a line break or another character that no key has', false);
  return new Secret(text);
}

function parseRetention(word: string): number | null | Wrong {
  if (word === 'forever') return null;
  const ms = parseDuration(word, AGE);
  return ms instanceof Wrong ? new Wrong(`${ms.why}; or write forever`) : ms;
}

/** Names with commas between them. */
export function parseNames(text: string): readonly string[] | Wrong {
  const names = text.split(',').map((name) => name.trim());
  const given = names.filter((name) => name !== '');
  return given.length > 0 ? given : new Wrong('names nothing');
}

/** Names of hosts, as a browser sends them. */
function parseHosts(text: string): readonly string[] | Wrong {
  const names = parseNames(text);
  const wrong = names instanceof Wrong ? undefined : names.find((name) => !HOST_NAME.test(name));
  if (wrong === undefined) return names;
  return new Wrong(
    `has ${shown(wrong)}, which is no host name such as export.example.com, without scheme and port`,
  );
}
const HOST_NAME = /^[\w-]+(\.[\w-]+)*$/;

/** `yes` and `no`, and other words for them. */
function parseBoolean(word: string): boolean | Wrong {
  if (/^(yes|true|on|1)$/i.test(word)) return true;
  if (/^(no|false|off|0)$/i.test(word)) return false;
  return new Wrong('is neither yes nor no');
}

/** The one of `choices` that `word` names, in small or large letters. */
function parseChoice<C extends string>(word: string, choices: readonly C[]): C | Wrong {
  const found = choices.find((choice) => choice === word.toLowerCase());
  if (found !== undefined) return found;
  return new Wrong(`is not one of ${choices.join(', ')}${didYouMean(word, choices)}`);
}

function parsePath(word: string, folder: string): string | Wrong {
  if (word.includes('\0')) return new Wrong('is not a path');
  // Only a shell knows the home folder's short name; here it would make a folder called ~.
  if (/^~(\/|$)/.test(word)) return new Wrong(`begins with ~; write ${shown('/home/…')} in full`);
  return resolve(folder, word);
}

function parsePlace(word: string, folder: string): string | Wrong {
  const scheme = /^([a-z][a-z\d+.-]*):\/\//i.exec(word)?.[1]?.toLowerCase();
  if (scheme === undefined) return parsePath(word, folder);
  // Other programs take the keys of a bucket before an @, or behind a ?.
  const wrong = (why: string) => new Wrong(why, !/[@?#]/.test(word));
  if (scheme !== 's3') return wrong('is neither a folder nor s3://bucket/prefix');
  const [, bucket = '', prefix = ''] = /^s3:\/\/([^/]*)\/*(.*?)\/*$/i.exec(word) ?? [];
  if (!/^[a-z\d][a-z\d.-]{1,61}[a-z\d]$/.test(bucket))
    return wrong('names no bucket: 3 to 63 small letters, digits, dots and hyphens');
  if (
    !/^([\w.=-]+(\/[\w.=-]+)*)?$/.test(prefix) ||
    prefix.split('/').some((part) => /^\.+$/.test(part))
  )
    return wrong('has a prefix with other characters than letters, digits, . _ = - and /');
  return `s3://${bucket}${prefix === '' ? '' : `/${prefix}`}`;
}
