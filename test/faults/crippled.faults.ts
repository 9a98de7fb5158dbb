/** Postgres is there but will not write: full disk, no free connection, read-only, time-outs, a line that is silent (I1, I4). */
import { execFileSync } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { expect, onTestFinished } from 'vitest';
import { audit } from '../support/audit.ts';
import { CLUSTER, databaseIn, startCluster } from '../support/cluster.ts';
import { untilMoment } from '../support/condition.ts';
import { expectExact } from '../support/multiset.ts';
import { type Scene, setScene } from '../support/scene.ts';
import { plainUser, testWith } from '../support/tool.ts';

const DAYS = { from: '2026-03-01', to: '2026-03-04' };
const BACKFILL = ['backfill', '--from', DAYS.from, '--to', DAYS.to];
const PATIENT = { DAYWALK_DATABASE_PATIENCE: '60s' };

const pages = async ({ database }: Scene): Promise<number> =>
  (await database.query<{ n: number }>('select count(*)::int as n from daywalk.pages'))[0]?.n ?? 0;

/** A folder with room for `megabytes`, or undefined where this process may not mount one. */
function smallDisk(megabytes: number): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'daywalk-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'none', folder], {
      stdio: 'ignore',
    });
  } catch {
    rmSync(folder, { recursive: true });
    return undefined;
  }
  onTestFinished(() => {
    execFileSync('umount', ['--lazy', folder]);
    rmSync(folder, { recursive: true });
  });
  const user = plainUser();
  if (user !== undefined) chownSync(folder, user.uid, user.gid);
  return folder;
}

/** Writes somebody else's file until the disk is full, and leaves so many bytes. */
function fill(file: string, left: number): void {
  try {
    writeFileSync(file, Buffer.alloc(64_000_000));
  } catch {
    // What fitted is there.
  }
  truncateSync(file, statSync(file).size - left);
}

testWith(
  ['mount', ...CLUSTER],
  'the disk fills up in mid-run (53100): waits, and goes on when there is room again (D11)',
  async ({ skip }) => {
    const disk = smallDisk(32);
    if (disk === undefined) return skip('this user may not mount a small disk');
    const cluster = await startCluster();
    const database = await databaseIn(cluster);
    await cluster.ask(`create tablespace small location '${disk}'`);
    await database.query(`select daywalk.ensure_partition('2026-03-01')`);
    await database.query('alter table daywalk.pages_2026_03 set tablespace small');
    fill(join(disk, 'other'), 300_000);
    const scene = await setScene({}, database);
    const program = scene.start(BACKFILL, PATIENT);
    await program.saying(/could not extend file .*\(53100\)/);
    const stored = await pages(scene);
    rmSync(join(disk, 'other'));
    const ended = await program.ended;
    expect(ended, ended.stderr).toMatchObject({ code: 0 });
    expect(await pages(scene)).toBeGreaterThan(stored);
    await expectExact(scene, DAYS);
    expect(await audit(database)).toEqual([]);
    await cluster.stop('fast');
  },
);

testWith(CLUSTER, 'no free connection (53300): waits for one, and goes on (D10)', async () => {
  const cluster = await startCluster({
    max_connections: '12',
    superuser_reserved_connections: '0',
  });
  const scene = await setScene({}, await databaseIn(cluster));
  // The test's own session, to look with afterwards.
  await pages(scene);
  const others: pg.Client[] = [];
  for (;;) {
    const client = new pg.Client({ connectionString: cluster.url('daywalk') });
    client.on('error', () => undefined);
    const taken = await client.connect().then(
      () => true,
      () => false,
    );
    if (!taken) break;
    others.push(client);
  }
  const program = scene.start(BACKFILL, PATIENT);
  await program.saying(/too many clients already/);
  for (const client of others) await client.end();
  const ended = await program.ended;
  expect(ended, ended.stderr).toMatchObject({ code: 0 });
  await expectExact(scene, DAYS);
  expect(await audit(scene.database)).toEqual([]);
  await cluster.stop('fast');
});

testWith(
  CLUSTER,
  'the server becomes read-only (25006), and writable again: goes on (D09)',
  async () => {
    const cluster = await startCluster();
    const scene = await setScene({ latency: 10 }, await databaseIn(cluster));
    const program = scene.start(BACKFILL, PATIENT);
    await untilMoment('some pages', async () => (await pages(scene)) >= 8);
    await cluster.ask('alter system set default_transaction_read_only = on');
    await cluster.ask('select pg_reload_conf()');
    await program.saying(/read-only transaction \(25006\)/);
    // As the manual says: a session may lift it for itself, and the setting is a file.
    await cluster.ask('alter system reset default_transaction_read_only');
    await cluster.ask('select pg_reload_conf()');
    const ended = await program.ended;
    expect(ended, ended.stderr).toMatchObject({ code: 0 });
    await expectExact(scene, DAYS);
    expect(await audit(scene.database)).toEqual([]);
    await cluster.stop('fast');
  },
);

testWith(
  CLUSTER,
  'a server process dies of one page each time, and all others with it: shorter pages are asked for',
  async () => {
    const cluster = await startCluster();
    const database = await databaseIn(cluster);
    await database.query(
      `create function die() returns trigger language plpgsql as $do$
       begin
         if new.day = '2026-03-02' and new.records > 10 then
           execute format('copy (select 1) to program %L', 'kill -9 ' || pg_backend_pid());
         end if;
         return new;
       end $do$;
       create trigger die before insert on daywalk.pages for each row execute function die()`,
    );
    const scene = await setScene({ eventsPerDay: 60 }, database);
    const ended = await scene.run(BACKFILL, PATIENT);
    expect(ended, ended.stderr).toMatchObject({ code: 0 });
    await expectExact(scene, DAYS);
    expect(await audit(database)).toEqual([]);
    await cluster.stop('fast');
  },
);
