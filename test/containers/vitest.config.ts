/** `npm run containers`: the image, the compose files and the lines of docs/docker.md under a container engine of its own. */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['test/containers/*.containers.ts'],
    globalSetup: ['test/containers/engine.ts'],
    // Each step goes on where the one before has ended.
    fileParallelism: false,
    bail: 1,
    reporters: ['verbose'],
    testTimeout: 900_000,
    hookTimeout: 900_000,
  },
});
