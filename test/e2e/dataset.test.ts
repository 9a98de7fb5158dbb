/** The simulator's own command with a file of events, and the real program: every line of the file, exactly. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { difference, recordTexts, sentTexts } from '../support/multiset.ts';
import { API_KEY, runProgram, temporaryFolder } from '../support/program.ts';

const SIMULATOR = fileURLToPath(new URL('../../dist/simulator/main.js', import.meta.url));
const running = new Set<ChildProcess>();

/** Starts `node dist/simulator/main.js` on a free port; gives its address. */
async function startCommand(args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, [SIMULATOR, '--port', '0', ...args], {
    env: { PATH: process.env.PATH, SIMULATOR_KEY: API_KEY },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  running.add(child);
  const [line] = await once(createInterface(child.stdout), 'line');
  return JSON.parse(line).listening;
}

afterEach(async () => {
  for (const child of running) {
    child.kill('SIGTERM');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }
  running.clear();
});

test('a small NDJSON file, over the command line of both', async () => {
  const folder = temporaryFolder();
  const lines = Array.from({ length: 400 }, (_, n) => {
    const day = `2026-03-0${1 + Math.floor(n / 200)}`;
    const time = `${String(Math.floor((n % 200) / 9)).padStart(2, '0')}:30:${String(n % 60).padStart(2, '0')}`;
    return `{"timestamp":"${day}T${time}.250Z", "id":${18446744073709551000n + BigInt(n)},"score":${n}.10,"text":"\\u00e4 ${n}"}`;
  });
  lines.push('{"timestamp":"2026-03-01T23:59:59.500Z","id":1.0}', lines[7] ?? '');
  const file = join(folder, 'events.ndjson');
  await writeFile(file, `${lines.join('\n')}\n`);
  const url = await startCommand(['--dataset', file, '--sub-second', 'exact', '--clamp', '50']);
  const database = await createTestDatabase();
  const ended = await runProgram(['backfill', '--from', '2026-03-01', '--to', '2026-03-02'], {
    environment: { DAYWALK_API_URL: url, DAYWALK_API_KEY: API_KEY, DATABASE_URL: database.url },
  });
  expect(ended, ended.stdout + ended.stderr).toMatchObject({ code: 0 });
  const [wanted, found] = [await sentTexts(database, lines), await recordTexts(database, 'events')];
  expect(difference(wanted, found)).toEqual([]);
  expect(difference(found, wanted)).toEqual([]);
});
