/** What V8 is told about memory: it understands it, and does it (docs/decisions/0017). */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const HEAP = new URL('../../dist/commands/heap.js', import.meta.url).href;

/** Keeps some of what it makes, so that a nursery that may grow does. */
const SCRIPT = `
await import(process.argv[1]);
const { getHeapSpaceStatistics } = await import('node:v8');
const kept = [];
for (let i = 0; i < 3_000_000; i++) if (kept.push({ i }) > 300_000) kept.length = 0;
console.log(getHeapSpaceStatistics().find((space) => space.space_name === 'new_space').space_size);
`;

async function nurseryAfter(module: string): Promise<number> {
  const run = promisify(execFile);
  const { stdout, stderr } = await run(process.execPath, [
    '--input-type=module',
    '-e',
    SCRIPT,
    module,
  ]);
  expect(stderr).toBe('');
  return Number(stdout);
}

test('the nursery stays as small as it begins, and V8 knows the flags', async () => {
  expect(await nurseryAfter('node:os')).toBeGreaterThan(4e6);
  expect(await nurseryAfter(HEAP)).toBeLessThan(4e6);
});
