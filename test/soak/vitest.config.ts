import { defineConfig } from 'vitest/config';

const minutes = Number(process.env.SOAK_MINUTES ?? 10);

export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['test/soak/**/*.soak.ts'],
    globalSetup: ['test/global-setup.ts'],
    testTimeout: (minutes + 14) * 60_000,
    hookTimeout: 120_000,
  },
});
