/** More than e2e/which-database.test.ts: the same of every verb, and all that finds an embedded Postgres which is there. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { dayAgo } from '../support/days.ts';
import { runProgram, temporaryFolder } from '../support/program.ts';
import { setScene } from '../support/scene.ts';
import { answeredAtTerminal } from '../support/terminal.ts';
import { testWith } from '../support/tool.ts';
import { API, expectNoneMade, expectNoTables, RANGE } from './no-database.ts';

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
  (_, args) => expectNoneMade(args),
);

test.each(READING.map((args) => [args.join(' '), args] as const))(
  'in an empty database, %s makes no tables',
  (_, args) => expectNoTables(args),
);

test('with --embedded only init and run make a Postgres that is not there', async () => {
  const folder = temporaryFolder();
  for (const args of [['status'], ['worker'], ['backfill', ...RANGE], ['migrate']]) {
    const ended = await runProgram([...args, '--embedded'], { folder, environment: API });
    expect(ended, args[0]).toMatchObject({ code: 2 });
    expect(ended.stderr).toMatch(/there is no embedded Postgres in .*\.daywalk\n.*run --embedded/);
  }
  expect(existsSync(join(folder, '.daywalk'))).toBe(false);
});

testWith(['script'], 'on a terminal init asks, and later commands find what it made', async () => {
  const scene = await setScene({ eventsPerDay: 20 });
  const folder = temporaryFolder();
  const { DATABASE_URL: _, ...shell } = scene.environment;
  const options = { folder, environment: { ...shell, DAYWALK_SINCE: dayAgo(2) } };
  const yes = await answeredAtTerminal(['init'], 'y\n', options);
  expect(yes, yes.said).toMatchObject({ code: 0 });
  expect(await readFile(join(folder, 'daywalk.yaml'), 'utf8')).toMatch(/^ {2}embedded: yes$/m);
  for (const args of [['status'], ['gaps'], ['run'], ['status'], ['status', '--embedded']])
    expect((await runProgram(args, options)).code, args.join(' ')).not.toBe(2);
  // Another database in the environment goes before the file.
  const both = { folder, environment: scene.environment };
  expect((await runProgram(['config'], both)).stdout).toMatch(/^database\.embedded .*no$/m);
});
