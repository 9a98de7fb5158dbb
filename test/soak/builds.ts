/** The build of the program that runs before the upgrade: a second copy of the present one, or one of an earlier commit. */
import { execFileSync } from 'node:child_process';
import { cpSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Makes it.
 * @param ref a commit of this repository, which finds the packages that are installed here; undefined: the present build.
 * @returns its `main.js`.
 */
export function makeEarlierBuild(folder: string, ref: string | undefined): string {
  if (ref === undefined)
    for (const part of ['dist', 'migrations', 'package.json'])
      cpSync(join(ROOT, part), join(folder, part), { recursive: true });
  else {
    const archive = join(folder, 'archive.tar');
    execFileSync('git', ['archive', '--output', archive, ref], { cwd: ROOT });
    execFileSync('tar', ['-xf', archive, '-C', folder]);
  }
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  if (ref !== undefined)
    execFileSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', 'tsconfig.build.json'], {
      cwd: folder,
      stdio: 'inherit',
    });
  return join(folder, 'dist/main.js');
}
