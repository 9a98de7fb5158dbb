/** Tests that take too long for every change, files named `.long.ts`: `npm run test:long`, a part of the nightly command. */
import { defineConfig } from 'vitest/config';
import usual from '../vitest.config.ts';

/** Files of every change that try more variants at night: those that import `test/support/night.ts`. */
const BOTH = [
  'source/real-servers',
  'walk/every-step',
  'walk/forgotten-meanwhile',
  'walk/life',
  'walk/narrowed-keys',
  'walk/old-days',
  'walk/requests',
].map((name) => `test/${name}.test.ts`);

export default defineConfig({
  test: {
    ...usual.test,
    root: new URL('..', import.meta.url).pathname,
    include: ['test/**/*.long.ts', ...BOTH],
    env: { NIGHT: 'yes' },
  },
});
