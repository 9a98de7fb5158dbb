/** `daywalk init`: writes a settings file from flags and environment, with its schema for editors, has it examined, and adds what its answers show. */
import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { devNull } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { EXIT, SettingsError } from '../../errors.ts';
import { makeFolders } from '../../rooted-files.ts';
import { readEnvironment } from '../../settings/environment.ts';
import { fileSchema } from '../../settings/file/file-schema.ts';
import { newFile, SCHEMA_FILE, unkept } from '../../settings/file/new-file.ts';
import type { Settings } from '../../settings/settings.ts';
import { SETTINGS } from '../../settings/table/table.ts';
import { formatJsonPath } from '../../settings/values/paths.ts';
import { fieldsIn, suggestTable } from '../../tables/suggest.ts';
import type { Examination } from '../doctor/examination.ts';
import { flagValue, PATH, valueAt } from '../flags.ts';
import { askForDatabase } from '../missing-database.ts';
import { print } from '../terminal/output.ts';
import type { Invocation } from '../verb.ts';
import { askedOfApi } from '../wiring.ts';
import { examine } from './doctor.ts';

/** Where the database URL is written, beside the settings file. */
const URL_FILE = join('secrets', 'database_url');

/** Writes the file, never over another one unless told to, and ends as `daywalk doctor` does with it. */
export async function init(given: Invocation): Promise<number> {
  const { config, force } = given.options;
  const named = readEnvironment().DAYWALK_CONFIG?.trim() || 'daywalk.yaml';
  const path =
    flagValue('--config', config, PATH) ?? valueAt('environment DAYWALK_CONFIG', named, PATH);
  const where = config === undefined ? '' : ` --config ${config}`;
  const folder = dirname(path);
  const flag = force === true ? 'w' : 'wx';
  if (flag === 'wx' && existsSync(path)) throw alreadyThere(path);
  // Made of flags and environment only, whatever an old file says.
  const options = { ...given.options, config: devNull };
  const invocation = await askForDatabase({ ...given, options });
  const settings = await keepDatabase(askedOfApi(invocation).settings, folder, flag);
  await write(path, newFile(settings, folder), flag);
  await write(join(folder, SCHEMA_FILE), `${JSON.stringify(fileSchema(), null, 2)}\n`, 'w');
  print(
    `Wrote ${path}, and ${SCHEMA_FILE} beside it for editors that know YAML schemas.`,
    settings.databaseUrlFile === join(folder, URL_FILE) &&
      `The database URL is in ${URL_FILE}, which only you can read.`,
    'Now `daywalk doctor` looks at it:',
    '',
  );
  const examination = await examine(
    { ...invocation, options: { config: path } },
    settings.embedded ? 'cluster' : 'tables',
  );
  const { more, told } = found(settings, examination, path);
  if (told.length > 0) await write(path, newFile(more, folder), 'w');
  print(
    '',
    told,
    unkept(settings),
    examination.exitCode === EXIT.done && `Next: daywalk run${where}`,
  );
  return examination.exitCode;
}

/** What the first answers show, and the file can say: what identifies a record, its time, and a table of the commonest fields. */
function found(
  settings: Settings,
  { identities, times, records, findings }: Examination,
  place: string,
): { readonly more: Settings; readonly told: readonly string[] } {
  const told: string[] = [];
  const origins = { ...settings.origins };
  let { streams } = settings;
  const tell = (name: string, path: readonly string[], words: string, of = '') =>
    told.push(
      `${basename(place)} has ${name}: ${formatJsonPath(path)}${of}. Take the line out if that ${words}.`,
    );
  // It would hold for a stream, too, of which nothing was seen.
  const answered = !findings.some(
    ({ check, state }) => check.startsWith('stream ') && (state === 'bad' || state === 'skipped'),
  );
  const note = (key: 'idPath' | 'timePath', paths: Examination['identities'], words: string) => {
    const { name } = SETTINGS[key];
    if (origins[name] !== undefined) return settings[key];
    const path = answered ? sameOf([...paths.values()]) : null;
    if (path !== null) {
      origins[name] = { source: 'file', place };
      tell(name, path, words);
      return path;
    }
    streams = streams.map((stream) => {
      const own = paths.get(stream.name);
      if (!own) return stream;
      origins.streams = { source: 'file', place };
      tell(name, own, words, `, below the stream ${stream.name}`);
      return { ...stream, [key]: own };
    });
    return settings[key];
  };
  const idPath = note('idPath', identities, 'does not identify an event');
  const timePath = note('timePath', times, 'is not when it happened');
  const tables = settings.streams.flatMap(({ name }) => {
    const fields = fieldsIn(records.get(name) ?? []);
    return suggestTable(name, fields, times.get(name)) ?? [];
  });
  if (tables.length > 0) {
    const names = tables.map((table) => `daywalk.${table.name}`);
    told.push(
      `${basename(place)} defines ${names.join(' and ')}, tables of the commonest fields: change or take out what you do not need before the first run.`,
    );
  }
  const more = { ...settings, idPath, timePath, streams, tables, origins };
  return { more, told };
}

/**
 * A database URL of this shell's environment goes into a file that only its owner can read, so that another shell finds the
 * same database: it may hold a password, and the settings file is for everybody's eyes.
 */
async function keepDatabase(settings: Settings, folder: string, flag: Flag): Promise<Settings> {
  if (settings.databaseUrl === undefined || settings.databaseUrlFile !== undefined) return settings;
  const path = join(folder, URL_FILE);
  const text = `${settings.databaseUrl.reveal()}\n`;
  if (flag === 'w') await rm(path, { force: true });
  // Another settings file of the folder may have brought it there.
  if ((await readFile(path, 'utf8').catch(() => '')) !== text) await write(path, text, 'wx', 0o600);
  const ignore = join(dirname(path), '.gitignore');
  if (!existsSync(ignore)) await write(ignore, '*\n', 'wx');
  const place = { source: 'file', place: path } as const;
  const origins = { ...settings.origins, 'database.url_file': place };
  return { ...settings, databaseUrlFile: path, origins };
}

/** The path that all of them are; null where they differ, or there is none. */
function sameOf(paths: readonly (readonly string[] | null)[]): readonly string[] | null {
  const [first = null] = paths;
  return paths.every((path) => JSON.stringify(path) === JSON.stringify(first)) ? first : null;
}

/** `w` writes over a file that is there. */
type Flag = 'w' | 'wx';

async function write(path: string, text: string, flag: Flag, mode = 0o666): Promise<void> {
  try {
    await makeFolders(dirname(path));
    await writeFile(path, text, { flag, mode });
  } catch (cause) {
    const { code = 'unknown error' } = cause as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw alreadyThere(path);
    throw new SettingsError(`${path} cannot be written (${code})`, {
      hint: 'Run it in a folder that this user may write to, or name another file with --config.',
      cause,
    });
  }
}

const alreadyThere = (path: string) =>
  new SettingsError(`${path} is there already, and stays as it is`, {
    hint: 'Write over it with --force, or write another file with --config FILE, in another folder for another database.',
  });
