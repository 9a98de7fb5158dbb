import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/global-setup.ts'],
    reporters: ['default', './test/support/missing-programs.ts'],
    // Most of the time is spent waiting for Postgres.
    maxWorkers: 3,
    // For what hangs only: a machine may be slow, and stand still for seconds.
    testTimeout: 180_000,
    hookTimeout: 120_000,
  },
});
