/** `npm run fuzz -- --minutes N`: feeds every target for N minutes (1 by default), then prints a table of what was tried. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '1' } } });
const minutes = Number(values.minutes);
if (!(minutes > 0 && minutes <= 600)) {
  console.error(`--minutes ${values.minutes}: expected a number above 0, up to 600`);
  process.exit(2);
}
const folder = mkdtempSync(join(tmpdir(), 'daywalk-fuzz-'));
const file = join(folder, 'figures.ndjson');
const root = fileURLToPath(new URL('../..', import.meta.url));
const { status } = spawnSync(
  join(root, 'node_modules/.bin/vitest'),
  ['run', '--config', 'test/fuzz/vitest.config.ts'],
  {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, FUZZ_MINUTES: String(minutes), FUZZ_FIGURES: file },
  },
);
const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
rmSync(folder, { recursive: true });
console.log('\n| what must hold | inputs tried | slowest run |\n|---|---:|---:|');
for (const line of lines.sort()) {
  const { name, tried, slowest } = JSON.parse(line);
  console.log(`| ${name} | ${tried.toLocaleString('en')} | ${Math.ceil(slowest)} ms |`);
}
process.exit(status ?? 1);
