/** What V8 is told about memory: it understands it, and does it (docs/decisions/0017). */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const HEAP = new URL('../../dist/cli/heap.js', import.meta.url).href;

/** Keeps some of what it makes, so that a nursery that may grow does. */
const KEEPING = `
await import(process.argv[1]);
const { getHeapSpaceStatistics } = await import('node:v8');
const kept = [];
for (let i = 0; i < 1_000_000; i++) if (kept.push({ i }) > 300_000) kept.length = 0;
console.log(getHeapSpaceStatistics().find((space) => space.space_name === 'new_space').space_size);
`;

/** Replaces what it keeps again and again, and tells the most that the heap ever held. */
const REPLACING = `
const { keepHeapSmall } = await import(process.argv[1]);
if (process.argv[2] === 'small') keepHeapSmall();
const kept = [];
let most = 0;
for (let i = 0; i < 1_000_000; i++) {
  kept[i % 100_000] = { i, list: [i] };
  if (i % 10_000 === 0) most = Math.max(most, process.memoryUsage().heapUsed);
}
console.log(most);
`;

/** The number that the script prints; V8 has nothing to say against its flags. */
async function told(script: string, ...args: string[]): Promise<number> {
  const run = promisify(execFile);
  const { stdout, stderr } = await run(process.execPath, [
    '--input-type=module',
    '-e',
    script,
    ...args,
  ]);
  expect(stderr).toBe('');
  return Number(stdout);
}

test('the nursery stays as small as it begins, and V8 knows the flags', async () => {
  expect(await told(KEEPING, 'node:os')).toBeGreaterThan(4e6);
  expect(await told(KEEPING, HEAP)).toBeLessThan(4e6);
});

test('for verbs that fetch pages less that is dead piles up in the heap', async () => {
  const [large, small] = [await told(REPLACING, HEAP), await told(REPLACING, HEAP, 'small')];
  expect(small).toBeLessThan(0.7 * large);
});
