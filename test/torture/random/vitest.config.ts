import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: new URL('../../..', import.meta.url).pathname,
    include: ['test/torture/random/servers.torture.ts'],
    globalSetup: ['test/global-setup.ts'],
    disableConsoleIntercept: true,
  },
});
