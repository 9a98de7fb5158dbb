/** `npm run e2e:pgbouncer`: the whole end-to-end suite with a PgBouncer in transaction mode before the database. */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: new URL('../../..', import.meta.url).pathname,
    include: ['test/e2e/*.test.ts'],
    globalSetup: ['test/global-setup.ts', 'test/e2e/pgbouncer/setup.ts'],
    maxWorkers: 3,
    testTimeout: 180_000,
    hookTimeout: 120_000,
  },
});
