/** Pictures of the status page for the papers, made by `npm run pictures`; never a part of `npm test`. */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/status-page/*.pictures.ts'],
    globalSetup: ['test/global-setup.ts'],
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
