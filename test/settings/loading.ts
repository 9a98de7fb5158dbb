/** Loading settings in tests: from files that exist only in memory. */

import { SettingsError } from '../../src/errors.ts';
import { type LoadOptions, loadSettings } from '../../src/settings/load.ts';

export interface Given extends Partial<Omit<LoadOptions, 'readFile'>> {
  /** Content by absolute path; the working directory is /srv. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
}

export function load({ files = {}, ...given }: Given = {}) {
  return loadSettings({
    flags: {},
    environment: {},
    cwd: '/srv',
    ...given,
    readFile: (path) => {
      const content = files[path];
      const code = /[^/]{256}/.test(path) ? 'ENAMETOOLONG' : 'ENOENT';
      if (content === undefined) throw Object.assign(new Error('no'), { code });
      return typeof content === 'string' ? Buffer.from(content) : content;
    },
  });
}

/** Settings with `yaml` as their file. */
export function loadYaml(yaml: string, given: Given = {}) {
  return load({ ...given, files: { '/srv/daywalk.yaml': yaml, ...given.files } });
}

/** The lines of the SettingsError that `run` must throw. */
export function problemsOf(run: () => unknown): string[] {
  try {
    run();
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    const [first = '', ...rest] = error.message.split('\n');
    return rest.length === 0 ? [first] : rest.map((line) => line.trim());
  }
  throw new Error('expected a SettingsError');
}
