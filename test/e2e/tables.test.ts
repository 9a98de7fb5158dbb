/** `daywalk tables`: made by a run or a person, kept in step by every run, told by status, and suggested from what is stored. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type Ended, temporaryFolder } from '../support/program.ts';
import { type Scene, setScene } from '../support/scene.ts';
import { expectRefused } from './wrong-tables.ts';

const RANGE = ['--from', '2026-03-01', '--to', '2026-03-02'];
const folder = temporaryFolder();
const config = join(folder, 'daywalk.yaml');
const settings = { DAYWALK_CONFIG: config };
const define = (columns: string) =>
  writeFile(config, `tables:\n  alerts:\n    stream: events\n    columns:\n${columns}`);
const ID = '      id: { path: id, type: numeric, index: yes }\n';

const CHANGED = `${ID}      level: { path: rule.level, type: smallint }\n      word: { path: rule, type: text }\n`;

let scene: Scene;
let events: number;
/** The second run, with other settings than the first. */
let again: Ended;

beforeAll(async () => {
  scene = await setScene({ seed: 'tables', eventsPerDay: 70, alertsPerDay: 5 });
  await define(ID);
  const first = await scene.succeed(['backfill', ...RANGE], settings);
  expect(first.stderr).toMatch(/a record table was made/);
  await define(CHANGED);
  again = await scene.succeed(
    [
      'backfill',
      '--from',
      '2026-03-01',
      '--to',
      '2026-03-01',
      '--stream',
      'events',
      '--only',
      'all',
    ],
    settings,
  );
  await define(ID);
  [{ events } = { events: 0 }] = await scene.database.query<{ events: number }>(
    'select count(*)::int as events from daywalk.events',
  );
  expect(events).toBeGreaterThan(50);
});

test('a run makes a table that is not there, and fills it; status tells how far it is', async () => {
  const rows = events.toLocaleString('en-US');
  const line = `daywalk.alerts (stream events): ${rows} rows of 2 days, 2026-03-01 to 2026-03-02; in step`;
  expect((await scene.succeedHere(['status'], settings)).stdout).toContain(line);
  const status = JSON.parse((await scene.succeedHere(['status', '--json'], settings)).stdout);
  expect(status.tables).toMatchObject([{ table: 'alerts', records: events, behind: 0 }]);
});

test('a changed table stays as it is until a person has it built anew', async () => {
  await define(CHANGED);
  expect(again.stderr).toMatch(
    /other columns for alerts than the database has; daywalk tables --apply/,
  );
  for (const verb of ['tables', 'status'])
    expect((await scene.succeedHere([verb], settings)).stdout).toMatch(
      /^alerts: the settings define it otherwise/m,
    );
  const applied = await scene.succeed(['tables', '--apply'], settings);
  expect(applied.stdout).toMatch(/^daywalk\.alerts \(stream events\): .* of 2 days/m);
  expect(applied.stdout).toMatch(/values do not fit their types and are null/);
  const [found] = await scene.database.query(
    'select count(level)::int as levels, count(word)::int as words from daywalk.alerts',
  );
  expect(found).toEqual({ levels: events, words: 0 });
  const [faults] = await scene.database.query(
    `select count(*)::int as faults, min(reason) as reason from daywalk.table_faults where "table" = 'alerts'`,
  );
  expect(faults).toEqual({ faults: events, reason: 'it is an object, not a text' });
});

test('days that a table of the settings is to keep are not pruned before it is made so', async () => {
  const own = { DAYWALK_CONFIG: join(folder, 'kept.yaml') };
  await writeFile(
    own.DAYWALK_CONFIG,
    `tables:\n  kept:\n    stream: events\n    retention: forever\n    columns:\n${ID}`,
  );
  const pruned = await scene.here(['prune', '--older-than', '1d'], own);
  expect(pruned.code).toBe(3);
  expect(pruned.stdout).toMatch(
    /^kept: events 2026-03-01 to 2026-03-02: the record table kept of the settings is to keep it, and is not made so yet: daywalk tables --apply$/m,
  );
  const free = await scene.here(['prune', '--older-than', '1d'], settings);
  expect(free.stdout).toMatch(/^would go: events/m);
});

test('what is suggested can be put into the settings as it stands', async () => {
  const { stdout } = await scene.succeedHere(['tables', '--suggest'], settings);
  const { tables } = parse(stdout);
  expect(Object.keys(tables)).toEqual(['events_table', 'smart_event_table']);
  expect(tables.events_table.columns.at).toEqual({
    path: 'timestamp',
    type: 'timestamptz',
    index: 'yes',
  });
  const own = { DAYWALK_CONFIG: join(folder, 'suggested.yaml') };
  await writeFile(own.DAYWALK_CONFIG, stdout);
  const applied = await scene.succeedHere(['tables', '--apply'], own);
  expect(applied.stdout).toMatch(/^daywalk\.events_table .*; in step$/m);
  const { tables: made }: { tables: { table: string }[] } = JSON.parse(
    (await scene.succeedHere(['tables', '--json'], own)).stdout,
  );
  expect(made.filter(({ table }) => table !== 'alerts')).toMatchObject([
    { table: 'events_table', faults: 0, behind: 0 },
    { table: 'smart_event_table', faults: 0, behind: 0 },
  ]);
  // The other one is in the settings of somebody else, and stays.
  expect(made.map(({ table }) => table)).toContain('alerts');
  expect((await scene.succeedHere(['tables', '--drop', 'alerts'], own)).stdout).toMatch(
    /daywalk\.alerts is gone/,
  );
  const dropped = await scene.succeedHere(['tables', '--drop', 'events_table', '--json'], {});
  expect(JSON.parse(dropped.stdout)).toEqual({ dropped: 'events_table' });
});

test.each([
  [
    'tables:\n  alerts:\n    stream: events\n    columns:\n      a: { type: float8 }\n',
    /"float8" is not one of text, .*numeric/,
  ],
])('%j is refused, with its place', expectRefused);

test('a name that is taken is refused, and nothing is changed', async () => {
  const own = { DAYWALK_CONFIG: join(folder, 'taken.yaml') };
  await writeFile(
    own.DAYWALK_CONFIG,
    'tables:\n  pages:\n    stream: events\n    columns: { id: {} }\n',
  );
  const ended = await scene.here(['tables', '--apply'], own);
  expect(ended).toMatchObject({ code: 2 });
  expect(ended.stderr).toMatch(/daywalk\.pages is there already, and is no record table/);
});
