/** `npm run failovers`: one failover after the other. */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['test/failovers/*.failovers.ts'],
    globalSetup: ['test/failovers/collect.ts'],
    reporters: ['verbose'],
    maxWorkers: 1,
    testTimeout: 300_000,
    hookTimeout: 120_000,
  },
});
