/** What another user of the machine could try against the embedded Postgres, and what he does not get. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmod,
  chown,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ask } from '../support/ask.ts';
import {
  folderWithData,
  isRoot,
  pidsWith,
  postmasterPid,
  putData,
  ROOT,
  startElsewhere,
  startHere,
  temporaryFolder,
  untilNothingRuns,
} from './processes.ts';

const NOBODY = 65534;

/** A server that asks whoever comes for a password in clear text, and keeps what it is sent. */
async function fakePostgres(
  address: string | number,
): Promise<{ server: Server; heard: Buffer[] }> {
  const heard: Buffer[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      heard.push(chunk);
      socket.write(Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]));
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).once('listening', resolve);
    if (typeof address === 'number') server.listen(address, '127.0.0.1');
    else server.listen(address);
  });
  onTestFinished(() => void server.close());
  return { server, heard };
}

/** What a process has open that anyone can reach: ports, and abstract sockets. */
async function listenersOf(pid: number): Promise<string[]> {
  const inodes = new Set<string>();
  for (const fd of await readdir(`/proc/${pid}/fd`)) {
    // A file may have the number of somebody's socket; and what is closed meanwhile has none.
    const link = await readlink(`/proc/${pid}/fd/${fd}`).catch(() => '');
    const inode = /^socket:\[(\d+)\]$/.exec(link)?.[1];
    if (inode !== undefined) inodes.add(inode);
  }
  const tables = await Promise.all(
    ['tcp', 'tcp6', 'udp', 'udp6'].map((name) =>
      readFile(`/proc/${pid}/net/${name}`, 'utf8').catch(() => ''),
    ),
  );
  const abstract = (await readFile(`/proc/${pid}/net/unix`, 'utf8')).split('\n').flatMap((line) => {
    const [inode, name] = line.trim().split(/\s+/).slice(6);
    return name?.startsWith('@') && inodes.has(`${inode}`) ? [name] : [];
  });
  const inNetwork = tables.flatMap((table) =>
    table
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(/\s+/))
      .filter((fields) => inodes.has(fields[9] ?? ''))
      .map((fields) => fields[1] ?? ''),
  );
  return [...abstract, ...inNetwork];
}

describe.runIf(process.platform === 'linux')('whoever takes the names first', () => {
  test('an abstract socket with the name of the folder, and a server that it points to, hear nothing; and no process of ours has such a socket, or listens on TCP', async () => {
    const directory = await folderWithData();
    const { server, heard } = await fakePostgres(0);
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const name = createHash('sha256').update(directory).digest('hex').slice(0, 32);
    const control = createServer((socket) => socket.end(`${JSON.stringify({ port })}\n`));
    await new Promise<void>((resolve) => control.listen(`\0daywalk-${name}`, resolve));
    onTestFinished(() => void control.close());

    const { url } = await startHere(directory);
    expect(await ask(url, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(heard).toEqual([]);
    expect((await listenersOf(process.pid)).join('\n')).toContain(`@daywalk-${name}`);
    for (const pid of pidsWith(directory))
      if (pid !== process.pid) expect(await listenersOf(pid)).toEqual([]);
  });
});

test('a server that asks for a password gets none, not even from the environment', async () => {
  const directory = await folderWithData();
  const { heard } = await fakePostgres(join(directory, 'data/.s.PGSQL.5432'));
  await writeFile(
    join(directory, 'data/postmaster.pid'),
    `${process.pid}\n${directory}/data\n0\n5432\n.\n\n0 0\nready   \n`,
  );
  process.env.PGPASSWORD = 'a-password-of-this-user';
  onTestFinished(() => void delete process.env.PGPASSWORD);
  await expect(startHere(directory)).rejects.toMatchObject({
    name: 'EmbeddedPostgresError',
    message: expect.stringContaining('asks for a password'),
  });
  expect(Buffer.concat(heard).toString('latin1')).toContain('daywalk');
  expect(Buffer.concat(heard).toString('latin1')).not.toContain('a-password');
});

describe('a folder that others reach into is refused', () => {
  const refused = async (directory: string, message: RegExp) => {
    await expect(startHere(directory)).rejects.toMatchObject({
      name: 'EmbeddedPostgresError',
      message: expect.stringMatching(message),
      hint: expect.stringContaining('DATABASE_URL=postgres://'),
    });
    if (process.platform === 'linux') await untilNothingRuns(directory);
  };

  test.each([0o777, 0o722, 0o770])('the folder itself with mode %o', async (mode) => {
    const directory = await temporaryFolder();
    await chmod(directory, mode);
    await refused(directory, /can be changed by others \(mode 7\d\d\)/);
  });

  test('a folder above it in which all may replace everything', async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, 'open'));
    await chmod(join(folder, 'open'), 0o777);
    await refused(join(folder, 'open/.daywalk'), /open lets everyone replace what is in it/);
    await chmod(join(folder, 'open'), 0o1777);
    await putData(join(folder, 'open/.daywalk'));
    await startHere(join(folder, 'open/.daywalk'));
  });

  test.each([0o755, 0o750])('data with mode %o', async (mode) => {
    const directory = await folderWithData();
    await chmod(join(directory, 'data'), mode);
    await refused(directory, /data can be entered by others/);
  });

  test('data behind a link', async () => {
    const directory = await folderWithData();
    await rename(join(directory, 'data'), join(directory, 'elsewhere'));
    await symlink('elsewhere', join(directory, 'data'));
    await refused(directory, /data is not a folder \(a symbolic link is not followed/);
  });

  test.runIf(isRoot)("someone else's folder, also where a link leads there", async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, 'planted'), { mode: 0o700 });
    await chown(join(folder, 'planted'), NOBODY, NOBODY);
    await symlink('planted', join(folder, '.daywalk'));
    await refused(join(folder, 'planted'), /planted belongs to nobody/);
    await refused(join(folder, '.daywalk'), /planted belongs to nobody/);
  });

  test.runIf(isRoot)("a private folder for the socket that is not the data's owner's", async () => {
    const folder = await temporaryFolder();
    const directory = join(folder, 'long'.repeat(30));
    await putData(directory);
    const first = await startHere(directory);
    const sockets = new URL(first.url).searchParams.get('host') ?? '';
    onTestFinished(() => rm(sockets, { recursive: true, force: true }));
    await chown(sockets, NOBODY, NOBODY);
    await expect(startHere(directory)).rejects.toThrow(/belongs to nobody/);
    await chown(sockets, 0, 0);
    await chmod(sockets, 0o755);
    await expect(startHere(directory)).rejects.toThrow(/can be entered by others/);
    await chmod(sockets, 0o700);
  });
});

describe.runIf(isRoot)('another account of the machine', () => {
  /** What a shell of that account prints; it fails where the account may not. */
  const asNobody = (...command: string[]) => {
    const [program, ...args] = command as [string, ...string[]];
    return promisify(execFile)(program, args, { uid: NOBODY, gid: NOBODY, cwd: '/' });
  };

  test('can neither look into the data, nor connect, nor put a socket there, and is refused where the folder was opened for it', async () => {
    const directory = await folderWithData();
    await chmod(directory, 0o711);
    const { url } = await startHere(directory);
    const data = join(directory, 'data');
    await expect(asNobody('ls', directory)).rejects.toThrow('Permission denied');
    await expect(asNobody('ls', data)).rejects.toThrow('Permission denied');
    await expect(asNobody('cat', join(directory, 'postgres.log'))).rejects.toThrow(
      'Permission denied',
    );
    await expect(asNobody('touch', join(data, '.s.PGSQL.5432'))).rejects.toThrow(
      'Permission denied',
    );
    const connecting = `require('node:net').connect(${JSON.stringify(join(data, '.s.PGSQL.5432'))}).on('connect', () => process.exit(0))`;
    await expect(asNobody(process.execPath, '-e', connecting)).rejects.toThrow('EACCES');

    // Where the folder was opened for it by mistake it is refused by name.
    await chmod(join(directory, 'data'), 0o755);
    await chmod(join(directory, 'data/.s.PGSQL.5432'), 0o777);
    const client = `
      const pg = require(process.argv[1]);
      new pg.Client(process.argv[2]).connect().then(() => process.exit(0), (error) => { console.error(error.code); process.exit(1); });`;
    const module = join(ROOT, 'node_modules/pg');
    await expect(asNobody(process.execPath, '-e', client, module, url)).rejects.toThrow('28000');
    expect(await ask(url, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  test('gets a server of its own, with no way into ours', async () => {
    const folder = await temporaryFolder();
    await chmod(folder, 0o1777);
    for (const whose of ['ours', 'theirs']) await putData(join(folder, whose));
    await promisify(execFile)('chown', ['-R', `${NOBODY}:${NOBODY}`, join(folder, 'theirs')]);
    const ours = await startHere(join(folder, 'ours'));
    const theirs = await startElsewhere(join(folder, 'theirs'), { uid: NOBODY });
    expect(theirs.said).not.toBe(ours.url);
    // Root can enter, and is nobody to that server.
    await expect(ask(theirs.said, 'select 1')).rejects.toMatchObject({ code: '28000' });
    expect(await postmasterPid(join(folder, 'ours'))).toBeGreaterThan(0);
  });
});
