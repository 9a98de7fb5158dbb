/** `daywalk export`: files that hold exactly what the views show, a manifest that can be proven, and runs that go on. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { DuckDBInstance } from '@duckdb/node-api';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Manifest } from '../../src/files/manifest.ts';
import { difference, recordTexts } from '../support/multiset.ts';
import { temporaryFolder } from '../support/program.ts';
import { type Scene, setScene } from '../support/scene.ts';

const run = promisify(execFile);
const RANGE = ['--from', '2026-03-01', '--to', '2026-03-03'];
const SETTINGS = { DAYWALK_STREAMS: 'events' };

const read = async (folder: string) =>
  JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')) as Manifest;
const path = (day: string, format: string) => `stream=events/day=${day}/records.${format}`;
const linesOf = (text: string) => text.split('\n').slice(0, -1);

let scene: Scene;

beforeAll(async () => {
  scene = await setScene({ envelope: 'hits', eventsPerDay: 400 });
  await scene.succeed(['backfill', ...RANGE], SETTINGS);
});

const exportTo = (folder: string, args: readonly string[] = []) =>
  scene.run(['export', '--out', folder, ...RANGE, ...args], SETTINGS);

describe('ndjson', () => {
  test.each(['ndjson', 'ndjson.gz'])(
    '%s holds the very text of each record, and sums prove it',
    async (format) => {
      const folder = temporaryFolder();
      const ended = await exportTo(folder, ['--format', format]);
      expect(ended, ended.stderr).toMatchObject({ code: 0 });
      expect(ended.stdout).toMatch(
        /^3 days written: [\d,]+ records.* 0 already there; 0 left out\.$/m,
      );
      const manifest = await read(folder);
      expect(manifest.incomplete).toEqual([]);
      for (const file of manifest.files) {
        const bytes = await readFile(join(folder, file.path));
        const text = (format === 'ndjson' ? bytes : gunzipSync(bytes)).toString();
        const wanted = await recordTexts(scene.database, 'events', file.day);
        expect(difference(linesOf(text), wanted)).toEqual([]);
        expect(difference(wanted, linesOf(text))).toEqual([]);
        expect(file).toMatchObject({
          path: path(file.day, format),
          records: wanted.length,
          bytes: bytes.length,
          recordsSha256: createHash('sha256').update(text).digest('hex'),
          proof: expect.stringMatching(/total|probe|halves/),
          ledger: { entry: expect.any(Number), digest: expect.stringMatching(/^[0-9a-f]{64}$/) },
        });
        // Integers past 2^53 and trailing zeros are there digit by digit.
        expect(text).toMatch(/"id": 9\d{18}\b/);
        expect(text).toMatch(/"score": \d\.\d0\b/);
      }
      expect(manifest.files).toHaveLength(3);
      await run('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: folder });
      expect(await readdir(folder)).toEqual(['SHA256SUMS', 'manifest.json', 'stream=events']);
    },
  );

  test('a folder remembers its format, and takes no other', async () => {
    const folder = temporaryFolder();
    await exportTo(folder, ['--format', 'ndjson']);
    const mixed = await exportTo(folder, ['--format', 'ndjson.gz']);
    expect(mixed).toMatchObject({ code: 2, stdout: '' });
    expect(mixed.stderr).toMatch(/has files of ndjson, and takes no other format/);
    const again = await exportTo(folder);
    expect(again.stdout).toMatch(/ 3 already there/);
    expect((await read(folder)).files.map(({ format }) => format)).toEqual([
      'ndjson',
      'ndjson',
      'ndjson',
    ]);
  });

  test('the digest of the records can be recomputed with SQL', async () => {
    const folder = temporaryFolder();
    await exportTo(folder, ['--format', 'ndjson']);
    const [file] = (await read(folder)).files;
    const [row] = await scene.database.query<{ digest: string }>(
      `select encode(sha256(convert_to(string_agg(record::text || e'\\n', '' order by walk_id, page_no, position), 'UTF8')), 'hex') as digest
         from daywalk.events where stream = $1 and day = $2`,
      [file?.stream, file?.day],
    );
    expect(row?.digest).toBe(file?.recordsSha256);
  });
});

test('parquet: DuckDB reads what Postgres holds, 64-bit integers too', async () => {
  const folder = temporaryFolder();
  const ended = await exportTo(folder, ['--format', 'parquet']);
  expect(ended, ended.stderr).toMatchObject({ code: 0 });
  const duck = await (await DuckDBInstance.create(':memory:')).connect();
  const ask = async (query: string) =>
    (
      await duck.runAndReadAll(query.replace('FILES', `'${folder}/stream=*/day=*/*.parquet'`))
    ).getRowObjects();
  const rows = await ask(
    `select record::varchar as text, walk_id::varchar as walk, page_no, position::integer as position, stream, day::varchar as day from read_parquet(FILES)`,
  );
  const stored = await scene.database.query<{ line: string }>(
    `select concat_ws('|', stream, day, walk_id, page_no, position, record::text) as line from daywalk.events`,
  );
  const lines = rows.map(({ stream, day, walk, page_no, position, text }) =>
    [stream, day, walk, page_no, position, text].join('|'),
  );
  const wantedLines = stored.map(({ line }) => line);
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
  test('skips what is there, writes what was lost, damaged or changed since', async () => {
    const scene = await setScene();
    await scene.succeed(['backfill', ...RANGE], SETTINGS);
    const folder = temporaryFolder();
    const exportTo = (folder: string, args: readonly string[] = []) =>
      scene.run(['export', '--out', folder, ...RANGE, ...args], SETTINGS);
    await exportTo(folder);
    const at = (day: string) => join(folder, path(day, 'ndjson.gz'));
    const before = await Promise.all(['2026-03-01', '2026-03-02'].map((day) => stat(at(day))));
    await rm(at('2026-03-03'));
    const second = await exportTo(folder);
    expect(second.stdout).toMatch(/^1 day written.* 2 already there/m);
    const after = await Promise.all(['2026-03-01', '2026-03-02'].map((day) => stat(at(day))));
    expect(after.map(({ ino }) => ino)).toEqual(before.map(({ ino }) => ino));

    const damaged = await readFile(at('2026-03-01'));
    damaged[50] = (damaged[50] ?? 0) ^ 1;
    await writeFile(at('2026-03-01'), damaged);
    expect((await exportTo(folder)).stdout).toMatch(/^0 days written.* 3 already there/m);
    expect((await exportTo(folder, ['--check-files'])).stdout).toMatch(
      /^1 day written.* 2 already/m,
    );

    // Walked again and found as it is stored, the day is the same; with a record that came late it is not.
    const again = ['backfill', '--from', '2026-03-02', '--to', '2026-03-02', '--only', 'all'];
    await scene.succeed(again, SETTINGS);
    expect((await exportTo(folder)).stdout).toMatch(/^0 days written.* 3 already there/m);
    scene.api.insert(['{"timestamp": "2026-03-02T12:00:00Z", "late": true}']);
    await scene.succeed(again, SETTINGS);
    expect((await exportTo(folder)).stdout).toMatch(/^1 day written.* 2 already there/m);
    await run('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: folder });
  });

  test('goes on where a killed one was: no half file has a name', async () => {
    const folder = temporaryFolder();
    const program = scene.start(
      ['export', '--out', folder, ...RANGE, '--format', 'ndjson'],
      SETTINGS,
    );
    while (program.running() && !existsSync(join(folder, path('2026-03-01', 'ndjson'))))
      await new Promise((resolve) => setImmediate(resolve));
    program.kill('SIGKILL');
    await program.ended;
    const ended = await exportTo(folder, ['--format', 'ndjson']);
    expect(ended, ended.stderr).toMatchObject({ code: 0 });
    expect((await read(folder)).files).toHaveLength(3);
    await run('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: folder });
    const left = await readdir(folder, { recursive: true });
    expect(left.filter((name) => /half|lock/.test(name))).toEqual([]);
  });

  test('a folder that another export writes is left alone', async () => {
    const folder = temporaryFolder();
    await writeFile(join(folder, '.daywalk-export.lock'), 'another-host 17\n');
    const ended = await exportTo(folder);
    expect(ended).toMatchObject({ code: 2 });
    expect(ended.stderr).toMatch(/being written by another export \(another-host 17\)/);
  });
});

describe('days that are not complete', () => {
  test('are left out and told, with exit code 3; a file from before stays and is told too', async () => {
    const folder = temporaryFolder();
    await exportTo(folder);
    await scene.database.query(
      `update daywalk.windows set state = 'failed', last_error = 'a reason', last_failed_at = clock_timestamp()
        where day = '2026-03-02' and kind = 'day'`,
    );
    const asked = ['export', '--out', folder, '--from', '2026-03-01', '--to', '2026-03-06'];
    const ended = await scene.run(asked, SETTINGS);
    await scene.database.query(
      `update daywalk.windows set state = 'complete', last_error = null where day = '2026-03-02'`,
    );
    expect(ended, ended.stderr).toMatchObject({ code: 3 });
    expect(ended.stdout).toMatch(
      /^not exported: events 2026-03-02 failed: a reason \(a file of an earlier export stays\)$/m,
    );
    expect(ended.stdout).toMatch(/^not exported: events 2026-03-04 to 2026-03-06 missing: /m);
    expect((await read(folder)).incomplete).toMatchObject([
      { day: '2026-03-02', state: 'failed', earlierFile: path('2026-03-02', 'ndjson.gz') },
      { day: '2026-03-04', state: 'missing', earlierFile: null },
      { day: '2026-03-05' },
      { day: '2026-03-06' },
    ]);
    const again = await exportTo(folder);
    expect(again).toMatchObject({ code: 0 });
    expect((await read(folder)).incomplete.map(({ day }) => day)).toEqual([
      '2026-03-04',
      '2026-03-05',
      '2026-03-06',
    ]);
  });

  test('pages that are gone are an error, never a shorter file', async () => {
    const other = await setScene();
    await other.succeed(['backfill', ...RANGE], SETTINGS);
    await other.database.query(
      `delete from daywalk.pages where day = '2026-03-02' and page_no = 2`,
    );
    const folder = temporaryFolder();
    const ended = await other.run(['export', '--out', folder, ...RANGE], SETTINGS);
    expect(ended).toMatchObject({ code: 1 });
    expect(ended.stderr).toMatch(
      /events 2026-03-02: its walks count \d+ records, and its pages hold \d+/,
    );
    expect((await read(folder)).files.map(({ day }) => day)).toEqual(['2026-03-01']);
  });
});

describe('what is wrong with the folder', () => {
  test('links that somebody planted are replaced or refused, and nothing elsewhere is touched', async () => {
    const [folder, elsewhere] = [temporaryFolder(), temporaryFolder()];
    const victim = join(elsewhere, 'id_ed25519');
    await writeFile(victim, 'a private key');
    const day = join(folder, 'stream=events/day=2026-03-01');
    await mkdir(day, { recursive: true });
    for (const name of ['.manifest.json.half', '.SHA256SUMS.half', 'SHA256SUMS'])
      await symlink(victim, join(folder, name));
    for (const name of ['.records.ndjson.gz.half', 'records.ndjson.gz'])
      await symlink(victim, join(day, name));
    const ended = await exportTo(folder, ['--check-files']);
    expect(ended, ended.stderr).toMatchObject({ code: 0 });
    await run('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: folder });
    await rm(join(folder, 'stream=events'), { recursive: true });
    await symlink(elsewhere, join(folder, 'stream=events'));
    expect(await exportTo(folder, ['--check-files'])).toMatchObject({ code: 2 });
    expect(await readFile(victim, 'utf8')).toBe('a private key');
    expect(await readdir(elsewhere)).toEqual(['id_ed25519']);
  });

  test('a planted manifest that names a file elsewhere is none', async () => {
    const folder = temporaryFolder();
    await exportTo(folder);
    const manifest = await read(folder);
    const files = manifest.files.map((file) => ({ ...file, path: '../../../etc/passwd' }));
    await writeFile(join(folder, 'manifest.json'), JSON.stringify({ ...manifest, files }));
    expect(await exportTo(folder, ['--check-files'])).toMatchObject({ code: 2 });
    expect(await readFile(join(folder, 'SHA256SUMS'), 'utf8')).not.toContain('passwd');
  });

  test('a file in its place', async () => {
    const file = join(temporaryFolder(), 'a-file');
    await writeFile(file, '');
    const ended = await exportTo(file);
    expect(ended).toMatchObject({ code: 2 });
    expect(ended.stderr).toMatch(
      /a file or a link stands where a folder is needed[\s\S]*another folder/,
    );
  });

  test('a manifest that is none', async () => {
    const folder = temporaryFolder();
    await writeFile(join(folder, 'manifest.json'), '{"manifest": 99}');
    const ended = await exportTo(folder);
    expect(ended).toMatchObject({ code: 2 });
    expect(ended.stderr).toMatch(/manifest\.json is not a manifest that this version/);
  });

  test('no room for the lock at the start: the next export finds none', async () => {
    const folder = temporaryFolder();
    const full = ['sh', '-c', 'ulimit -f 0; exec "$@"', 'sh'];
    const ended = await scene.start(['export', '--out', folder, ...RANGE], SETTINGS, full).ended;
    expect(ended).toMatchObject({ code: 2 });
    expect(ended.stderr).toMatch(/no space is left for .*\n.*Make room/);
    expect(await readdir(folder)).toEqual([]);
    expect(await exportTo(folder, ['--format', 'ndjson'])).toMatchObject({ code: 0 });
  });

  test('a full disk: told with what to do, and nothing half is left; with room it goes on', async ({
    skip,
  }) => {
    const folder = temporaryFolder();
    // A file system of 160 kB of our own, in a mount namespace that ends with the program.
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
      '400k',
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
