/** Who runs Postgres, and whose the data is: ourselves, or, for root, whom it can trust most. */
import { execFileSync } from 'node:child_process';
import { chmod, chown, mkdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { rootCandidates } from '../../packages/embedded-postgres/src/account.ts';
import { readPasswd } from '../../packages/embedded-postgres/src/passwd.ts';
import { ask } from '../support/ask.ts';
import {
  isRoot,
  ownerOf,
  postmasterPid,
  putData,
  releaseElsewhere,
  startElsewhere,
  startHere,
  temporaryFolder,
} from './processes.ts';

const NOBODY = (await readPasswd()).find(({ name }) => name === 'nobody')?.uid ?? 65534;

/** Whether root can go by another number here; containers often forbid it. */
function canMaskRoot(): boolean {
  try {
    execFileSync('unshare', ['--user', '--map-user=1', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

describe('the ways for root to run Postgres', () => {
  const PASSWD = [
    { name: 'root', uid: 0, gid: 0 },
    { name: 'nobody', uid: 65534, gid: 65534 },
    { name: 'ann', uid: 1000, gid: 1000 },
    { name: 'postgres', uid: 101, gid: 104 },
  ];
  const names = (uid?: number) =>
    rootCandidates(PASSWD, uid === undefined ? undefined : { uid, gid: uid }).map(
      ({ name }) => name,
    );

  test('begin with the one in which the data is its own; data that is there keeps its owner', () => {
    expect(names()).toEqual(['in a user namespace', 'as postgres', 'as nobody']);
    expect(names(0)).toEqual(['in a user namespace']);
    expect(names(1000)).toEqual(['as ann']);
    expect(names(4711)).toEqual(['as uid 4711']);
  });

  test('never give root the number that strangers have in a user namespace', () => {
    const [first] = rootCandidates(PASSWD, undefined);
    expect(first).toMatchObject({ client: 'ann' });
    expect(first?.prefix).toContain('--map-user=1000');
    expect(rootCandidates(PASSWD.slice(0, 2), undefined).map(({ name }) => name)).toEqual([
      'as nobody',
    ]);
  });
});

describe.runIf(isRoot)('root', () => {
  test.runIf(canMaskRoot())('runs Postgres in a user namespace, and owns the data', async () => {
    // As mkdtemp makes it, no account but root can enter: like /root.
    const directory = join(await temporaryFolder(), '.daywalk');
    // With its owner as it was made.
    await putData(directory);
    const { url } = await startHere(directory);
    expect(await ownerOf(join(directory, 'data'))).toBe(0);
    const map = await readFile(`/proc/${await postmasterPid(directory)}/uid_map`, 'utf8');
    expect(map.trim()).toMatch(/^[1-9]\d* +0 +1$/);
    expect(await ask(url, 'select current_user::text as name')).toEqual([{ name: 'daywalk' }]);
  });

  test('runs Postgres as the account that the data was given to', async () => {
    const directory = join(await temporaryFolder(), '.daywalk');
    await putData(directory);
    await chmod(dirname(directory), 0o755);
    await chmod(directory, 0o711);
    // As it is where root may not make user namespaces.
    execFileSync('chown', ['-R', `${NOBODY}:${NOBODY}`, join(directory, 'data')]);
    const { url } = await startHere(directory);
    expect(await ownerOf(`/proc/${await postmasterPid(directory)}`)).toBe(NOBODY);
    expect(await ask(url, 'select answer from made_before')).toEqual([{ answer: 42 }]);
    expect((await stat(join(directory, 'data'))).mode & 0o777).toBe(0o700);
  });

  test('is told whose the folder is when it is not its own', async () => {
    const directory = join(await temporaryFolder(), '.daywalk');
    await mkdir(directory);
    await chown(directory, NOBODY, NOBODY);
    await expect(startHere(directory)).rejects.toMatchObject({
      message: expect.stringMatching(/\.daywalk belongs to nobody, and this program runs as root$/),
      hint: expect.stringContaining('run it as nobody'),
    });
  });
});

describe.runIf(isRoot)('a plain user', () => {
  test('runs Postgres as itself, in a folder that is closed to others', async () => {
    const folder = await temporaryFolder();
    await chown(folder, NOBODY, NOBODY);
    const directory = join(folder, '.daywalk');
    const first = await startElsewhere(directory, { uid: NOBODY });
    expect(first.said).toMatch(/^postgresql:/);
    expect(await ownerOf(`/proc/${await postmasterPid(directory)}`)).toBe(NOBODY);
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
    const second = await startElsewhere(directory, { uid: NOBODY });
    expect(second.said).toBe(first.said);
    await releaseElsewhere(first);
    await releaseElsewhere(second);
  });

  test('is told whose the folder is when it is not its own', async () => {
    const folder = await temporaryFolder();
    await chmod(folder, 0o755);
    const directory = join(folder, '.daywalk');
    await mkdir(directory);
    const { said } = await startElsewhere(directory, { uid: NOBODY });
    const error = JSON.parse(said);
    expect(error.name).toBe('EmbeddedPostgresError');
    expect(error.message).toMatch(/\.daywalk belongs to root, and this program runs as nobody$/);
    expect(error.hint).toContain('DATABASE_URL=postgres://');
  });
});
