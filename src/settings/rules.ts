/** Rules that look at more than the text of one setting: files that must be readable, settings that go or do not go together. */
import { dirname } from 'node:path';
import { shownWord, Wrong } from './problems.ts';
import type { Reading } from './reading.ts';
import { MISSING } from './small-files.ts';
import { SECRET_FILES, SETTINGS, type SettingKey } from './table/table.ts';
import { mayCarryKey } from './values/url.ts';

const TLS_FILES = ['apiCaFile', 'tierCaFile', 'apiClientCertFile', 'apiClientKeyFile'] as const;

/**
 * Reads the secrets whose files are named; of two in the same place, neither is guessed at. Of certificate files it is tried
 * whether they can be read; what is in them, TLS knows when the API or the bucket is opened.
 */
export function readFiles(reading: Reading): void {
  const { raws, values } = reading;
  for (const [key, fileKey] of SECRET_FILES) {
    const given = raws.get(key);
    const file = raws.get(fileKey);
    if (file === undefined) continue;
    const { source, place } = file.origin;
    if (given !== undefined) {
      if (given.origin.source === source)
        reading.wrong(fileKey, `set together with ${SETTINGS[key].env[0]}; remove one of the two`);
      reading.drop(fileKey);
      continue;
    }
    const path = values.get(fileKey);
    if (typeof path !== 'string') continue;
    const found = reading.readText(path);
    const text = found instanceof Wrong ? found : found.replace(/\r?\n$/, '');
    if (text instanceof Wrong)
      reading.wrong(fileKey, `${named(file.text.trim(), path, reading)} ${text.why}`);
    else if (text === '') reading.wrong(fileKey, `${shownWord(path)} is empty`);
    else reading.take(key, text, { source, place: `${shownWord(path)} (${place})` });
  }
  for (const key of TLS_FILES) {
    const path = values.get(key);
    const text = typeof path === 'string' ? reading.readText(path) : '';
    if (text instanceof Wrong) reading.wrong(key, `${shownWord(String(path))} ${text.why}`);
  }
}

/** What should be the path of a file that holds a secret, for a message: somebody may have put the secret itself there. */
function named(text: string, path: string, reading: Reading): string {
  const isPath =
    text.startsWith('/') || (text.includes('/') && reading.readText(dirname(path)) !== MISSING);
  return isPath ? shownWord(path) : 'what it names (not shown, as it may be the secret itself)';
}

/**
 * Of a database URL and the embedded Postgres the one counts whose place has the higher rank. In the same place, or with
 * the flag `--embedded`, neither is guessed at.
 */
export function chooseDatabase(reading: Reading): void {
  const { raws, values } = reading;
  const embedded = raws.get('embedded');
  const url = raws.get('databaseUrl') ?? raws.get('databaseUrlFile');
  if (url === undefined || embedded === undefined || !values.get('embedded')) return;
  const { source } = embedded.origin;
  if (source === 'flag' || source === url.origin.source)
    reading.wrong('embedded', `${url.place} names a database, too; remove one of the two`);
  else if (source === 'file') reading.drop('embedded');
  else for (const key of ['databaseUrl', 'databaseUrlFile'] as const) reading.drop(key);
}

/** The first is nothing without the second. */
const NEEDS: readonly (readonly [SettingKey, SettingKey])[] = [
  ['apiClientCertFile', 'apiClientKeyFile'],
  ['apiClientKeyFile', 'apiClientCertFile'],
  ['tierAfter', 'tierUrl'],
];

/** What a verb cannot do without. */
export type Need = 'api' | 'database';

/** Checks settings against each other, and that nothing is missing which the verb needs. */
export function checkTogether(reading: Reading, needs: readonly Need[]): void {
  const { raws, values } = reading;
  checkEncrypted(reading, 'apiUrl', 'apiAllowHttp', 'the key');
  for (const [key, other] of NEEDS)
    if (raws.has(key) && !raws.has(other))
      reading.wrong(key, `${SETTINGS[other].name} is not set; set both or none`);
  if (String(values.get('tierUrl')).startsWith('s3://'))
    for (const key of ['tierKey', 'tierSecret'] as const) checkSet(reading, key);
  if (raws.has('tierUrl')) checkEncrypted(reading, 'tierEndpoint', 'tierAllowHttp', 'events');
  if (needs.includes('database') && values.get('embedded') !== true)
    checkSet(
      reading,
      'databaseUrl',
      '; or use an embedded Postgres: --embedded, or database.embedded: yes in daywalk.yaml (`daywalk init --embedded` or `daywalk run --embedded` makes one)',
    );
  if (needs.includes('api'))
    for (const key of ['apiUrl', 'apiKey'] as const) checkSet(reading, key);
}

/** Whether `what` may go to the URL that `key` sets: unencrypted only where the setting `allow` says so. */
function checkEncrypted(
  reading: Reading,
  key: 'apiUrl' | 'tierEndpoint',
  allow: 'apiAllowHttp' | 'tierAllowHttp',
  what: string,
): void {
  const url = reading.values.get(key);
  if (typeof url === 'string' && !mayCarryKey(url) && reading.values.get(allow) === false)
    reading.wrong(
      key,
      `${url} would send ${what} unencrypted; use https, or allow it with ${SETTINGS[allow].name}`,
    );
}

/** Checks that there is a value, or a file that should hold it; `otherwise` tells what would do without. */
function checkSet(reading: Reading, key: SettingKey, otherwise = ''): void {
  const file = new Map<SettingKey, SettingKey>(SECRET_FILES).get(key) ?? key;
  if (reading.raws.has(key) || reading.raws.has(file)) return;
  const { name, flag, env } = SETTINGS[key];
  const places =
    file === key
      ? `${flag}, or ${env[0]} in the environment, or ${name}`
      : `${env[0]} or ${SETTINGS[file].env[0]} in the environment, or ${SETTINGS[file].name}`;
  reading.wrong(key, `is not set; give ${places} in daywalk.yaml${otherwise}`);
}
