/** What is typed before, behind and instead of a verb. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { backfillHere } from '../support/backfill-here.ts';
import { andAtNight, atNight } from '../support/night.ts';
import { CLOSED_PORT } from '../support/ports.ts';
import { runProgram, temporaryFolder } from '../support/program.ts';
import { runHere } from '../support/program-here.ts';
import { setScene } from '../support/scene.ts';
import { testWith } from '../support/tool.ts';
import { expectSlipTold } from './slips.ts';

test.each(andAtNight(['version'], ['-v', '--version']))('daywalk %s', async (word) => {
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
    const ended = await runHere(args, { folder });
    expect(ended).toMatchObject({ code: 0 });
    expect(ended.stdout).toMatch(/^page_length +mine\.yaml:1\S* +77$/m);
  }
});

test.each([
  ['--streams', ['run', '--streams', 'events', '--streams', 'smart-event']],
  ['--streams', ['run', '--streams', 'events', '--stream', 'smart-event']],
  ['--config', ['--config', 'a.yaml', 'run', '--config', 'b.yaml']],
  ['--config', ['--config', 'a.yaml', '--config', 'b.yaml', 'run']],
])(
  '%s that stands twice is refused, as one of the two would not be heard: %j',
  async (flag, words) => {
    const ended = await runHere(words, { folder: temporaryFolder() });
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toContain(`${flag} stands twice`);
  },
);

atNight('--stream and --streams mean the same to every verb that has streams', async () => {
  const scene = await setScene({ eventsPerDay: 20 });
  const day = { from: '2026-03-01', to: '2026-03-01' };
  await backfillHere(scene, day);
  for (const args of [
    ['status', '--stream'],
    ['status', '--streams'],
    ['why', day.from, '--streams'],
    ['fields', '--stream'],
    ['verify', '--from', day.from, '--to', day.to, '--streams'],
  ]) {
    const { stdout } = await scene.succeedHere([...args, 'events']);
    expect(stdout, args.join(' ')).not.toContain('smart-event');
  }
  const wrong = await scene.here(['status', '--streams', 'event']);
  expect(wrong).toMatchObject({ code: 2 });
  expect(wrong.stderr).toMatch(/event.*events, smart-event|did you mean events/);
});

test('completion prints the script, and says which shells there are', async () => {
  const ended = await runProgram(['completion', 'bash']);
  expect(ended).toMatchObject({ code: 0, stderr: '' });
  expect(ended.stdout).toMatch(/^complete .*daywalk$/m);
  const wrong = await runHere(['completion', 'tcsh']);
  expect(wrong).toMatchObject({ code: 2, stdout: '' });
  expect(wrong.stderr).toMatch(
    /'tcsh' is invalid for argument 'shell'. Allowed choices are bash, zsh, fish/,
  );
});

test('what was a secret of one command line is a word like others in the next one of its process', async () => {
  const word = 'a-key-of-before';
  const away = {
    DATABASE_URL: `postgres://nobody@127.0.0.1:${CLOSED_PORT}/nothing`,
    DAYWALK_DATABASE_PATIENCE: '0s',
  };
  const before = await runHere(['status'], { environment: { ...away, DAYWALK_API_KEY: word } });
  expect(before).toMatchObject({ code: 5 });
  const { stderr } = await runHere(['status', '--stream', word], { environment: away });
  expect(stderr).toContain(`"${word}" is not a stream`);
});

test('--help-all is help, also where something is missing on the line', async () => {
  const ended = await runHere(['backfill', '--help-all']);
  expect(ended).toMatchObject({ code: 0, stderr: '' });
  expect(ended.stdout).toMatch(/--page-length[\s\S]*DAYWALK_API_KEY/);
});

/** Slips of people at a keyboard, and what they are told. */
test.each(
  andAtNight<[args: string[], words: RegExp]>(
    [
      [['backfill', '2026-10-01', '2026-10-05'], /for example: daywalk backfill --from/],
      [['--json', 'status'], /options stand behind the verb: daywalk status --json/],
      [['help', 'backfil'], /'backfil' is invalid for argument 'verb'\. Allowed .*backfill/],
      [
        ['run', '--api-key', 'k'],
        /no flag --api-key: .*\n {2}Set DAYWALK_API_KEY in the env.* file/,
      ],
      [['status', '--month', '3'], /Did you mean --months\?/],
      [['why', '2026-11'], /"2026-11" is a month; name one day of it/],
      [['export', '--out', ''], /^daywalk: flag --out: "" is empty$/m],
      [['init', '--config', ''], /^daywalk: flag --config: "" is empty$/m],
      [['export', '--out=~/archive'], /^daywalk: flag --out: "~\/archive" begins with ~; write /m],
    ],
    [
      [['why'], /for example: daywalk why yesterday/],
      [['completion'], /for example: daywalk completion bash/],
      [['export'], /for example: daywalk export --out archive/],
      [['run', '--sicne', '2026-11-20'], /Did you mean --since\?/],
      [['status', '--stream', 'event'], /flag --stream: "event" is not a stream/],
      [['stats'], /Did you mean status\?/],
      [['prune', '--older-than', '1y'], /flag --older-than: "1y" is not an age such as 400d/],
      [
        ['prune', '--older-than', '9d', '--require-export', ''],
        /flag --require-export: "" is empty/,
      ],
    ],
  ),
)('%j', async (args, words) => {
  const environment = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing' };
  const ended = await runHere(args, { environment });
  expect(ended).toMatchObject({ code: 2, stdout: '' });
  expect(ended.stderr).toMatch(words);
});

test('a slip in a day is told by backfill before anything is opened', () =>
  expectSlipTold('backfill'));

/** A day is exported with the key from a pipe, which a shell makes so and names as `$PIPE`. */
async function expectReadOnce(makePipe: string): Promise<void> {
  const { api, environment } = await setScene({ eventsPerDay: 20 });
  const folder = temporaryFolder();
  const { DAYWALK_API_KEY: key, ...rest } = environment;
  const range = ['--from', '2026-03-01', '--to', '2026-03-01', '--stream', 'events'];
  const ended = await runProgram(['backfill', ...range], {
    folder,
    environment: { ...rest, KEY: key },
    under: ['bash', '-c', `${makePipe} "$0" "$@"`],
    longestMs: 60_000,
  });
  expect(ended, ended.stderr).toMatchObject({ code: 0 });
  expect(api.counts.pages).toBeGreaterThan(0);
}

testWith(['bash'], 'a key from a pipe is read once, however often the settings are', () =>
  expectReadOnce('DAYWALK_API_KEY_FILE=<(printf %s "$KEY")'),
);

testWith(['bash', 'mkfifo'], 'and one from a pipe with a name, which nobody writes to again', () =>
  expectReadOnce('mkfifo key; printf %s "$KEY" > key & DAYWALK_API_KEY_FILE=key'),
);

test('a key with a word of the header before it is named, not shown', async () => {
  const ended = await runProgram(['config'], {
    environment: { DAYWALK_API_KEY: 'Bearer a-key-of-mine' },
  });
  expect(ended).toMatchObject({ code: 2 });
  expect(ended.stderr).toMatch(
    /DAYWALK_API_KEY: the value begins with a word of the header; give the key alone/,
  );
  expect(ended.stderr).not.toContain('a-key-of-mine');
});
