import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['test/chaos/**/*.chaos.ts'],
    globalSetup: ['test/global-setup.ts', 'test/chaos/collect.ts'],
    // Two programs at a time: on two cores more of them only wait for each other.
    maxWorkers: 2,
    // For what hangs only: on a slow machine each call of a matrix takes five times as long.
    testTimeout: 3_600_000,
    hookTimeout: 120_000,
  },
});
