import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['test/mutants/**/*.mutants.ts'],
    globalSetup: ['test/global-setup.ts'],
    // Each mutant is a vitest of its own: two at a time, as there are cores.
    maxConcurrency: 2,
    testTimeout: 240_000,
    hookTimeout: 120_000,
  },
});
