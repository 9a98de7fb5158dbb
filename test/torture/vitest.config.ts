import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['test/torture/*.torture.ts'],
    globalSetup: ['test/global-setup.ts', 'test/torture/collect.ts'],
    maxWorkers: 3,
    // For what hangs only: a record of 100 MB takes minutes on a slow machine.
    testTimeout: 1_200_000,
    hookTimeout: 180_000,
  },
});
