/** Tests that take too long for every change, files named `.long.ts`: `npm run test:long`, a part of the nightly command. */
import { defineConfig } from 'vitest/config';
import usual from '../vitest.config.ts';

export default defineConfig({
  test: {
    ...usual.test,
    root: new URL('..', import.meta.url).pathname,
    include: ['test/**/*.long.ts'],
  },
});
