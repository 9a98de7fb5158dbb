/** `npm run fuzz -- --minutes N`: feeds every target for N minutes (1 by default), then writes what was tried into docs/reliability.md. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '1' } } });
const minutes = Number(values.minutes);
if (!(minutes > 0 && minutes <= 600)) {
  console.error(`--minutes ${values.minutes}: expected a number above 0, up to 600`);
  process.exit(2);
}
const root = fileURLToPath(new URL('../..', import.meta.url));
const { status } = spawnSync(
  process.execPath,
  [`${root}node_modules/vitest/vitest.mjs`, 'run', '--config', 'test/fuzz/vitest.config.ts'],
  { cwd: root, stdio: 'inherit', env: { ...process.env, FUZZ_MINUTES: String(minutes) } },
);
process.exit(status ?? 1);
