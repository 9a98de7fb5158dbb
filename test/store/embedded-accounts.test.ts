import { execFileSync } from 'node:child_process';
import { chown, readFile, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { rootCandidates } from '../../src/store/embedded/account.ts';
import { readPasswd } from '../../src/store/embedded/passwd.ts';
import { ask } from '../support/ask.ts';
import {
  isRoot,
  moveToQuietPort,
  ownerOf,
  postmasterPid,
  releaseElsewhere,
  startElsewhere,
  startHere,
  temporaryFolder,
  untilNoSupervisor,
} from './embedded-processes.ts';

const passwd = await readPasswd();
const nobody = passwd.find(({ name }) => name === 'nobody');
const nobodyUid = nobody?.uid ?? 65534;

/** Whether root can go by another number here; containers often forbid it. */
function canMaskRoot(): boolean {
  try {
    execFileSync('unshare', ['--user', `--map-user=${nobodyUid}`, 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** A folder that no account but root can enter, like /root. */
async function closedFolder(): Promise<string> {
  // As mkdtemp makes it: mode 700.
  return temporaryFolder();
}

describe('the ways for root to run Postgres', () => {
  const names = (owner?: number) =>
    rootCandidates(
      [
        { name: 'root', uid: 0, gid: 0 },
        { name: 'ann', uid: 1000, gid: 1000 },
        { name: 'nobody', uid: 65534, gid: 65534 },
        { name: 'postgres', uid: 101, gid: 104 },
      ],
      owner,
    ).map(({ name }) => name);

  test('begin with the owner of the data', () => {
    expect(names()).toEqual(['as postgres', 'as nobody', 'in a user namespace']);
    expect(names(65534)).toEqual(['as nobody', 'as postgres', 'in a user namespace']);
    expect(names(1000)).toEqual(['as ann', 'as postgres', 'as nobody', 'in a user namespace']);
    expect(names(4711)[0]).toBe('as uid 4711');
    expect(names(0)).toEqual(['in a user namespace', 'as postgres', 'as nobody']);
  });

  test('exist without any account', () => {
    const [only, ...others] = rootCandidates([], undefined);
    expect(others).toEqual([]);
    expect(only?.prefix).toContain('--map-user=65534');
  });
});

describe.runIf(isRoot)('root', () => {
  test('runs Postgres as an unprivileged account that owns the data', async () => {
    const directory = join(await temporaryFolder(), '.daywalk');
    // The folder that mkdtemp makes lets nobody pass; a project's folder usually does.
    execFileSync('chmod', ['755', join(directory, '..')]);
    const { url } = await startHere(directory);
    const owner = await ownerOf(join(directory, 'data'));
    expect(owner).not.toBe(0);
    expect(await ownerOf(`/proc/${await postmasterPid(directory)}`)).toBe(owner);
    expect(await ask(url, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  test.runIf(canMaskRoot())(
    'runs Postgres in a user namespace where no account can enter',
    async () => {
      const directory = join(await closedFolder(), '.daywalk');
      const { url } = await startHere(directory);
      expect(await ownerOf(join(directory, 'data'))).toBe(0);
      const map = await readFile(`/proc/${await postmasterPid(directory)}/uid_map`, 'utf8');
      expect(map.trim().split(/\s+/)).toEqual([`${nobodyUid}`, '0', '1']);
      expect(await ask(url, 'select 1 as one')).toEqual([{ one: 1 }]);
    },
  );

  test.runIf(canMaskRoot())('uses data that was made the other way', async () => {
    const closed = await closedFolder();
    const open = await temporaryFolder();
    execFileSync('chmod', ['755', open]);

    const made = await startHere(join(closed, 'a'));
    await ask(made.url, 'create table kept as select 42 as answer');
    await made.release({ untilStopped: true });
    await untilNoSupervisor(closed);
    await rename(join(closed, 'a'), join(open, 'a'));
    const moved = await startHere(join(open, 'a'));
    expect(await ownerOf(join(open, 'a/data'))).toBe(0);
    expect(await ask(moved.url, 'select answer from kept')).toEqual([{ answer: 42 }]);

    const other = await startHere(join(open, 'b'));
    await ask(other.url, 'create table kept as select 43 as answer');
    expect(await ownerOf(join(open, 'b/data'))).not.toBe(0);
    await other.release({ untilStopped: true });
    await rename(join(open, 'b'), join(closed, 'b'));
    const hidden = await startHere(join(closed, 'b'));
    expect(await ownerOf(join(closed, 'b/data'))).toBe(0);
    expect(await ask(hidden.url, 'select answer from kept')).toEqual([{ answer: 43 }]);
  });
});

describe.runIf(isRoot && nobody)('a plain user', () => {
  async function folderOfNobody(): Promise<string> {
    const folder = await temporaryFolder();
    await chown(folder, nobodyUid, nobodyUid);
    return folder;
  }

  test('runs Postgres as itself, and takes turns with root', async () => {
    const directory = join(await folderOfNobody(), '.daywalk');
    const first = await startElsewhere(directory, { uid: nobodyUid });
    expect(first.said).toMatch(/^postgres:/);
    const pid = await postmasterPid(directory);
    expect(await ownerOf(`/proc/${pid}`)).toBe(nobodyUid);
    expect((await stat(directory)).mode & 0o777).toBe(0o700);

    // Root joins the server that the user runs …
    const joined = await startHere(directory);
    expect(joined.url).toBe(first.said);
    await joined.release();
    await releaseElsewhere(first);
    await untilNoSupervisor(directory);

    // … starts it as that user, and leaves nothing behind that the user cannot use.
    const root = await startHere(directory);
    expect(await ownerOf(`/proc/${await postmasterPid(directory)}`)).toBe(nobodyUid);
    await root.release({ untilStopped: true });
    await untilNoSupervisor(directory);
    const moved = await moveToQuietPort(directory, first.said);
    const again = await startElsewhere(directory, { uid: nobodyUid });
    expect(again.said).toBe(moved);
  });

  test('is told whose the folder is when it is not its own', async () => {
    const folder = await temporaryFolder();
    execFileSync('chmod', ['755', folder]);
    const directory = join(folder, '.daywalk');
    const root = await startHere(directory);
    const { said } = await startElsewhere(directory, { uid: nobodyUid });
    const error = JSON.parse(said);
    expect(error.name).toBe('SettingsError');
    expect(error.message).toMatch(/\.daywalk.* belongs to \w+, and daywalk runs as nobody/);
    expect(error.hint).toContain('DATABASE_URL=postgres://');
    await root.release();
  });
});
