/** A reader that takes its time gets everything that a verb says: the program does not leave before. Where not all could be written, it says so. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runProgram, temporaryFolder } from '../support/program.ts';

/** Their settings are more than a pipe holds (64 KiB). */
const STREAMS = 700;

test('more than a pipe holds, into a pipe that is read late', async () => {
  const folder = temporaryFolder();
  const names = Array.from(
    { length: STREAMS },
    (_, number) => `a-stream-with-rather-a-long-name-of-its-own-${number}`,
  );
  const streams = names.map((name) => `  ${name}:\n    resource: events\n`);
  writeFileSync(join(folder, 'daywalk.yaml'), `streams:\n${streams.join('')}`);
  const run = (under: readonly string[]) => runProgram(['config'], { folder, under });
  const late = await run(['sh', '-c', '"$@" | { sleep 2; cat; }', 'sh']);
  expect(late.stdout.length).toBeGreaterThan(70_000);
  // Into a file nothing is ever cut off.
  const whole = await run(['sh', '-c', '"$@" > out; cat out', 'sh']);
  expect(late.stdout.length).toBe(whole.stdout.length);
});

test.runIf(existsSync('/dev/full'))(
  'a result that a full disk does not take is no success',
  async () => {
    const run = (end: string) =>
      runProgram(['config'], {
        folder: temporaryFolder(),
        under: ['sh', '-c', `"$@" ${end}`, 'sh'],
      });
    const full = await run('> /dev/full');
    expect(full.stderr).toBe('daywalk: the result could not be written to stdout (ENOSPC)\n');
    expect(full.code).toBe(2);
    // Whoever has read enough is told nothing.
    expect(await run('| true')).toMatchObject({ code: 0, stderr: '' });
  },
);
