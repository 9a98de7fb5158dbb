import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['test/limits/**/*.limits.ts'],
    globalSetup: ['test/global-setup.ts'],
    testTimeout: 120_000,
  },
});
