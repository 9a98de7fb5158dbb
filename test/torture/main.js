/** `npm run torture`: all cases. With `-- --random N --seed S [--class NAME …] [--trace]`: N random servers from seed S on, of some classes only, with their requests. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    random: { type: 'string' },
    seed: { type: 'string', default: process.env.TORTURE_SEED ?? '1' },
    class: { type: 'string', multiple: true, default: [] },
    trace: { type: 'boolean', default: false },
  },
});
for (const name of ['random', 'seed'])
  if (values[name] !== undefined && !/^\d{1,9}(,\d{1,9})*$/.test(values[name])) {
    console.error(
      `--${name} ${values[name]}: expected a whole number, or several seeds with commas`,
    );
    process.exit(2);
  }
const random = values.random !== undefined;
const config = random ? 'test/torture/random/vitest.config.ts' : 'test/torture/vitest.config.ts';
const root = fileURLToPath(new URL('../..', import.meta.url));
const { status } = spawnSync(
  process.execPath,
  [`${root}node_modules/vitest/vitest.mjs`, 'run', '--config', config, ...positionals],
  {
    cwd: root,
    stdio: 'inherit',
    env: {
      ...process.env,
      TORTURE_SEED: values.seed,
      ...(random ? { TORTURE_RANDOM: values.random } : {}),
      TORTURE_CLASSES: values.class.join(' '),
      ...(values.trace ? { TORTURE_TRACE: '1' } : {}),
    },
  },
);
process.exit(status ?? 1);
