/** Which database a command works on is said by somebody: none is ever made, migrated or guessed at in silence. */
import { existsSync } from 'node:fs';
import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createEmptyDatabase } from '../support/database.ts';
import { dayAgo } from '../support/days.ts';
import { API_KEY, runProgram, temporaryFolder } from '../support/program.ts';
import { setScene } from '../support/scene.ts';
import { answeredAtTerminal } from '../support/terminal.ts';
import { testWith } from '../support/tool.ts';

const API = { DAYWALK_API_URL: 'http://127.0.0.1:1', DAYWALK_API_KEY: API_KEY };
const RANGE = ['--from', '2026-03-01', '--to', '2026-03-02'];
const READING = [
  ['status'],
  ['gaps'],
  ['why', '2026-03-01'],
  ['doctor'],
  ['verify', ...RANGE],
  ['verify', '--offline'],
  ['fields'],
  ['export', '--out', 'files'],
  ['prune', '--older-than', '400d'],
  ['accept'],
  ['backfill', ...RANGE, '--dry-run'],
];
const ALL = [...READING, ['run'], ['worker'], ['backfill', ...RANGE], ['migrate'], ['init']];

test.each(ALL.map((args) => [args.join(' '), args] as const))(
  'without a database, %s says what to set, and makes none',
  async (_, args) => {
    const folder = temporaryFolder();
    const ended = await runProgram(args, { folder, environment: API });
    expect(ended, ended.stdout + ended.stderr).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toMatch(/database\.url: is not set; .*DATABASE_URL.*--embedded/);
    expect(existsSync(join(folder, '.daywalk'))).toBe(false);
    expect(existsSync(join(folder, 'daywalk.yaml'))).toBe(false);
  },
);

test('config needs no database', async () => {
  const ended = await runProgram(['config'], { environment: API });
  expect(ended).toMatchObject({ code: 0 });
  expect(ended.stdout).toMatch(/^database\.url +\(not set\)/m);
});

test('what init wrote tells a new shell where the database is, and the URL stands where only its owner reads', async () => {
  const scene = await setScene({ eventsPerDay: 20 });
  const folder = temporaryFolder();
  const { DATABASE_URL, ...shell } = scene.environment;
  const since = ['--since', dayAgo(2)];
  const made = await runProgram(['init', ...since], { folder, environment: scene.environment });
  expect(made, made.stdout + made.stderr).toMatchObject({ code: 0 });
  const file = join(folder, 'secrets', 'database_url');
  expect(await readFile(file, 'utf8')).toBe(`${DATABASE_URL}\n`);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await stat(join(folder, 'secrets'))).mode & 0o777).toBe(0o700);
  expect(await readFile(join(folder, 'daywalk.yaml'), 'utf8')).toMatch(
    /^ {2}url_file: secrets\/database_url$/m,
  );
  expect(made.stdout).toContain('secrets/database_url');

  const environment = { ...shell, DAYWALK_SETTLE: '0s' };
  expect(await runProgram(['run'], { folder, environment })).toMatchObject({ code: 0 });
  const [{ days } = { days: 0 }] = await scene.database.query<{ days: number }>(
    'select count(distinct day)::int as days from daywalk.events',
  );
  expect(days).toBeGreaterThan(0);
  const status = await runProgram(['status', '--json'], { folder, environment });
  expect(JSON.parse(status.stdout).streams).toMatchObject([{ complete: days }, {}]);
});

test('init --embedded makes a Postgres, and later commands find it; nobody else makes another one', async () => {
  const scene = await setScene({ eventsPerDay: 20 });
  const folder = temporaryFolder();
  const { DATABASE_URL: _, ...shell } = scene.environment;
  const options = { folder, environment: { ...shell, DAYWALK_SINCE: dayAgo(2) } };
  const made = await runProgram(['init', '--embedded'], options);
  expect(made, made.stdout + made.stderr).toMatchObject({ code: 0 });
  expect(existsSync(join(folder, '.daywalk/data/PG_VERSION'))).toBe(true);
  for (const args of [['status'], ['gaps'], ['run'], ['status']])
    expect((await runProgram(args, options)).code, args[0]).not.toBe(2);

  // Another database in the environment goes before the file, and with the flag neither is guessed at.
  const both = { folder, environment: scene.environment };
  expect((await runProgram(['config'], both)).stdout).toMatch(/^database\.embedded +no/m);
  const torn = await runProgram(['status', '--embedded'], both);
  expect(torn).toMatchObject({ code: 2 });
  expect(torn.stderr).toMatch(/flag --embedded: .*DATABASE_URL.*one of the two/);

  // Without the settings file the one that is there is named, not used.
  await rm(join(folder, 'daywalk.yaml'));
  const bare = await runProgram(['status'], options);
  expect(bare).toMatchObject({ code: 2 });
  expect(bare.stderr).toMatch(/there is one in .*\.daywalk/);
  expect(await runProgram(['status', '--embedded'], options)).toMatchObject({ code: 0 });
});

test('with --embedded only init and run make a Postgres that is not there', async () => {
  const folder = temporaryFolder();
  for (const args of [['status'], ['worker'], ['backfill', ...RANGE], ['migrate']]) {
    const ended = await runProgram([...args, '--embedded'], { folder, environment: API });
    expect(ended, args[0]).toMatchObject({ code: 2 });
    expect(ended.stderr).toMatch(/there is no embedded Postgres in .*\.daywalk\n.*run --embedded/);
  }
  // What a settings file of yesterday says does not make an empty one either.
  const environment = { ...API, DAYWALK_DATABASE_EMBEDDED: 'yes' };
  expect(await runProgram(['run'], { folder, environment })).toMatchObject({ code: 2 });
  expect(existsSync(join(folder, '.daywalk'))).toBe(false);
});

test.each(READING.map((args) => [args.join(' '), args] as const))(
  'in an empty database, %s makes no tables',
  async (_, args) => {
    const database = await createEmptyDatabase();
    const environment = { ...API, DATABASE_URL: database.url };
    const ended = await runProgram(args, { environment });
    expect(ended.stdout + ended.stderr).toMatch(
      /the database has no tables of daywalk[\s\S]*daywalk run/,
    );
    expect(ended.code).toBe(args[0] === 'doctor' ? 5 : 2);
    expect(await database.query(`select from pg_namespace where nspname = 'daywalk'`)).toEqual([]);
  },
);

test('an older schema is told, and left as it is', async () => {
  const scene = await setScene();
  await scene.database.query(`delete from daywalk.migrations where name = '0007_roles'`);
  const ended = await scene.run(['status']);
  expect(ended).toMatchObject({ code: 2, stdout: '' });
  expect(ended.stderr).toMatch(/older than this daywalk: it lacks 0007_roles\n.*daywalk migrate/);
  expect(
    await scene.database.query(`select from daywalk.migrations where name = '0007_roles'`),
  ).toEqual([]);
});

testWith(['script'], 'on a terminal run and init ask before they make a Postgres', async () => {
  const scene = await setScene({ eventsPerDay: 20 });
  const folder = temporaryFolder();
  const { DATABASE_URL: _, ...shell } = scene.environment;
  const options = { folder, environment: { ...shell, DAYWALK_SINCE: dayAgo(2) } };
  const no = await answeredAtTerminal(['run'], 'n\n', options);
  expect(no).toMatchObject({ code: 2 });
  expect(no.said).toMatch(/No database is set[\s\S]*\[y\/N\][\s\S]*database\.url: is not set/);
  expect(existsSync(join(folder, '.daywalk'))).toBe(false);
  const yes = await answeredAtTerminal(['init'], 'y\n', options);
  expect(yes, yes.said).toMatchObject({ code: 0 });
  expect(await readFile(join(folder, 'daywalk.yaml'), 'utf8')).toMatch(/^ {2}embedded: yes$/m);
  expect(await runProgram(['run'], options)).toMatchObject({ code: 0 });
});
