/** The command: its flags in code, and the built program as a process. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FAULT_PARAMETERS } from '../../simulator/faults.ts';
import { readFlags } from '../../simulator/flags.ts';
import { DEFAULT_FIXED } from '../../simulator/options.ts';
import { DEFAULT_SWITCHES } from '../../simulator/switches.ts';

const optionsOf = (...args: string[]) => {
  const read = readFlags(args, {});
  return 'options' in read ? read.options : {};
};

describe('flags', () => {
  test('without any there is the port, and the key of the environment', () => {
    expect(optionsOf()).toEqual({ port: 8765, faults: [] });
    expect(readFlags([], { SIMULATOR_KEY: 'e' })).toMatchObject({ options: { key: 'e' } });
    expect(readFlags(['--key', 'f'], { SIMULATOR_KEY: 'e' })).toMatchObject({
      options: { key: 'f' },
    });
  });

  test.each([
    ['--port 0', { port: 0 }],
    ['--events-per-day 7', { eventsPerDay: 7 }],
    ['--totals cap=10', { totals: { cap: 10 } }],
    ['--totals off=-1', { totals: { off: -1 } }],
    ['--totals none', { totals: 'none' }],
    ['--max-length 10', { maxLength: { limit: 10, status: 400 } }],
    ['--max-length 10:413', { maxLength: { limit: 10, status: 413 } }],
    ['--offset-cap 10000', { offsetCap: { limit: 10000, answer: 400, by: 'end' } }],
    ['--offset-cap 9:empty:start', { offsetCap: { limit: 9, answer: 'empty', by: 'start' } }],
    ['--ignore-start', { ignoreStart: true }],
    ['--latency 5', { latency: 5 }],
    ['--latency 5-9', { latency: [5, 9] }],
    ['--rate-limit 2.5:date', { rateLimit: { perSecond: 2.5, retryAfter: 'date' } }],
    ['--arrivals every=2', { arrivals: { every: 2, count: 1, where: 'newest' } }],
    [
      '--deletions every=2,count=3,where=inside,limit=9',
      { deletions: { every: 2, count: 3, where: 'inside', limit: 9 } },
    ],
    [
      '--fault status:status=429,retryAfter=date+2,rate=0.5 --fault stall:at=1+3',
      {
        faults: [
          { kind: 'status', status: 429, retryAfter: 'date+2', rate: 0.5 },
          { kind: 'stall', at: [1, 3] },
        ],
      },
    ],
  ])('%s', (line, expected) => {
    expect(optionsOf(...line.split(' '))).toMatchObject(expected);
  });

  test('the help names every switch, option and fault', () => {
    const read = readFlags(['--help'], {});
    const help = 'help' in read ? read.help : '';
    const fromCodeOnly = ['respond', 'faults', 'cacheBytes', 'logLimit'];
    for (const name of [...Object.keys(DEFAULT_SWITCHES), ...Object.keys(DEFAULT_FIXED)]) {
      const flag = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
      if (!fromCodeOnly.includes(name)) expect(help).toContain(`--${flag}`);
    }
    for (const kind of Object.keys(FAULT_PARAMETERS)) expect(help).toContain(kind);
  });
});

describe('the built program', () => {
  const program = join(import.meta.dirname, '../../dist/simulator/main.js');
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'simulator-data-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  test.each([
    ['--nonsense', 'nonsense'],
    ['--port', '--port'],
    ['--port many', '--port'],
    ['--order random', 'order'],
    ['--fault boom', 'boom'],
    ['--fault drip:bytes=1', 'needs ms'],
    ['--dataset /no/such/file', '/no/such/file'],
    ['stray', 'stray'],
  ])('%s is one clear line and exit code 2', async (line, named) => {
    const failed = await promisify(execFile)(process.execPath, [program, ...line.split(' ')]).catch(
      (error) => error,
    );
    expect(failed.code).toBe(2);
    expect(failed.stdout).toBe('');
    expect(failed.stderr).toContain(named);
    expect(failed.stderr.trimEnd().split('\n')).toHaveLength(1);
  });

  test.each(['SIGTERM', 'SIGINT'] as const)(
    'says where it listens and stops on %s',
    async (signal) => {
      const dataset = join(folder, 'some.ndjson');
      await writeFile(dataset, '{"timestamp":"2026-03-01T00:00:00Z"}\n{"x":1}\n');
      const child = spawn(
        process.execPath,
        [program, '--port', '0', '--dataset', dataset, '--fault', 'stall'],
        {
          env: { ...process.env, SIMULATOR_KEY: 'from-env' },
        },
      );
      const exited = once(child, 'exit');
      const report = once(createInterface(child.stderr), 'line');
      const [line] = await once(createInterface(child.stdout), 'line');
      const { listening } = JSON.parse(line);
      expect(listening).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
      expect((await report)[0]).toMatch(/2 records .* 1 days from 2026-03-01 .* 1 without a time/);
      // A stalled answer must not keep it alive; its end is the sign that the stop went through.
      const stalled = fetch(`${listening}/api/events`).then(
        () => 'answered',
        () => 'ended',
      );
      expect((await fetch(`${listening}/other`)).status).toBe(404);
      child.kill(signal);
      expect(await stalled).toBe('ended');
      expect(await exited).toEqual([0, null]);
    },
  );
});
