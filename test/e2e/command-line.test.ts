/** What is typed before, behind and instead of a verb. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runProgram, temporaryFolder } from '../support/program.ts';
import { setScene } from '../support/scene.ts';

test.each([['version'], ['-v'], ['--version']])('daywalk %s', async (word) => {
  const ended = await runProgram([word]);
  expect(ended).toMatchObject({ code: 0, stderr: '' });
  expect(ended.stdout).toMatch(/^(daywalk )?\d+\.\d+\.\d+( on Node\.js \d+\.\d+\.\d+)?\n$/);
});

test('--config may stand before the verb and behind it', async () => {
  const folder = temporaryFolder();
  await writeFile(join(folder, 'mine.yaml'), 'page_length: 77\n');
  for (const args of [
    ['--config', 'mine.yaml', 'config'],
    ['config', '--config', 'mine.yaml'],
  ]) {
    const ended = await runProgram(args, { folder });
    expect(ended).toMatchObject({ code: 0 });
    expect(ended.stdout).toMatch(/^page_length +77 +mine\.yaml:1/m);
  }
});

describe('--stream and --streams', () => {
  test('mean the same to every verb that has streams', async () => {
    const scene = await setScene({ eventsPerDay: 20 });
    const range = ['--from', '2026-03-01', '--to', '2026-03-01'];
    await scene.succeed(['backfill', ...range]);
    for (const flag of ['--stream', '--streams']) {
      for (const args of [['status'], ['why', '2026-03-01'], ['fields'], ['verify', ...range]]) {
        const { stdout } = await scene.succeed([...args, flag, 'events']);
        expect(stdout, `${args[0]} ${flag}`).not.toContain('smart-event');
      }
      const wrong = await scene.run(['status', flag, 'event']);
      expect(wrong).toMatchObject({ code: 2 });
      expect(wrong.stderr).toMatch(/event.*events, smart-event|did you mean events/);
    }
  });
});

test('completion prints the script, and says which shells there are', async () => {
  const ended = await runProgram(['completion', 'bash']);
  expect(ended).toMatchObject({ code: 0, stderr: '' });
  expect(ended.stdout).toMatch(/^complete .*daywalk$/m);
  const wrong = await runProgram(['completion', 'tcsh']);
  expect(wrong).toMatchObject({ code: 2, stdout: '' });
  expect(wrong.stderr).toMatch(/no completion for "tcsh"\n {2}Give bash, zsh, fish/);
});

test('--help-all is help, also where something is missing on the line', async () => {
  const ended = await runProgram(['backfill', '--help-all']);
  expect(ended).toMatchObject({ code: 0, stderr: '' });
  expect(ended.stdout).toMatch(/--page-length[\s\S]*DAYWALK_API_KEY/);
});
