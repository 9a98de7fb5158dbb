/** The tests of one mutant: those of every change, and those that take too long for it, as at night. */
import { defineConfig } from 'vitest/config';
import usual from '../../vitest.config.ts';

export default defineConfig({
  test: {
    ...usual.test,
    root: new URL('../..', import.meta.url).pathname,
    include: ['test/**/*.test.ts', 'test/**/*.long.ts'],
    env: { NIGHT: 'yes' },
  },
});
