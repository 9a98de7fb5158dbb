/** `daywalk export`: files that hold exactly what the views show, a manifest that can be proven, and runs that go on. */
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { DuckDBInstance } from '@duckdb/node-api';
import { describe, expect, test } from 'vitest';
import type { Manifest } from '../../src/files/manifest.ts';
import { advisoryLock } from '../../src/store/advisory-locks.ts';
import { difference } from '../support/multiset.ts';
import { atNight } from '../support/night.ts';
import { temporaryFolder } from '../support/program.ts';
import { openDatabase } from '../support/store.ts';
import {
  expectSums,
  expectTexts,
  exportTo,
  path,
  RANGE,
  read,
  run,
  SETTINGS,
  stored,
} from './exported-files.ts';

test('ndjson holds the very text of each record, and sums and SQL prove it; days that are not complete are left out and told, and pages that are gone are an error', async () => {
  const scene = await stored();
  const folder = temporaryFolder();
  const ended = await exportTo(scene, folder, ['--format', 'ndjson']);
  expect(ended, ended.stderr).toMatchObject({ code: 0 });
  expect(ended.stdout).toMatch(/^3 days written: [\d,]+ records.* 0 already there; 0 left out\.$/m);
  await expectTexts(scene, folder, 'ndjson');
  expect(await readdir(folder)).toEqual(['SHA256SUMS', 'manifest.json', 'stream=events']);
  const [file] = (await read(folder)).files;
  const [row] = await scene.database.query<{ digest: string }>(
    `select encode(sha256(convert_to(string_agg(record::text || e'\\n', '' order by walk_id, page_no, position), 'UTF8')), 'hex') as digest
       from daywalk.events where stream = $1 and day = $2`,
    [file?.stream, file?.day],
  );
  expect(row?.digest).toBe(file?.recordsSha256);

  // Days that are not complete are left out and told; a file from before stays and is told too.
  await scene.database.query(
    `update daywalk.windows set state = 'failed', last_error = 'a reason', last_failed_at = clock_timestamp()
      where day = '2026-03-02' and kind = 'day'`,
  );
  const asked = ['export', '--out', folder, '--from', '2026-03-01', '--to', '2026-03-06'];
  const partly = await scene.run(asked, SETTINGS);
  expect(partly, partly.stderr).toMatchObject({ code: 3 });
  expect(partly.stdout).toMatch(
    /^not exported: events 2026-03-02 failed: a reason \(a file of an earlier export stays\)$/m,
  );
  expect(partly.stdout).toMatch(/^not exported: events 2026-03-04 to 2026-03-06 missing: /m);
  expect((await read(folder)).incomplete).toMatchObject([
    { day: '2026-03-02', state: 'failed', earlierFile: path('2026-03-02', 'ndjson') },
    { day: '2026-03-04', state: 'missing', earlierFile: null },
    { day: '2026-03-05' },
    { day: '2026-03-06' },
  ]);

  // Pages that are gone are an error, never a shorter file.
  await scene.database.query(
    `update daywalk.windows set state = 'complete', last_error = null where day = '2026-03-02'`,
  );
  await scene.database.query(`delete from daywalk.pages where day = '2026-03-02' and page_no = 2`);
  const other = temporaryFolder();
  const gone = await exportTo(scene, other);
  expect(gone).toMatchObject({ code: 1 });
  expect(gone.stderr).toMatch(
    /events 2026-03-02: its walks count \d+ records, and its pages hold \d+/,
  );
  expect((await read(other)).files.map(({ day }) => day)).toEqual(['2026-03-01']);
});

test('parquet: DuckDB reads what Postgres holds, 64-bit integers too', async () => {
  const scene = await stored();
  const folder = temporaryFolder();
  const ended = await exportTo(scene, folder, ['--format', 'parquet']);
  expect(ended, ended.stderr).toMatchObject({ code: 0 });
  const duck = await (await DuckDBInstance.create(':memory:')).connect();
  const ask = async (query: string) =>
    (
      await duck.runAndReadAll(query.replace('FILES', `'${folder}/stream=*/day=*/*.parquet'`))
    ).getRowObjects();
  const rows = await ask(
    `select record::varchar as text, walk_id::varchar as walk, page_no, position::integer as position, stream, day::varchar as day from read_parquet(FILES)`,
  );
  const held = await scene.database.query<{ line: string }>(
    `select concat_ws('|', stream, day, walk_id, page_no, position, record::text) as line from daywalk.events`,
  );
  const lines = rows.map(({ stream, day, walk, page_no, position, text }) =>
    [stream, day, walk, page_no, position, text].join('|'),
  );
  const wantedLines = held.map(({ line }) => line);
  expect(difference(lines, wantedLines)).toEqual([]);
  expect(difference(wantedLines, lines)).toEqual([]);
  const types = await ask('describe select * from read_parquet(FILES, hive_partitioning = false)');
  expect(types.map(({ column_name, column_type }) => `${column_name} ${column_type}`)).toEqual([
    'stream VARCHAR',
    'day DATE',
    'record JSON',
    'walk_id BIGINT',
    'page_no INTEGER',
    'position BIGINT',
    'fetched_at TIMESTAMP WITH TIME ZONE',
    'first_seen TIMESTAMP WITH TIME ZONE',
    'gone_since TIMESTAMP WITH TIME ZONE',
    'revision INTEGER',
  ]);
  const ids = await ask(
    `select json_extract(record, '$._source.id')::varchar as id from read_parquet(FILES) where day = date '2026-03-02'`,
  );
  const wanted = await scene.database.query<{ id: string }>(
    `select record #>> '{_source,id}' as id from daywalk.events where day = '2026-03-02'`,
  );
  expect(ids.map(({ id }) => id).sort()).toEqual(wanted.map(({ id }) => id).sort());
  expect(Number(wanted[0]?.id)).toBeGreaterThan(Number.MAX_SAFE_INTEGER);
});

describe('a second run', () => {
  atNight('skips what is there, writes what was lost, damaged or changed since', async () => {
    const scene = await stored();
    const folder = temporaryFolder();
    await exportTo(scene, folder);
    await expectTexts(scene, folder, 'ndjson.gz');
    const at = (day: string) => join(folder, path(day, 'ndjson.gz'));
    const files = () => Promise.all(['2026-03-01', '2026-03-02'].map((day) => stat(at(day))));
    const before = await files();
    await rm(at('2026-03-03'));
    const damaged = await readFile(at('2026-03-01'));
    damaged[50] = (damaged[50] ?? 0) ^ 1;
    await writeFile(at('2026-03-01'), damaged);
    const second = await exportTo(scene, folder);
    expect(second.stdout).toMatch(/^1 day written.* 2 already there/m);
    expect((await files()).map(({ ino }) => ino)).toEqual(before.map(({ ino }) => ino));
    expect((await exportTo(scene, folder, ['--check-files'])).stdout).toMatch(
      /^1 day written.* 2 already/m,
    );

    scene.api.insert(['{"timestamp": "2026-03-02T12:00:00Z", "late": true}']);
    const again = ['backfill', '--from', '2026-03-02', '--to', '2026-03-02', '--only', 'all'];
    await scene.succeed(again, SETTINGS);
    expect((await exportTo(scene, folder)).stdout).toMatch(/^1 day written.* 2 already there/m);
    await expectSums(folder);
  });

  test('goes on where a killed one was: no half file has a name', async () => {
    const scene = await stored();
    const folder = temporaryFolder();
    const program = scene.start(
      ['export', '--out', folder, ...RANGE, '--format', 'ndjson'],
      SETTINGS,
    );
    while (program.running() && !existsSync(join(folder, path('2026-03-01', 'ndjson'))))
      await pause(1);
    program.kill('SIGKILL');
    await program.ended;
    const ended = await exportTo(scene, folder, ['--format', 'ndjson']);
    expect(ended, ended.stderr).toMatchObject({ code: 0 });
    expect((await read(folder)).files).toHaveLength(3);
    await expectSums(folder);
    const left = await readdir(folder, { recursive: true });
    expect(left.filter((name) => /half|lock/.test(name))).toEqual([]);
  });

  test('a folder that another export writes is left alone', async () => {
    const folder = temporaryFolder();
    const scene = await stored();
    const database = openDatabase(scene.database.url);
    const ended = await database.alone(advisoryLock('daywalk.export', folder), () =>
      exportTo(scene, folder),
    );
    expect(ended).toMatchObject({ code: 2 });
    expect(ended?.stderr).toContain(`${folder} is being written by another export`);
    expect(await exportTo(scene, folder)).toMatchObject({ code: 0 });
  });
});

describe('what is wrong with the folder', () => {
  test('links and a manifest that somebody planted are replaced or refused, and nothing elsewhere is touched', async () => {
    const [folder, elsewhere] = [temporaryFolder(), temporaryFolder()];
    const victim = join(elsewhere, 'id_ed25519');
    await writeFile(victim, 'a private key');
    const day = join(folder, 'stream=events/day=2026-03-01');
    await mkdir(day, { recursive: true });
    for (const name of ['.manifest.json.half', '.SHA256SUMS.half', 'SHA256SUMS'])
      await symlink(victim, join(folder, name));
    for (const name of ['.records.ndjson.gz.half', 'records.ndjson.gz'])
      await symlink(victim, join(day, name));
    const scene = await stored();
    const ended = await exportTo(scene, folder, ['--check-files']);
    expect(ended, ended.stderr).toMatchObject({ code: 0 });
    await expectSums(folder);

    // A manifest that names a file elsewhere is none.
    const manifest = await readFile(join(folder, 'manifest.json'), 'utf8');
    const { files, ...rest }: Manifest = JSON.parse(manifest);
    const planted = files.map((file) => ({ ...file, path: '../../../etc/passwd' }));
    await writeFile(join(folder, 'manifest.json'), JSON.stringify({ ...rest, files: planted }));
    expect(await exportTo(scene, folder, ['--check-files'])).toMatchObject({ code: 2 });
    expect(await readFile(join(folder, 'SHA256SUMS'), 'utf8')).not.toContain('passwd');
    await writeFile(join(folder, 'manifest.json'), manifest);

    await rm(join(folder, 'stream=events'), { recursive: true });
    await symlink(elsewhere, join(folder, 'stream=events'));
    expect(await exportTo(scene, folder, ['--check-files'])).toMatchObject({ code: 2 });
    expect(await readFile(victim, 'utf8')).toBe('a private key');
    expect(await readdir(elsewhere)).toEqual(['id_ed25519']);
  });

  test('a full disk: told with what to do, and nothing half is left; with room it goes on', async ({
    skip,
  }) => {
    const scene = await stored();
    const folder = temporaryFolder();
    // A file system of our own, with less room than the files take, in a mount namespace that ends with the program.
    const inSmall = (size: string, then: string) =>
      run(
        'unshare',
        ['--mount', 'sh', '-c', `mount -t tmpfs -o size=${size} tmpfs "$0" && ${then}`, folder],
        {
          env: { ...process.env, ...scene.environment, ...SETTINGS },
        },
      ).catch((error) => error as { code: number; stdout: string; stderr: string });
    const probe = await inSmall('64k', 'true');
    skip('code' in probe, 'this account may not mount');
    const main = join(process.cwd(), 'dist/main.js');
    const daywalk = `"${process.execPath}" "${main}" export --out "$0" --format ndjson ${RANGE.join(' ')}`;
    const ended = await inSmall(
      '150k',
      `{ ${daywalk}; echo "code $?"; find "$0" -name '.*half'; mount -o remount,size=9m "$0"; ${daywalk}; }`,
    );
    expect(ended.stderr).toMatch(
      /no space is left for .*records\.ndjson[\s\S]*Make room, then run the same command again/,
    );
    expect(ended.stdout).toMatch(/^code 2$/m);
    expect(ended.stdout).not.toMatch(/half/);
    expect(ended.stdout).toMatch(/^[1-3] days? written: .* 0 left out\.$/m);
  });
});
