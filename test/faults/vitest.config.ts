/** `npm run faults`: a real Postgres that is stopped, filled up, cut off and replaced under the running program. */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['test/faults/*.faults.ts'],
    globalSetup: ['test/global-setup.ts'],
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
