/** `npm run fuzz`: the targets of the fast part, for minutes each. */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['test/fuzz/*.test.ts'],
    globalSetup: ['test/global-setup.ts', 'test/fuzz/collect.ts'],
    maxWorkers: 2,
  },
});
