/** The times of the queries in the papers, measured by `npm run times`; never a part of `npm test`. */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/docs/*.times.ts'],
    globalSetup: ['test/global-setup.ts'],
    testTimeout: 3_600_000,
    hookTimeout: 3_600_000,
  },
});
