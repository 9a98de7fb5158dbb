/** Tests that take too long for every change, files named `.long.ts`: `npm run test:long`, a part of the nightly command. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import usual from '../vitest.config.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** Files of every change that try more variants at night. */
const BOTH = readdirSync(`${ROOT}test`, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => `test/${name}`)
  .filter((name) => readFileSync(`${ROOT}${name}`, 'utf8').includes("/support/night.ts'"));

export default defineConfig({
  test: {
    ...usual.test,
    root: ROOT,
    include: ['test/**/*.long.ts', ...BOTH],
    env: { NIGHT: 'yes' },
  },
});
