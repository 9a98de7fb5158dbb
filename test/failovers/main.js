/** `npm run failovers`: goes on behind the last one that is done. With `-- --from N --count K --seed S`: K of the plan of seed S, from number N on. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { values } = parseArgs({
  options: {
    from: { type: 'string', default: '' },
    count: { type: 'string', default: '' },
    seed: { type: 'string', default: '1' },
  },
});
for (const [name, value] of Object.entries(values))
  if (!/^\d{0,9}$/.test(value)) {
    console.error(`--${name} ${value}: expected a whole number`);
    process.exit(2);
  }
const { status } = spawnSync(
  process.execPath,
  [`${root}node_modules/vitest/vitest.mjs`, 'run', '--config', 'test/failovers/vitest.config.ts'],
  {
    cwd: root,
    stdio: 'inherit',
    env: {
      ...process.env,
      FAILOVERS_FROM: values.from,
      FAILOVERS_COUNT: values.count,
      FAILOVERS_SEED: values.seed,
    },
  },
);
process.exit(status ?? 1);
