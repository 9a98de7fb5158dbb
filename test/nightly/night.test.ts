/** The nightly command: its time limits, what it reads in what its parts print, and the line that says what got worse. */
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { INTERRUPTED, lineOf, type Part, type Result, resultOf, runPart } from './night.js';

function inFolder() {
  const cwd = mkdtempSync(join(tmpdir(), 'daywalk-nightly-test-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  return { cwd, log: join(cwd, 'part.log') };
}

const script = (text: string) => [process.execPath, '-e', text];

test('a part that ends: what it printed is in its log, and tells its figures', async () => {
  const options = inFolder();
  const command = script(`console.log(' Tests  41 passed | 2 skipped (43)\\n7 cases, 0 bad\\n')`);
  expect(
    await runPart({ name: 'a', command, minutes: 5, says: /\d+ cases.*/ }, options),
  ).toMatchObject({
    state: 'passed',
    why: '',
    passed: 41,
    failed: 0,
    skipped: 2,
    says: '7 cases, 0 bad',
  });
  expect(readFileSync(options.log, 'utf8')).toContain('41 passed');
});

test('a part that fails, and one that cannot be started', async () => {
  const failing = { name: 'a', command: script('process.exit(3)'), minutes: 5 };
  expect(await runPart(failing, inFolder())).toMatchObject({ state: 'failed', why: 'exit code 3' });
  const absent = { name: 'a', command: ['no-such-program-5150'], minutes: 5 };
  expect(await runPart(absent, inFolder())).toMatchObject({
    state: 'failed',
    why: expect.stringContaining('ENOENT'),
  });
});

test('a part that never ends is ended at its limit', async () => {
  const part = { name: 'a', command: script('setInterval(() => {}, 1e6)'), minutes: 0.0001 };
  expect(await runPart(part, inFolder())).toMatchObject({
    state: 'failed',
    why: 'took longer than 0.0001 min',
  });
});

test('its whole group is ended, also who does not listen to SIGTERM', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  // A child that holds a connection as long as it lives.
  const child = `process.on('SIGTERM', () => {}); require('net').connect(${port}, '127.0.0.1')`;
  const command = script(
    `require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(child)}]); setInterval(() => {}, 1e6)`,
  );
  const stop = new AbortController();
  const ended = runPart({ name: 'a', command, minutes: 5 }, { ...inFolder(), stop, graceMs: 1 });
  const [socket] = (await once(server, 'connection')) as [Socket];
  const closed = once(
    socket.on('error', () => undefined),
    'close',
  );
  stop.abort(`${INTERRUPTED} by a test`);
  await closed;
  expect(await ended).toMatchObject({ state: 'not run', why: 'interrupted by a test' });
});

test('what is missing is a reason not to run, and never green', async () => {
  const part = { name: 'a', command: script(''), minutes: 5, needs: ['node', 'no-such-5150'] };
  expect(await runPart(part, inFolder())).toMatchObject({
    state: 'not run',
    why: 'no no-such-5150 installed',
  });
  const of = (log: string, wrong = '') => resultOf({ name: 'a' }, { log, seconds: 1, wrong });
  expect(of('Tests  4 skipped (4)')).toMatchObject({
    state: 'not run',
    why: 'all its tests were skipped',
  });
  expect(
    of('Error: npm run containers cannot run here:\n- it needs root\n- it', 'exit code 1'),
  ).toMatchObject({ state: 'not run', why: 'it needs root' });
  expect(
    of("{ node: '24', passed: 181, failed: 0 }\n{\n  passed: 180,\n  failed: 1,\n}", 'exit code 1'),
  ).toMatchObject({ state: 'failed', passed: 361, failed: 1 });
});

const green = (name: string, minutes: number, passed = 10): Result => ({
  name,
  state: 'passed',
  why: '',
  seconds: minutes * 60,
  passed,
  failed: 0,
  skipped: 0,
  says: '',
});
const red = (name: string): Result => ({ ...green(name, 1), state: 'failed', why: 'exit code 1' });
const absent = (name: string): Result => ({
  ...green(name, 0),
  state: 'not run',
  why: 'no docker',
});
const on = (day: string, ...results: Result[]) =>
  new Map(results.map((result) => [result.name, { ...result, day }]));

test.each<[string, Result[], ReturnType<typeof on>, boolean]>([
  [
    'nightly: 1 of 2 parts green, 2 h 41 min; worse than 2026-11-20: chaos failed (was green), torture 100 -> 160 min',
    [red('chaos'), green('torture', 160)],
    on('2026-11-20', green('chaos', 12), green('torture', 100)),
    true,
  ],
  [
    'nightly: 2 of 2 parts green, 21 min; nothing got worse',
    [green('chaos', 1.5), green('torture', 19.5)],
    on('2026-11-20', red('chaos'), green('torture', 14)),
    false,
  ],
  [
    'nightly: 0 of 2 parts green, 60 s; chaos failed, containers not run, no docker; nothing got worse',
    [red('chaos'), absent('containers')],
    on('2026-11-20', red('chaos')),
    true,
  ],
  [
    'nightly: 1 of 1 parts green, 4 min; worse than 2026-11-19: faults 12 -> 11 tests',
    [green('faults', 4, 11)],
    on('2026-11-19', green('faults', 4, 12)),
    true,
  ],
  [
    'nightly: 0 of 1 parts green, 0 s; worse than 2026-11-19: containers not run, no docker (was green)',
    [absent('containers')],
    on('2026-11-19', green('containers', 9)),
    true,
  ],
  [
    'nightly: 1 of 2 parts green, 0 s; containers not run, no docker; nothing to compare with',
    [green('attack', 0), absent('containers')],
    on('2026-11-20'),
    false,
  ],
  [
    'nightly: 1 of 1 parts green, 1 h 0 min; nothing got worse',
    [green('soak', 60)],
    on('2026-11-20', green('soak', 10)),
    false,
  ],
])('%s', (line, results, earlier, bad) => {
  const soak: Part = { name: 'soak', command: [], minutes: 75, asLongAsTold: true };
  expect(lineOf(results, earlier, [soak])).toEqual({ line, bad });
});
