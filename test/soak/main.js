/** `npm run soak -- --minutes 10 --upgrade-from v1`: reads the minutes and the commit, and runs the soak test. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    'upgrade-from': { type: 'string', default: '' },
  },
});
const refuse = (why) => {
  console.error(why);
  process.exit(2);
};
const minutes = Number(values.minutes);
if (!(minutes > 0 && minutes <= 600))
  refuse(`--minutes ${values.minutes}: a number from 1 to 600 is expected`);
const from = values['upgrade-from'];
if (from !== '') {
  const git = (...args) => spawnSync('git', args, { cwd: root }).status === 0;
  if (!git('rev-parse', '--verify', '--quiet', `${from}^{commit}`))
    refuse(`--upgrade-from ${from}: no commit of this repository has that name`);
  // The dump of them is no migration.
  if (!git('diff', '--quiet', from, '--', 'migrations', ':!migrations/schema.sql'))
    refuse(
      `--upgrade-from ${from}: its migrations are others than those here, so that both builds cannot work side by side; name a commit with the same migrations`,
    );
}
const { status } = spawnSync(
  process.execPath,
  [`${root}node_modules/vitest/vitest.mjs`, 'run', '--config', 'test/soak/vitest.config.ts'],
  {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, SOAK_MINUTES: String(minutes), SOAK_UPGRADE_FROM: from },
  },
);
process.exit(status ?? 1);
