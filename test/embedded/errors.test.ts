/** What can keep the embedded Postgres from running is told, with a way out. */
import { spawn } from 'node:child_process';
import { chmod, cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  EmbeddedPostgresError,
  startEmbedded,
} from '../../packages/embedded-postgres/src/index.ts';
import {
  folderWithData,
  installApp,
  isRoot,
  LONGEST_WAIT,
  PLATFORM,
  ROOT,
  startElsewhere,
  startHere,
  temporaryFolder,
} from './processes.ts';

const WAY_OUT = 'set DATABASE_URL=postgres://user:password@host/database';

async function errorOf(work: Promise<unknown>): Promise<EmbeddedPostgresError> {
  const error = await work.then(
    () => undefined,
    (reason) => reason,
  );
  expect(error).toBeInstanceOf(EmbeddedPostgresError);
  expect(error.hint).toContain(WAY_OUT);
  return error;
}

/** What a process of `app` says when it cannot start Postgres. */
async function complaintOf(app: string): Promise<{ message: string; hint: string }> {
  const { said } = await startElsewhere(join(app, '.daywalk'), { app });
  const error = JSON.parse(said);
  expect(error.name).toBe('EmbeddedPostgresError');
  expect(error.hint).toContain(WAY_OUT);
  return error;
}

/** A stand-in for the platform package whose programs are a shell script. */
async function installPrograms(modules: string, script: string): Promise<void> {
  const bin = join(modules, PLATFORM, 'native/bin');
  await mkdir(bin, { recursive: true });
  await cp(join(ROOT, 'node_modules', PLATFORM, 'package.json'), join(bin, '../../package.json'));
  await mkdir(join(bin, '../../dist'));
  await writeFile(join(bin, '../../dist/index.js'), '');
  for (const program of ['initdb', 'postgres'])
    await writeFile(join(bin, program), `#!/bin/sh\n${script}\n`, { mode: 0o644 });
}

test('programs that are not installed', async () => {
  const { app } = await installApp();
  const { message, hint } = await complaintOf(app);
  expect(message).toContain(`(npm package ${PLATFORM}) are not installed`);
  expect(hint).toContain('npm install without --omit=optional');
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
    expect(await readdir(join(app, '.daywalk'))).toEqual(['.gitignore', 'lib']);
  });
});

describe('a folder that cannot be used', () => {
  test('with data of another major version is left alone', async () => {
    const directory = await folderWithData();
    const version = join(directory, 'data/PG_VERSION');
    await writeFile(version, '17\n');
    const { message } = await errorOf(startEmbedded({ directory }));
    expect(message).toContain('initialized by PostgreSQL version 17, which is not compatible');
    await writeFile(version, '18\n');
    await startHere(directory);
  });

  test('with broken data tells the last words of the server', async () => {
    const directory = await folderWithData();
    await rm(join(directory, 'data/global/pg_control'));
    const { message } = await errorOf(startEmbedded({ directory }));
    expect(message).toContain('pg_control');
    expect(message).toContain(join(directory, 'postgres.log'));
    expect(await readFile(join(directory, 'postgres.log'), 'utf8')).toContain('pg_control');
  });

  test.runIf(process.platform === 'linux')('on which another container runs Postgres', async () => {
    const directory = await folderWithData();
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

  test.runIf(process.platform === 'linux')('where no folder can be made', async () => {
    const { message } = await errorOf(startEmbedded({ directory: '/proc/nosuch/.daywalk' }));
    expect(message).toMatch(/^the folder \/proc\/nosuch\/.daywalk cannot be made: /);
  });

  test('because a file in it cannot be written', async () => {
    const directory = await folderWithData();
    // As on a file system that is read-only; there is none here.
    await mkdir(join(directory, 'pg_hba.conf'));
    const { message, hint } = await errorOf(startEmbedded({ directory }));
    expect(message).toMatch(/daywalk-embedded-\S+ cannot be used: E/);
    expect(hint).toContain('make it writable');
  });

  test.runIf(isRoot)('because it cannot be written', async () => {
    const folder = await temporaryFolder();
    await chmod(folder, 0o755);
    const { said } = await startElsewhere(join(folder, '.daywalk'), { uid: 65534 });
    expect(JSON.parse(said)).toMatchObject({ name: 'EmbeddedPostgresError' });
    expect(JSON.parse(said).message).toContain('cannot be made');
  });
});
