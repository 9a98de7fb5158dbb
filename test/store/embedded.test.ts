import { once } from 'node:events';
import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { ask } from '../support/ask.ts';
import {
  killElsewhere,
  LONGEST_WAIT,
  moveToQuietPort,
  observe,
  postmasterPid,
  processesWith,
  releaseElsewhere,
  startElsewhere,
  startHere,
  supervisorPid,
  temporaryFolder,
  untilNoSupervisor,
} from './embedded-processes.ts';

const seesProcesses = process.platform === 'linux';

describe('one process', () => {
  test('makes a cluster, keeps its data between runs, and its URL', async () => {
    const directory = join(await temporaryFolder(), 'not', 'there', 'yet');
    const first = await startHere(directory);
    expect(first.url).toMatch(/^postgres:\/\/daywalk:[0-9a-f]{48}@127\.0\.0\.1:\d+\/daywalk$/);
    await ask(first.url, 'create table kept as select 42 as answer');
    await first.release({ untilStopped: true });
    expect(await readdir(join(directory, 'data'))).not.toContain('postmaster.pid');
    expect(await readFile(join(directory, 'postgres.log'), 'utf8')).toMatch(
      /database system is shut down\n$/,
    );

    expect(await readFile(join(directory, 'port'), 'utf8')).toBe(`${new URL(first.url).port}\n`);
    const again = await moveToQuietPort(directory, first.url);
    const second = await startHere(directory);
    expect(second.url).toBe(again);
    expect(await ask(second.url, 'select answer from kept')).toEqual([{ answer: 42 }]);
  });

  test('gets a durable UTF-8 server that only this machine reaches, and only with the password', async () => {
    const directory = await temporaryFolder();
    const { url } = await startHere(directory);
    const settings = await ask(
      url,
      `select current_setting('fsync') as fsync, current_setting('listen_addresses') as listen,
              current_setting('unix_socket_directories') as sockets, current_setting('timezone') as zone,
              current_setting('data_checksums') as checksums,
              (select pg_encoding_to_char(encoding) || ' ' || datlocprovider::text || ' ' || datlocale
                 from pg_database where datname = current_database()) as locale,
              lower('ÄÉ') as lowered`,
    );
    expect(settings).toEqual([
      {
        fsync: 'on',
        listen: '127.0.0.1',
        sockets: '',
        zone: 'UTC',
        checksums: 'on',
        locale: 'UTF8 b C.UTF-8',
        lowered: 'äé',
      },
    ]);
    const wrong = new URL(url);
    wrong.password = 'wrong';
    await expect(ask(wrong.href, 'select 1')).rejects.toMatchObject({ code: '28P01' });
    expect((await stat(join(directory, 'password'))).mode & 0o777).toBe(0o600);
    expect((await stat(join(directory, 'postgres.log'))).mode & 0o777).toBe(0o600);
    expect(await readFile(join(directory, '.gitignore'), 'utf8')).toBe('*\n');
  });

  test('stops waiting when told, and leaves nothing behind', async () => {
    const directory = await temporaryFolder();
    const stop = new AbortController();
    const starting = startHere(directory, stop.signal);
    await vi.waitFor(() => stat(join(directory, 'postgres.log')), {
      ...LONGEST_WAIT,
      interval: 5,
    });
    stop.abort(new Error('enough'));
    await expect(starting).rejects.toThrow('enough');
    await expect(startHere(directory, stop.signal)).rejects.toThrow('enough');
    await untilNoSupervisor(directory);
  });

  test('that returns while the server is stopping gets a new one', async () => {
    const directory = await temporaryFolder();
    for (let round = 0; round < 2; round += 1) {
      const database = await startHere(directory);
      const { ended } = await observe(database.url);
      await database.release();
      await ended;
      const again = await startHere(directory);
      expect(await ask(again.url, 'select 1 as one')).toEqual([{ one: 1 }]);
      await again.release();
    }
  });

  test('starts anew when the folder was removed while the server lingered', async () => {
    const directory = join(await temporaryFolder(), '.daywalk');
    const first = await startHere(directory);
    await ask(first.url, 'create table old ()');
    await first.release();
    await rm(directory, { recursive: true });
    const second = await startHere(directory);
    expect(await ask(second.url, `select to_regclass('old') as old`)).toEqual([{ old: null }]);
  });

  test('takes another port when someone has the last one', async () => {
    const directory = await temporaryFolder();
    const other = await startHere(await temporaryFolder());
    await writeFile(join(directory, 'port'), `${new URL(other.url).port}\n`);
    const { url } = await startHere(directory);
    expect(new URL(url).port).not.toBe(new URL(other.url).port);
    expect(await ask(url, 'select 1 as one')).toEqual([{ one: 1 }]);
  });
});

describe('several processes', () => {
  test('share one server, which stops after the last', async () => {
    const directory = await temporaryFolder();
    const here = await startHere(directory);
    const there = await startElsewhere(directory);
    expect(there.said).toBe(here.url);
    const { client, ended } = await observe(here.url);
    await here.release();
    await here.release();
    expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
    await releaseElsewhere(there);
    await ended;
    await untilNoSupervisor(directory);
  });

  test('may all be the first', async () => {
    const directory = await temporaryFolder();
    const processes = await Promise.all([
      startElsewhere(directory),
      startElsewhere(directory),
      startElsewhere(directory),
      startHere(directory),
    ]);
    expect(new Set(processes.map((one) => ('said' in one ? one.said : one.url))).size).toBe(1);
    // One that found the place taken may not have ended yet.
    if (seesProcesses)
      await vi.waitFor(
        async () => expect(await processesWith('supervisor.js', directory)).toHaveLength(1),
        LONGEST_WAIT,
      );
    expect((await readdir(directory)).sort()).toEqual([
      '.gitignore',
      'data',
      'password',
      'port',
      'postgres.log',
    ]);
  });

  test('find each other through links', async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, 'real'));
    await symlink(join(folder, 'real'), join(folder, 'link'));
    const real = await startHere(join(folder, 'real'));
    const link = await startHere(join(folder, 'link'));
    expect(link.url).toBe(real.url);
  });
});

describe.runIf(seesProcesses)('what is killed', () => {
  test('a daywalk: the server stops cleanly after the grace', async () => {
    const directory = await temporaryFolder();
    const killed = await startElsewhere(directory);
    const { ended } = await observe(killed.said);
    await killElsewhere(killed);
    await ended;
    await untilNoSupervisor(directory);
    expect(await readFile(join(directory, 'postgres.log'), 'utf8')).toMatch(
      /database system is shut down\n$/,
    );
  });

  test('the supervisor and its clients: the next one adopts the server', async () => {
    const directory = await temporaryFolder();
    const first = await startElsewhere(directory);
    const { client, ended } = await observe(first.said);
    const server = await postmasterPid(directory);
    process.kill(await supervisorPid(directory), 'SIGKILL');
    await killElsewhere(first);
    const second = await startHere(directory);
    expect(second.url).toBe(first.said);
    expect(await postmasterPid(directory)).toBe(server);
    expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
    await second.release({ untilStopped: true });
    await ended;
    await untilNoSupervisor(directory);
  });

  test('the supervisor: its client brings up another, and work goes on', async () => {
    const directory = await temporaryFolder();
    const database = await startHere(directory);
    const { client, ended } = await observe(database.url);
    const first = await supervisorPid(directory);
    process.kill(first, 'SIGKILL');
    await vi.waitFor(
      async () => expect(await supervisorPid(directory)).not.toBe(first),
      LONGEST_WAIT,
    );
    expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
    await database.release({ untilStopped: true });
    await ended;
    await untilNoSupervisor(directory);
  });

  test('Postgres: it comes back under the same URL, with what was committed', async () => {
    const directory = await temporaryFolder();
    await moveToQuietPort(directory);
    const { url } = await startHere(directory);
    await ask(url, 'create table kept as select 42 as answer');
    const { ended } = await observe(url);
    process.kill(await postmasterPid(directory), 'SIGKILL');
    await ended;
    await vi.waitFor(
      async () => expect(await ask(url, 'select answer from kept')).toEqual([{ answer: 42 }]),
      { ...LONGEST_WAIT, interval: 100 },
    );
  });

  test('the first start in the middle of initdb: nothing half-made is used', async () => {
    const directory = await temporaryFolder();
    const stop = new AbortController();
    const starting = startHere(directory, stop.signal);
    starting.catch(() => undefined);
    // Looked up before, because nothing may come between the sight of the half-made data and the kill.
    const supervisor = await vi.waitFor(() => supervisorPid(directory), {
      ...LONGEST_WAIT,
      interval: 2,
    });
    await vi.waitFor(
      async () => {
        const [workshop] = (await readdir(directory)).filter((name) => name.startsWith('making-'));
        expect(await readdir(join(directory, `${workshop}`, 'data'))).toContain('PG_VERSION');
      },
      { ...LONGEST_WAIT, interval: 2 },
    );
    process.kill(supervisor, 'SIGKILL');
    for (const pid of await processesWith('initdb', directory)) process.kill(pid, 'SIGKILL');
    stop.abort();
    await expect(starting).rejects.toThrow();
    expect(await readdir(directory)).not.toContain('data');

    const { url } = await startHere(directory);
    expect(await ask(url, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect((await readdir(directory)).filter((name) => name.startsWith('making-'))).toEqual([]);
  });

  test('nothing, by the Ctrl-C of a terminal; and SIGTERM lets the clients leave first', async () => {
    const directory = await temporaryFolder();
    const database = await startHere(directory);
    const { client, ended } = await observe(database.url);
    const supervisor = await supervisorPid(directory);
    for (const signal of ['SIGINT', 'SIGHUP', 'SIGTERM'] as const) process.kill(supervisor, signal);
    expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
    await database.release({ untilStopped: true });
    await ended;
    await untilNoSupervisor(directory);
    expect(await readFile(join(directory, 'postgres.log'), 'utf8')).toMatch(
      /received fast shutdown request[\s\S]*database system is shut down\n$/,
    );
  });
});

describe.runIf(seesProcesses)('the processes', () => {
  test('hold no secret in their arguments or environment, and have a session of their own', async () => {
    const directory = await temporaryFolder();
    const { said } = await startElsewhere(directory, { key: 'the-api-key' });
    const password = new URL(said).password;
    const supervisor = await supervisorPid(directory);
    for (const pid of [supervisor, await postmasterPid(directory)]) {
      const seen =
        (await readFile(`/proc/${pid}/cmdline`, 'utf8')) +
        (await readFile(`/proc/${pid}/environ`, 'utf8'));
      expect(seen).not.toContain(password);
      expect(seen).not.toContain('the-api-key');
    }
    const session = (await readFile(`/proc/${supervisor}/stat`, 'utf8')).split(') ')[1]?.split(' ');
    expect(session?.[3]).toBe(`${supervisor}`);
  });

  test('a postmaster.pid with the number of another program does not keep Postgres from starting', async () => {
    const directory = await temporaryFolder();
    await (await startHere(directory)).release({ untilStopped: true });
    await writeFile(
      join(directory, 'data/postmaster.pid'),
      `${process.pid}\n${directory}/data\n0\n5432\n\n127.0.0.1\n0 0\nready   \n`,
    );
    const { url } = await startHere(directory);
    expect(await ask(url, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  test('do not keep a daywalk alive that forgot to release', async () => {
    const directory = await temporaryFolder();
    const using = await startElsewhere(directory);
    using.child.stdin?.destroy();
    await once(using.child, 'exit');
    await untilNoSupervisor(directory);
  });
});
