/** Which database a command works on is said by somebody: none is ever made, migrated or guessed at in silence. */
import { existsSync } from 'node:fs';
import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { dayAgo } from '../support/days.ts';
import { expectExact } from '../support/multiset.ts';
import { runProgram, temporaryFolder } from '../support/program.ts';
import { runHere } from '../support/program-here.ts';
import { setScene } from '../support/scene.ts';
import { answeredAtTerminal } from '../support/terminal.ts';
import { testWith } from '../support/tool.ts';
import { API, expectNoneMade, expectNoTables, RANGE } from './no-database.ts';

/** Who could make one, and one of those that only look. */
const WITHOUT = [['run'], ['worker'], ['init'], ['status']];
const EMPTY = [['status'], ['doctor'], ['backfill', ...RANGE, '--dry-run']];

test.each(WITHOUT.map((args) => [args.join(' '), args] as const))(
  'without a database, %s says what to set, and makes none',
  (_, args) => expectNoneMade(args),
);

test('config needs no database', async () => {
  const ended = await runHere(['config'], { environment: API });
  expect(ended).toMatchObject({ code: 0 });
  expect(ended.stdout).toMatch(/^database\.url +default +\(not set\)$/m);
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
  expect(await runHere(['run'], { folder, environment })).toMatchObject({ code: 0 });
  await expectExact(scene, { from: dayAgo(2), to: dayAgo(1) });
});

test('init --embedded makes a Postgres, and later commands find it; nobody else makes another one', async () => {
  const scene = await setScene({ eventsPerDay: 20 });
  const folder = temporaryFolder();
  const { DATABASE_URL: _, ...shell } = scene.environment;
  const options = { folder, environment: { ...shell, DAYWALK_SINCE: dayAgo(1) } };
  const made = await runProgram(['init', '--embedded'], options);
  expect(made, made.stdout + made.stderr).toMatchObject({ code: 0 });
  expect(existsSync(join(folder, '.daywalk/data/PG_VERSION'))).toBe(true);
  expect(await runHere(['run'], options)).toMatchObject({ code: 0 });

  // With another database in the environment neither is guessed at.
  const both = { folder, environment: scene.environment };
  const torn = await runHere(['status', '--embedded'], both);
  expect(torn).toMatchObject({ code: 2 });
  expect(torn.stderr).toMatch(/flag --embedded: .*DATABASE_URL.*one of the two/);

  // Without the settings file the one that is there is named, not used.
  await rm(join(folder, 'daywalk.yaml'));
  const bare = await runHere(['status'], options);
  expect(bare).toMatchObject({ code: 2 });
  expect(bare.stderr).toMatch(/or use an embedded Postgres: --embedded/);
});

test('with --embedded only init and run make a Postgres that is not there', async () => {
  const folder = temporaryFolder();
  const ended = await runHere(['worker', '--embedded'], { folder, environment: API });
  expect(ended).toMatchObject({ code: 2 });
  expect(ended.stderr).toMatch(/there is no embedded Postgres in .*\.daywalk\n.*run --embedded/);
  // What a settings file of yesterday says does not make an empty one either.
  const environment = { ...API, DAYWALK_DATABASE_EMBEDDED: 'yes' };
  expect(await runHere(['run'], { folder, environment })).toMatchObject({ code: 2 });
  expect(existsSync(join(folder, '.daywalk'))).toBe(false);
});

test.each(EMPTY.map((args) => [args.join(' '), args] as const))(
  'in an empty database, %s makes no tables',
  (_, args) => expectNoTables(args),
);

test('an older schema is told, and left as it is', async () => {
  const scene = await setScene();
  await scene.database.query(`delete from daywalk.migrations where name = '0007_roles'`);
  const ended = await scene.here(['status']);
  expect(ended).toMatchObject({ code: 2, stdout: '' });
  expect(ended.stderr).toMatch(/older than this daywalk: it lacks 0007_roles\n.*daywalk migrate/);
  expect(
    await scene.database.query(`select from daywalk.migrations where name = '0007_roles'`),
  ).toEqual([]);
});

testWith(['script'], 'on a terminal run asks before it makes a Postgres', async () => {
  const folder = temporaryFolder();
  const options = { folder, environment: API };
  const no = await answeredAtTerminal(['run'], 'n\n', options);
  expect(no).toMatchObject({ code: 2 });
  expect(no.said).toMatch(/No database is set[\s\S]*\[y\/N\][\s\S]*database\.url: is not set/);
  expect(existsSync(join(folder, '.daywalk'))).toBe(false);
});

testWith(['script'], 'on a terminal init asks, too, whatever file it is to write', async () => {
  const options = { folder: temporaryFolder(), environment: API };
  const no = await answeredAtTerminal(['init', '--config', 'new.yaml'], 'n\n', options);
  expect(no).toMatchObject({ code: 2 });
  expect(no.said).toMatch(/No database is set[\s\S]*\[y\/N\][\s\S]*database\.url: is not set/);
});
