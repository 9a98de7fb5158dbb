/** `npm run soak -- --minutes 10`: reads the minutes and runs the soak test. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { values } = parseArgs({ options: { minutes: { type: 'string', default: '10' } } });
const minutes = Number(values.minutes);
if (!(minutes > 0 && minutes <= 600)) {
  console.error(`--minutes ${values.minutes}: a number from 1 to 600 is expected`);
  process.exit(2);
}
const { status } = spawnSync(
  process.execPath,
  [`${root}node_modules/vitest/vitest.mjs`, 'run', '--config', 'test/soak/vitest.config.ts'],
  { cwd: root, stdio: 'inherit', env: { ...process.env, SOAK_MINUTES: String(minutes) } },
);
process.exit(status ?? 1);
