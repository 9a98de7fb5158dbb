/** `daywalk demo`, smaller than people see it: what it says is what is there afterwards, and nothing goes on running. */
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { until } from '../support/condition.ts';
import { atNight } from '../support/night.ts';
import { processesOf } from '../support/processes.ts';
import { runProgram, startProgram, temporaryFolder } from '../support/program.ts';
import { runHere } from '../support/program-here.ts';

const SMALL = ['demo', '--days', '2', '--events', '2000'];

/** Its Postgres ends by itself a moment after the last program that used it. */
async function nothingGoesOn(folder: string): Promise<void> {
  if (process.platform !== 'linux') return;
  await until('nothing of it to run', () => processesOf(folder).length === 0);
}

test('exports through refused requests and a kill, shows the calendar and the counts, and can be repeated', async () => {
  const folder = temporaryFolder();
  // What is set for the real export must not reach the demo, nor the demo it.
  const environment = {
    DATABASE_URL: 'postgres://nobody@127.0.0.1:1/real',
    DAYWALK_API_URL: 'https://api.invalid',
    DAYWALK_API_KEY: 'real-key-of-nobody',
    DAYWALK_SINCE: '2001-01-01',
  };
  const options = { folder, environment, secrets: [environment.DAYWALK_API_KEY] };
  // So must no file that `init` wrote.
  await writeFile(join(folder, 'url'), environment.DATABASE_URL);
  await writeFile(join(folder, 'daywalk.yaml'), 'database: { url_file: url }\nno_setting: 1\n');
  const shown = await runProgram(SMALL, options);
  expect(shown, shown.stdout + shown.stderr).toMatchObject({ code: 0 });

  const days = [
    ...new Set(shown.stdout.match(/--from \S+ --to \S+/)?.[0].match(/\d{4}-\d\d-\d\d/g)),
  ];
  expect(days).toHaveLength(2);
  const killedAt = Number(/Killed with (\d+) pages? stored/.exec(shown.stdout)?.[1]);
  expect(killedAt).toBeGreaterThan(0);
  expect(shown.stdout).toMatch(/^\d+ days complete/m);
  expect(shown.stdout).toMatch(/^█ complete 4 /m);
  expect(shown.stdout).toMatch(/^events: 2 of 2 days complete, ([\d,]+) records/m);
  expect(shown.stdout).toMatch(/^smart-event: 2 of 2 days complete/m);

  // In the table each record is there once: as many different ids as events.
  const rows = days.map((day) => new RegExp(`^ {3}${day} +([\\d,]+) +[\\d,]+ +([\\d,]+)$`, 'm'));
  for (const row of rows) {
    const [, events, ids] = row.exec(shown.stdout) ?? [];
    expect(events).toBeDefined();
    expect(ids).toBe(events);
  }
  expect(shown.stdout.split('from daywalk.alerts')[1]).toMatch(
    /^ {3}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC {2}\S+ +1\d +\S/m,
  );
  expect((await readdir(folder)).sort()).toEqual(['.daywalk', 'daywalk.yaml', 'url']);

  // What it leaves can be looked at, with the command that it says, where no file says otherwise.
  await rm(join(folder, 'daywalk.yaml'));
  const [, command = ''] = /daywalk (status --embedded .*)$/m.exec(shown.stdout) ?? [];
  const looked = await runHere(command.split(' '), { folder });
  expect(looked.stdout).toMatch(/^events: \d+ of \d+ days complete/m);
  await nothingGoesOn(folder);
});

/** A demo that is stopped once it has said something. */
async function stopped(said: RegExp, signal: NodeJS.Signals) {
  const folder = temporaryFolder();
  const program = startProgram(SMALL, { folder });
  await program.saying(said);
  program.kill(signal);
  return { ended: await program.ended, folder };
}

atNight('is stopped like everything else, and leaves nothing running', async () => {
  const { ended, folder } = await stopped(/The API answers some requests/, 'SIGTERM');
  expect(ended, ended.stdout + ended.stderr).toMatchObject({ code: 143 });
  expect(ended.stderr).not.toMatch(/^\s+at /m);
  await nothingGoesOn(folder);
});

test('is stopped before it has begun to simulate, too', async () => {
  const { ended, folder } = await stopped(/A simulated Event Query API/, 'SIGINT');
  expect(ended, ended.stdout + ended.stderr).toMatchObject({ code: 130 });
  expect(ended.stderr).not.toMatch(/did not start/);
  await nothingGoesOn(folder);
});

test('names what of an earlier one cannot be removed', async () => {
  const folder = temporaryFolder();
  await writeFile(join(folder, '.daywalk'), '');
  const ended = await runProgram(SMALL, { folder });
  expect(ended, ended.stderr).toMatchObject({ code: 2 });
  expect(ended.stderr).toMatch(/^daywalk: .daywalk.demo cannot be removed \(ENOTDIR\)\n {2}Start/m);
});

test('is not shown where the Postgres of an earlier one goes on running', async () => {
  const folder = temporaryFolder();
  const data = join(folder, '.daywalk/demo/data');
  await mkdir(data, { recursive: true });
  await writeFile(join(data, 'postmaster.pid'), '1\n');
  const ended = await runProgram(SMALL, { folder });
  expect(ended).toMatchObject({ code: 2, stdout: '' });
  expect(ended.stderr).toMatch(/earlier demo still runs in .daywalk.demo\n {2}Disconnect/);
});

test.each([
  ['--days', '0', '1 to 31'],
  ['--events', '10', '2000 to 100000'],
])('%s %s is refused before anything is done', async (flag, value, bounds) => {
  const folder = temporaryFolder();
  const ended = await runHere(['demo', flag, value], { folder });
  expect(ended).toMatchObject({ code: 2, stdout: '' });
  expect(ended.stderr).toContain(`flag ${flag}: "${value}"`);
  expect(ended.stderr).toContain(bounds);
  expect(await readdir(folder)).toEqual([]);
});
