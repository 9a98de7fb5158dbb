import { configDefaults, defineConfig } from 'vitest/config';
import { UNADAPTED } from './test/unadapted.ts';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // With ALL_TESTS they run as well.
    exclude: [...configDefaults.exclude, ...(process.env.ALL_TESTS ? [] : UNADAPTED)],
    globalSetup: ['test/global-setup.ts'],
    reporters: ['default', './test/support/missing-programs.ts'],
    // Most of the time is spent waiting for Postgres.
    maxWorkers: 3,
    // For what hangs only: a machine may be slow, and stand still for seconds.
    testTimeout: 180_000,
    hookTimeout: 120_000,
  },
});
