/** `daywalk init`: writes a settings file from flags and environment, with its schema for editors, has it examined, and adds what identifies a record. */
import { writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { SettingsError } from '../../errors.ts';
import { readEnvironment } from '../../settings/environment.ts';
import { readSmallFile } from '../../settings/file/file.ts';
import { fileSchema } from '../../settings/file/file-schema.ts';
import { newFile, SCHEMA_FILE } from '../../settings/file/new-file.ts';
import { loadSettings } from '../../settings/load.ts';
import { formatJsonPath } from '../../settings/values/json-path.ts';
import { print } from '../terminal/output.ts';
import type { Invocation } from '../verb.ts';
import { examine } from './doctor.ts';

/** Writes the file, never over another one unless told to, and ends as `daywalk doctor` does with it. */
export async function init(invocation: Invocation): Promise<number> {
  const { config, force, ...flags } = invocation.options;
  const path = resolve(typeof config === 'string' ? config : 'daywalk.yaml');
  const folder = dirname(path);
  const { DAYWALK_CONFIG: _, ...environment } = readEnvironment();
  const settings = loadSettings({
    flags,
    environment,
    cwd: process.cwd(),
    // The new file is made of flags and environment only, whatever an old one says.
    readFile: (file) => {
      if (/^daywalk\.ya?ml$/.test(basename(file)))
        throw Object.assign(new Error('not read'), { code: 'ENOENT' });
      return readSmallFile(file);
    },
  });
  await write(path, newFile(settings, folder), force === true);
  await write(join(folder, SCHEMA_FILE), `${JSON.stringify(fileSchema(), null, 2)}\n`, true);
  print(
    `Wrote ${path}, and ${SCHEMA_FILE} beside it for editors that know YAML schemas.`,
    'Now `daywalk doctor` looks at it:',
    '',
  );
  const { exitCode, identities } = await examine({ ...invocation, options: { config: path } });
  const idPath = sameOf([...identities.values()]);
  if (settings.idPath !== undefined || idPath === null) return exitCode;
  const origins = { ...settings.origins, id_path: { source: 'file', place: path } as const };
  await write(path, newFile({ ...settings, idPath, origins }, folder), true);
  const spelled = formatJsonPath(idPath);
  print('', `Set id_path: ${spelled} in it. Take the line out if that does not identify an event.`);
  return exitCode;
}

/** The path that all of them are; null where they differ, or there is none. */
function sameOf(paths: readonly (readonly string[])[]): readonly string[] | null {
  const [first = null] = paths;
  return paths.every((path) => JSON.stringify(path) === JSON.stringify(first)) ? first : null;
}

async function write(path: string, text: string, overwrite: boolean): Promise<void> {
  try {
    await writeFile(path, text, { flag: overwrite ? 'w' : 'wx' });
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    if (code === 'EEXIST')
      throw new SettingsError(`${path} is there already, and stays as it is`, {
        hint: 'Write over it with --force, or write another file with --config FILE.',
        cause: error,
      });
    throw new SettingsError(`${path} cannot be written (${code})`, {
      hint: 'Run it in a folder that this user may write to, or name another file with --config.',
      cause: error,
    });
  }
}
