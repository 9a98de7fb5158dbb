/** Rules that look at more than the text of one setting: files that must be readable, settings that go or do not go together. */
import { shownWord, Wrong } from './problems.ts';
import type { Reading } from './reading.ts';
import { textOf } from './small-files.ts';
import { SECRET_FILES, SETTINGS, type SettingKey } from './table/table.ts';
import { mayCarryKey } from './values/url.ts';

/** Reads the secrets whose files are named; of two in the same place, neither is guessed at. */
export function readSecrets(reading: Reading): void {
  const { raws, values, problems, readFile } = reading;
  for (const [key, fileKey] of SECRET_FILES) {
    const given = raws.get(key);
    const file = raws.get(fileKey);
    if (file === undefined) continue;
    const { source, place } = file.origin;
    if (given !== undefined) {
      if (given.origin.source === source)
        problems.add(
          file.place,
          `set together with ${SETTINGS[key].env[0]}; remove one of the two`,
        );
      reading.drop(fileKey);
      continue;
    }
    const path = values.get(fileKey);
    if (typeof path !== 'string') continue;
    const found = textOf(path, readFile);
    const text = found instanceof Wrong ? found : found.replace(/\r?\n$/, '');
    if (text instanceof Wrong) problems.add(file.place, `${shownWord(path)} ${text.why}`);
    else if (text === '') problems.add(file.place, `${shownWord(path)} is empty`);
    else {
      const origin = { source, place: `${shownWord(path)} (${place})` };
      reading.take(key, { ...file, text, origin, place: origin.place });
    }
  }
}

/**
 * Of a database URL and the embedded Postgres the one counts whose place has the higher rank. In the same place, or with
 * the flag `--embedded`, neither is guessed at.
 */
export function chooseDatabase(reading: Reading): void {
  const { raws, values, problems } = reading;
  const embedded = raws.get('embedded');
  const url = raws.get('databaseUrl') ?? raws.get('databaseUrlFile');
  if (url === undefined || embedded === undefined || !values.get('embedded')) return;
  const { source } = embedded.origin;
  if (source === 'flag' || source === url.origin.source)
    problems.add(embedded.place, `${url.place} names a database, too; remove one of the two`);
  else if (source === 'file') reading.drop('embedded');
  else for (const key of ['databaseUrl', 'databaseUrlFile'] as const) reading.drop(key);
}

const PEM: readonly (readonly [SettingKey, RegExp, string])[] = [
  ['apiCaFile', /-----BEGIN (TRUSTED |X509 )?CERTIFICATE-----/, 'certificate'],
  ['tierCaFile', /-----BEGIN (TRUSTED |X509 )?CERTIFICATE-----/, 'certificate'],
  ['apiClientCertFile', /-----BEGIN (TRUSTED |X509 )?CERTIFICATE-----/, 'certificate'],
  ['apiClientKeyFile', /-----BEGIN ([A-Z]+ )?PRIVATE KEY-----/, 'private key'],
];

/** Looks into the certificate files, because TLS would only fail at the first request, and darkly. */
export function checkPem({ raws, values, problems, readFile }: Reading): void {
  for (const [key, expected, what] of PEM) {
    const path = values.get(key);
    if (typeof path !== 'string') continue;
    const place = raws.get(key)?.place ?? key;
    const text = textOf(path, readFile);
    if (text instanceof Wrong) problems.add(place, `${shownWord(path)} ${text.why}`);
    else if (/BEGIN ENCRYPTED|Proc-Type:.*ENCRYPTED/.test(text))
      problems.add(place, `${shownWord(path)} asks for a passphrase; store the key without one`);
    else if (!expected.test(text))
      problems.add(place, `${shownWord(path)} holds no ${what} in PEM form`);
  }
}

/** Checks settings against each other. */
export function checkTogether(reading: Reading): void {
  const { raws, problems } = reading;
  checkEncrypted(reading, 'apiUrl', 'apiAllowHttp', 'the key');
  const [cert, key] = [raws.get('apiClientCertFile'), raws.get('apiClientKeyFile')];
  if (cert && !key) problems.add(cert.place, 'api.client_key_file is not set; set both or none');
  if (key && !cert) problems.add(key.place, 'api.client_cert_file is not set; set both or none');
  checkTier(reading);
}

/** A bucket needs its keys, and events go over plain HTTP to nobody who is not named. */
function checkTier(reading: Reading): void {
  const { raws, values, problems } = reading;
  const place = raws.get('tierUrl')?.place;
  if (place === undefined) {
    const after = raws.get('tierAfter');
    if (after) problems.add(after.place, 'tier.url is not set; set both or none');
    return;
  }
  const isBucket = String(values.get('tierUrl')).startsWith('s3://');
  for (const [key, name] of [
    ['tierKey', 'tier.key_file, or DAYWALK_TIER_KEY in the environment'],
    ['tierSecret', 'tier.secret_file, or DAYWALK_TIER_SECRET in the environment'],
  ] as const)
    if (isBucket && !raws.has(key)) problems.add(place, `a bucket needs its keys: set ${name}`);
  checkEncrypted(reading, 'tierEndpoint', 'tierAllowHttp', 'events');
}

/** Whether `what` may go to the URL that `key` sets: unencrypted only where the setting `allow` says so. */
function checkEncrypted(
  { raws, values, problems }: Reading,
  key: 'apiUrl' | 'tierEndpoint',
  allow: 'apiAllowHttp' | 'tierAllowHttp',
  what: string,
): void {
  const url = values.get(key);
  if (typeof url !== 'string' || mayCarryKey(url) || values.get(allow) !== false) return;
  problems.add(
    raws.get(key)?.place ?? SETTINGS[key].name,
    `${url} would send ${what} unencrypted; use https, or allow it with ${SETTINGS[allow].name}`,
  );
}

/** What a verb cannot do without. */
export type Need = 'api' | 'database';

/** Checks that nothing is missing which the verb needs. */
export function checkNeeded({ raws, values, problems }: Reading, needs: readonly Need[]): void {
  const hasDatabase =
    raws.has('databaseUrl') || raws.has('databaseUrlFile') || values.get('embedded') === true;
  if (needs.includes('database') && !hasDatabase)
    problems.add(
      'database.url',
      'is not set; give DATABASE_URL or DATABASE_URL_FILE in the environment, or database.url_file in daywalk.yaml; or use an embedded Postgres: --embedded, or database.embedded: yes in daywalk.yaml (`daywalk init --embedded` or `daywalk run --embedded` makes one)',
    );
  if (!needs.includes('api')) return;
  if (!raws.has('apiUrl'))
    problems.add(
      'api.url',
      'is not set; give --api-url, or DAYWALK_API_URL in the environment, or api.url in daywalk.yaml',
    );
  if (!raws.has('apiKey') && !raws.has('apiKeyFile'))
    problems.add(
      'api.key',
      'is not set; give DAYWALK_API_KEY or DAYWALK_API_KEY_FILE in the environment, or api.key_file in daywalk.yaml',
    );
}
