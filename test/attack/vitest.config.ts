/** `npm run attack`: every try of every attack, noted in SECURITY.md. */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['test/attack/*.test.ts'],
    globalSetup: ['test/global-setup.ts', 'test/attack/collect.ts'],
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 60_000,
  },
});
