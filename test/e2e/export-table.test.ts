/** `daywalk export --table`: by a person at the command line, killed and run again, and told what is wrong. */
import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { beforeAll, expect, test } from 'vitest';
import type { Manifest } from '../../src/files/manifest.ts';
import { backfillHere } from '../support/backfill-here.ts';
import { temporaryFolder } from '../support/program.ts';
import { type Scene, setScene } from '../support/scene.ts';

const RANGE = ['--from', '2026-03-01', '--to', '2026-03-03'];
const config = join(temporaryFolder(), 'daywalk.yaml');
const SETTINGS = { DAYWALK_CONFIG: config, DAYWALK_STREAMS: 'events' };
const DEFINED = `tables:
  alerts:
    stream: events
    columns:
      at: { path: timestamp, type: timestamptz }
      id: { path: id, type: numeric }
      number: { path: id, type: bigint }
      agent: { path: agent.name }
      score: { path: data.score, type: numeric }
`;

let scene: Scene;
beforeAll(async () => {
  scene = await setScene({ seed: 'export-table', eventsPerDay: 400 });
  await writeFile(config, DEFINED);
  await backfillHere(scene, { from: '2026-03-01', to: '2026-03-03' }, { environment: SETTINGS });
});

const exporting = (folder: string, ...more: readonly string[]) => [
  ...['export', '--table', 'alerts', '--out', folder, ...RANGE, ...more],
];

test('a killed export is taken up, and DuckDB reads what Postgres holds, every digit of it', async () => {
  const folder = temporaryFolder();
  const program = scene.start(exporting(folder), SETTINGS);
  while (program.running() && !existsSync(join(folder, 'alerts/day=2026-03-01/records.parquet')))
    await new Promise((resolve) => setImmediate(resolve));
  program.kill('SIGKILL');
  await program.ended;
  const { stdout } = await scene.succeed(exporting(folder), SETTINGS);
  expect(stdout).toMatch(/^[1-3] days? written: [\d,]+ records.* 0 left out\.$/m);
  const left = await readdir(folder, { recursive: true });
  expect(left.filter((name) => /half|lock/.test(name))).toEqual([]);
  expect((await scene.succeedHere(exporting(folder), SETTINGS)).stdout).toMatch(
    / 3 already there; 0/,
  );

  const duck = await (await DuckDBInstance.create(':memory:')).connect();
  const files = `read_parquet('${folder}/alerts/day=*/*.parquet')`;
  const found = await duck.runAndReadAll(
    `select concat_ws('|', day, epoch_us("at"), id, number, agent, score, walk_id, page_no, place) as line
       from ${files} order by walk_id, page_no, place`,
  );
  const held = await scene.database.query<{ line: string }>(
    `select concat_ws('|', day, (extract(epoch from at) * 1000000)::bigint, id, number, agent, score, walk_id, page_no, place) as line
       from daywalk.alerts order by walk_id, page_no, place`,
  );
  expect(held.length).toBeGreaterThan(1_000);
  expect(found.getRowObjects().map(({ line }) => line)).toEqual(held.map(({ line }) => line));
  expect(held.some(({ line }) => /\|9\d{18}\|9\d{18}\|/.test(line))).toBe(true);
  expect(held.some(({ line }) => /\|\d\.\d0\|/.test(line))).toBe(true);
});

test('as JSON lines the rows are what Postgres writes', async () => {
  const folder = temporaryFolder();
  await scene.succeedHere(exporting(folder, '--format', 'ndjson'), SETTINGS);
  const text = await readFile(join(folder, 'alerts/day=2026-03-02/records.ndjson'), 'utf8');
  expect(text.split('\n')[0]).toMatch(
    /^\{"day":"2026-03-02","at":"2026-03-02T[0-9:.]+\+00:00","id":\d{18,19},"number":\d{18,19},"agent":".*","score":\d+\.\d+,"walk_id":\d+,/,
  );
});

test('a table that is behind is exit code 3, and told', async () => {
  const folder = temporaryFolder();
  await scene.database.query('update daywalk.table_days set publication = gen_random_uuid()');
  const ended = await scene.here(exporting(folder), SETTINGS);
  expect(ended, ended.stderr).toMatchObject({ code: 3 });
  expect(ended.stdout).toMatch(
    /^not exported: events 2026-03-01 to 2026-03-03 behind: daywalk\.alerts is not in step: the next run takes it in, or daywalk tables --apply$/m,
  );
  const { incomplete } = JSON.parse(
    await readFile(join(folder, 'manifest.json'), 'utf8'),
  ) as Manifest;
  expect(incomplete).toHaveLength(3);
  await scene.succeedHere(['tables', '--apply'], SETTINGS);
  await scene.succeedHere(exporting(folder), SETTINGS);
});

test.each([
  [['--table', 'alert'], /flag --table: there is no record table "alert"[\s\S]*There are alerts\./],
  [
    ['--table', 'alerts', '--stream', 'events'],
    /--table <name>' cannot be used with option '--stream/,
  ],
])('%j is refused', async (args, said) => {
  const ended = await scene.here(['export', '--out', temporaryFolder(), ...args], SETTINGS);
  expect(ended).toMatchObject({ code: 2, stdout: '' });
  expect(ended.stderr).toMatch(said);
});
