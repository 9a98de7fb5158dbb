/** `npm run fuzz -- --minutes N`: feeds every target for N minutes (1 by default), then writes what was tried into docs/reliability.md. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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
const figures = lines
  .filter((line) => line !== '')
  .map((line) => JSON.parse(line))
  .sort((one, other) => one.name.localeCompare(other.name));
const total = figures.reduce((sum, { tried }) => sum + tried, 0);
const table = [
  `${values.minutes} minutes for each target: ${total.toLocaleString('en')} inputs, ${status === 0 ? 'no findings' : 'with findings'}.`,
  '',
  '| what must hold | inputs tried | slowest run, ms |',
  '|---|---:|---:|',
  ...figures.map(
    ({ name, tried, slowest }) =>
      `| ${name} | ${tried.toLocaleString('en')} | ${Math.ceil(slowest)} |`,
  ),
].join('\n');
console.log(`\n${table}`);
const path = join(root, 'docs/reliability.md');
const page = readFileSync(path, 'utf8');
const marks = /(<!-- fuzz -->\n)[\s\S]*(<!-- \/fuzz -->)/;
if (status === 0)
  writeFileSync(
    path,
    page.replace(marks, (_, begin, end) => `${begin}${table}\n${end}`),
  );
process.exit(status ?? 1);
