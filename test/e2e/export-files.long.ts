/** More folders for `daywalk export` than e2e/export-files.test.ts: of other formats, spoilt, full, and of days that are as they were. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../support/program.ts';
import { exportTo, RANGE, read, SETTINGS, stored } from './exported-files.ts';

test('a folder remembers its format, and takes no other', async () => {
  const scene = await stored();
  const folder = temporaryFolder();
  await exportTo(scene, folder, ['--format', 'ndjson']);
  const mixed = await exportTo(scene, folder, ['--format', 'ndjson.gz']);
  expect(mixed).toMatchObject({ code: 2, stdout: '' });
  expect(mixed.stderr).toMatch(/has files of ndjson, and takes no other format/);
  const again = await exportTo(scene, folder);
  expect(again.stdout).toMatch(/ 3 already there/);
  expect((await read(folder)).files.map(({ format }) => format)).toEqual([
    'ndjson',
    'ndjson',
    'ndjson',
  ]);
});

test('a day that is walked again and found as it is stored is the same', async () => {
  const scene = await stored();
  const folder = temporaryFolder();
  await exportTo(scene, folder);
  const again = ['backfill', '--from', '2026-03-02', '--to', '2026-03-02', '--only', 'all'];
  await scene.succeed(again, SETTINGS);
  expect((await exportTo(scene, folder)).stdout).toMatch(/^0 days written.* 3 already there/m);
});

test('a day that was left out and is complete again is told no more', async () => {
  const scene = await stored();
  const folder = temporaryFolder();
  await exportTo(scene, folder);
  await scene.database.query(
    `update daywalk.windows set state = 'failed', last_error = 'a reason', last_failed_at = clock_timestamp()
      where day = '2026-03-02' and kind = 'day'`,
  );
  const asked = ['export', '--out', folder, '--from', '2026-03-01', '--to', '2026-03-06'];
  expect(await scene.run(asked, SETTINGS)).toMatchObject({ code: 3 });
  await scene.database.query(
    `update daywalk.windows set state = 'complete', last_error = null where day = '2026-03-02'`,
  );
  expect(await exportTo(scene, folder)).toMatchObject({ code: 0 });
  expect((await read(folder)).incomplete.map(({ day }) => day)).toEqual([
    '2026-03-04',
    '2026-03-05',
    '2026-03-06',
  ]);
});

test('a file in its place', async () => {
  const scene = await stored();
  const file = join(temporaryFolder(), 'a-file');
  await writeFile(file, '');
  const ended = await exportTo(scene, file);
  expect(ended).toMatchObject({ code: 2 });
  expect(ended.stderr).toMatch(
    /a file or a link stands where a folder is needed[\s\S]*another folder/,
  );
});

test('a manifest that is none', async () => {
  const scene = await stored();
  const folder = temporaryFolder();
  await writeFile(join(folder, 'manifest.json'), '{"manifest": 99}');
  const ended = await exportTo(scene, folder);
  expect(ended).toMatchObject({ code: 2 });
  expect(ended.stderr).toMatch(/manifest\.json is not a manifest that this version/);
});

test('no room at the start: nothing is in the folder that the next export could not go on with', async () => {
  const scene = await stored();
  const folder = temporaryFolder();
  const full = ['sh', '-c', 'ulimit -f 0; exec "$@"', 'sh'];
  const ended = await scene.start(['export', '--out', folder, ...RANGE], SETTINGS, full).ended;
  expect(ended).toMatchObject({ code: 2 });
  expect(ended.stderr).toMatch(/no space is left for .*\n.*Make room/);
  expect(await exportTo(scene, folder, ['--format', 'ndjson'])).toMatchObject({ code: 0 });
});
