/** The embedded Postgres is there as long as anyone uses it, through whatever kills its users, its watcher or itself. */
import { once } from 'node:events';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { startEmbedded } from '../../packages/embedded-postgres/src/index.ts';
import { ask } from '../support/ask.ts';
import { untilMoment } from '../support/condition.ts';
import {
  folderWithData,
  killElsewhere,
  LONGEST_WAIT,
  observe,
  pidsWith,
  postmasterPid,
  putData,
  releaseElsewhere,
  startElsewhere,
  startHere,
  temporaryFolder,
  untilNothingRuns,
  untilWatched,
  watcherPid,
} from './processes.ts';

const seesProcesses = process.platform === 'linux';
const SHUT_DOWN = /database system is shut down\n$/;

const logOf = (directory: string) => readFile(join(directory, 'postgres.log'), 'utf8');

/** What a client sees that takes the URL as psql does. */
const SEEN = `select current_setting('fsync') as fsync, current_setting('timezone') as zone,
                     current_setting('data_checksums') as checksums,
                     (select pg_encoding_to_char(encoding) || ' ' || datlocprovider::text || ' ' || datlocale
                        from pg_database where datname = current_database()) as locale,
                     lower('ÄÉ') as lowered, inet_server_addr() as address, current_user::text as name`;

describe('one process', () => {
  test('asks for no TLS, whatever the environment says of it', async () => {
    const folder = await folderWithData();
    vi.stubEnv('PGSSLNEGOTIATION', 'direct').stubEnv('PGSSLMODE', 'require');
    onTestFinished(() => void vi.unstubAllEnvs());
    const { url } = await startHere(folder);
    vi.unstubAllEnvs();
    expect(await ask(url, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  test('makes a durable UTF-8 cluster, reached by the socket without a password; keeps its data between runs, and its URL', async () => {
    const directory = join(await temporaryFolder(), 'not', 'there', 'yet');
    const first = await startHere(directory);
    expect(first.url).toBe(`postgresql:///daywalk?host=${directory}/data&port=5432&user=daywalk`);
    expect(await ask(first.url, SEEN)).toEqual([
      {
        fsync: 'on',
        zone: 'UTC',
        checksums: 'on',
        locale: 'UTF8 b C.UTF-8',
        lowered: 'äé',
        address: null,
        name: 'daywalk',
      },
    ]);
    await ask(first.url, 'create table kept as select 42 as answer');
    await first.release({ untilStopped: true });
    expect(await readdir(join(directory, 'data'))).not.toContain('postmaster.pid');
    expect(await logOf(directory)).toMatch(SHUT_DOWN);

    const second = await startHere(directory);
    expect(second.url).toBe(first.url);
    expect(await ask(second.url, 'select answer from kept')).toEqual([{ answer: 42 }]);
  });

  test('stops waiting when told, and leaves nothing behind', async () => {
    const directory = await folderWithData();
    const stop = new AbortController();
    const starting = startHere(directory, stop.signal);
    await vi.waitFor(() => stat(join(directory, 'postgres.log')), {
      ...LONGEST_WAIT,
      interval: 5,
    });
    stop.abort(new Error('enough'));
    await expect(starting).rejects.toThrow('enough');
    await expect(startHere(directory, stop.signal)).rejects.toThrow('enough');
    await untilNothingRuns(directory);
  });

  test('that returns while the server is stopping gets a new one', async () => {
    const directory = await folderWithData();
    const database = await startHere(directory);
    await database.release();
    await untilMoment('the server to stop', async () =>
      (await logOf(directory)).includes('fast shutdown'),
    );
    const again = await startHere(directory);
    expect(await ask(again.url, 'select 1 as one')).toEqual([{ one: 1 }]);
  });
});

describe('several processes', () => {
  test('share one server, a person with psql among them, which stops after the last', async () => {
    const directory = await folderWithData();
    const here = await startHere(directory);
    const there = await startElsewhere(directory);
    expect(there.said).toBe(here.url);
    await here.release();
    await here.release();
    expect(await ask(there.said, 'select 1 as one')).toEqual([{ one: 1 }]);
    const { client } = await observe(there.said);
    await releaseElsewhere(there);
    const looks = new Set<number>();
    await vi.waitFor(async () => {
      const watcher = await client.query(
        `select query_start from pg_stat_activity where application_name = 'embedded-postgres'`,
      );
      looks.add(watcher.rows[0].query_start.getTime());
      // More than it takes until an unused server is stopped.
      expect(looks.size).toBeGreaterThan(6);
    }, LONGEST_WAIT);
    await client.end();
    await untilNothingRuns(directory);
  });

  test('may all be the first', async () => {
    const directory = await temporaryFolder();
    const processes = await Promise.all([
      startElsewhere(directory),
      startElsewhere(directory),
      startHere(directory),
    ]);
    expect(new Set(processes.map((one) => ('said' in one ? one.said : one.url))).size).toBe(1);
    // One that found the place taken may not have ended yet.
    if (seesProcesses)
      await vi.waitFor(() => expect(pidsWith('watcher.js', directory)).toHaveLength(1), {
        ...LONGEST_WAIT,
        interval: 100,
      });
    expect((await readdir(directory)).sort()).toEqual([
      '.gitignore',
      'data',
      'lib',
      'pg_hba.conf',
      'pg_ident.conf',
      'postgres.log',
    ]);
  });
});

describe.runIf(seesProcesses)('what is killed', () => {
  test('a program: the server, which has nothing of its environment and a session of its own, stops cleanly', async () => {
    const directory = await folderWithData();
    const killed = await startElsewhere(directory, { key: 'the-api-key' });
    const server = await postmasterPid(directory);
    // Of ours it has none; without this glibc gives back what each page needs again.
    expect(await readFile(`/proc/${server}/environ`, 'utf8')).toContain(
      'MALLOC_TRIM_THRESHOLD_=33554432',
    );
    for (const pid of [watcherPid(directory), server]) {
      const seen =
        (await readFile(`/proc/${pid}/cmdline`, 'utf8')) +
        (await readFile(`/proc/${pid}/environ`, 'utf8'));
      expect(seen).not.toContain('the-api-key');
      const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ');
      expect(fields?.[3]).toBe(`${pid}`);
    }
    const forgetful = await startElsewhere(directory);
    forgetful.child.stdin?.destroy();
    // Nothing keeps a program alive that forgot to release.
    await once(forgetful.child, 'exit');
    await killElsewhere(killed);
    await untilNothingRuns(directory);
    expect(await logOf(directory)).toMatch(SHUT_DOWN);
  });

  test('the watcher and the last program: the next one adopts the server', async () => {
    const directory = await folderWithData();
    const first = await startElsewhere(directory);
    const server = await postmasterPid(directory);
    process.kill(watcherPid(directory), 'SIGKILL');
    await killElsewhere(first);
    const second = await startHere(directory);
    expect(second.url).toBe(first.said);
    expect(await postmasterPid(directory)).toBe(server);
    await second.release({ untilStopped: true });
    await untilNothingRuns(directory);
    expect(await logOf(directory)).toMatch(SHUT_DOWN);
  });

  test('a backend, so that Postgres ends all connections: the watcher and the program return; then Postgres: it comes back under the same URL, with what was committed', async () => {
    const directory = await folderWithData();
    const { url } = await startHere(directory);
    const { client, ended } = await observe(url);
    const [backend] = (await client.query('select pg_backend_pid() as pid')).rows;
    process.kill(backend.pid, 'SIGKILL');
    await ended;
    await untilWatched(url);

    await ask(url, 'create table kept as select 42 as answer');
    const second = await observe(url);
    process.kill(await postmasterPid(directory), 'SIGKILL');
    await second.ended;
    await vi.waitFor(
      async () => expect(await ask(url, 'select answer from kept')).toEqual([{ answer: 42 }]),
      { ...LONGEST_WAIT, interval: 100 },
    );
  });

  test('Postgres, while it cannot be started, as on a full disk: it comes back as soon as it can', async () => {
    // Its path is too long for a socket, which is elsewhere, and stays there.
    const directory = join(await temporaryFolder(), 'long'.repeat(30), '.daywalk');
    await putData(directory);
    const said: string[] = [];
    const log = { warn: (text: string) => void said.push(text) };
    const { url, release } = await startEmbedded({ directory, log });
    onTestFinished(() => void release({ untilStopped: true }));
    const { ended } = await observe(url);
    const settings = join(directory, 'data', 'postgresql.auto.conf');
    const before = await readFile(settings);
    await writeFile(settings, "shared_preload_libraries = 'nowhere'\n");
    process.kill(await postmasterPid(directory), 'SIGKILL');
    await ended;
    await untilMoment('a start in vain', () => said.some((text) => text.includes('stays away')));
    await writeFile(settings, before);
    await vi.waitFor(async () => expect(await ask(url, 'select 1 as one')).toEqual([{ one: 1 }]), {
      ...LONGEST_WAIT,
      interval: 100,
    });
  });

  test('the first start in the middle of initdb: nothing half-made is used', async () => {
    const directory = await temporaryFolder();
    const starting = startElsewhere(directory);
    starting.catch(() => undefined);
    const [first] = await vi.waitFor(
      async () => {
        const [workshop] = (await readdir(directory)).filter((name) => name.startsWith('making-'));
        expect(await readdir(join(directory, `${workshop}`, 'data'))).toContain('PG_VERSION');
        return [Number(workshop?.split('-')[1])];
      },
      { ...LONGEST_WAIT, interval: 2 },
    );
    process.kill(first as number, 'SIGKILL');
    for (const pid of pidsWith('initdb', directory)) process.kill(pid, 'SIGKILL');
    await expect(starting).rejects.toThrow();
    expect(await readdir(directory)).not.toContain('data');

    const { url } = await startHere(directory);
    expect(await ask(url, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect((await readdir(directory)).filter((name) => name.startsWith('making-'))).toEqual([]);
  });

  test('nothing, by the Ctrl-C of a terminal; and SIGTERM lets the users leave first', async () => {
    const directory = await folderWithData();
    const database = await startHere(directory);
    await untilWatched(database.url);
    const watcher = watcherPid(directory);
    for (const signal of ['SIGINT', 'SIGHUP', 'SIGTERM'] as const) process.kill(watcher, signal);
    expect(await ask(database.url, 'select 1 as one')).toEqual([{ one: 1 }]);
    await database.release({ untilStopped: true });
    await untilNothingRuns(directory);
    expect(await logOf(directory)).toMatch(
      /received fast shutdown request[\s\S]*database system is shut down\n$/,
    );
  });
});
