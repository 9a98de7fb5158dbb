import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['test/torture/*.torture.ts'],
    globalSetup: ['test/global-setup.ts', 'test/torture/collect.ts'],
    maxWorkers: 3,
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
});
