/** The settings file: which one it is, and what it says. */
import { dirname, resolve } from 'node:path';
import { shownWord, Wrong } from '../problems.ts';
import type { Reading } from '../reading.ts';
import { MISSING, textOf } from '../small-files.ts';
import { type FileSettings, fileSettings } from './file-settings.ts';
import { parseYaml } from './yaml-tree.ts';

const NAME = 'daywalk.yaml';
/** The YAML parser compares every key with every other one. */
const LONGEST = 128 * 1024;

export interface ConfigFile {
  readonly path: string;
  readonly settings: FileSettings;
}

/**
 * Reads the file that a flag or the environment names, or `daywalk.yaml` if there is one.
 * @returns null: there is none; undefined: there is one that says nothing, which was told.
 */
export function readConfigFile(
  { raws, values, problems, readFile }: Reading,
  cwd: string,
): ConfigFile | null | undefined {
  const named = raws.get('config');
  const path = named ? values.get('config') : resolve(cwd, NAME);
  if (typeof path !== 'string') return undefined;
  const name = named ? shownWord(named.text.trim()) : NAME;
  const found = textOf(path, readFile);
  if (found === MISSING && !named) {
    if (textOf(resolve(cwd, 'daywalk.yml'), readFile) === MISSING) return null;
    problems.add('daywalk.yml', `is not read under this name; rename it to ${NAME}`);
    return undefined;
  }
  const isLong = typeof found === 'string' && found.length > LONGEST;
  const text = isLong ? new Wrong(`is longer than ${LONGEST / 1024} KiB`) : found;
  if (text instanceof Wrong) {
    problems.add(named?.place ?? NAME, `${name} ${text.why}`);
    return undefined;
  }
  const tree = parseYaml(text, name, problems);
  return tree && { path, settings: fileSettings(tree, dirname(path), problems) };
}
