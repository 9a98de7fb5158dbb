/** `npm run bench` as a command: a small case runs to its end, and what it cannot do it says. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { server } from '../support/database.ts';

const cwd = fileURLToPath(new URL('../..', import.meta.url));
const bench = (...args: string[]) =>
  promisify(execFile)('npm', ['run', '--silent', 'bench', '--', ...args], {
    cwd,
    env: { ...process.env, DATABASE_URL: server().adminUrl },
  });

test('a case prints its table, its floor and its targets', async () => {
  const { stdout } = await bench('--quick', '--case', 'start');
  expect(stdout).toContain('| | measured | floor | ratio | target | reached | spread |');
  expect(stdout).toMatch(
    /\| `daywalk --help` \| [\d,.]+ ms \| [\d,.]+ ms \| [\d.]+ \| ≤ 150 ms × [\d.]+ \| /,
  );
  expect(stdout).toMatch(
    /\| `daywalk run`, nothing to do \| [\d,.]+ ms \| .* ≤ 500 ms × [\d.]+ \| /,
  );
  expect(stdout).toMatch(/^In a second it starts `node -e 0` [\d.,]+ times, /m);
  expect(stdout).not.toContain('docs/performance.md');
});

test('an unknown case is a usage error that names those that there are', async () => {
  await expect(bench('--case', 'througput')).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/no case througput; there are throughput, latency/),
  });
});
