import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Each takes longer than 35 s; much of it is waiting, for a minute to be over or for an outage to end. */
const LONGEST = [
  'walk/odd-sources',
  'walk/overlooked',
  'walk/found',
  'walk/life',
  'walk/one-second',
  'walk/changing-sources',
  'walk/every-step',
  'embedded/sharing',
  'e2e/worker',
  'e2e/embedded',
  'e2e/demo',
  'e2e/prune',
  'e2e/secrets',
  'e2e/rate',
  'e2e/which-database',
  'e2e/away-and-refused',
  'tier/moving',
  'tier/moved-archive',
  'torture/fast',
  'chaos/fast',
].map((name) => `/test/${name}.test.ts`);

/** A fresh clone knows the sizes of files, not how long they take; one that waits must not begin when all others have ended. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) =>
      LONGEST.some((path) => moduleId.endsWith(path));
    return (await super.sort(files)).sort((a, b) => Number(isLong(b)) - Number(isLong(a)));
  }
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/global-setup.ts'],
    // Modules are imported once a worker, not once a file: a tenth of all the work.
    isolate: false,
    setupFiles: ['test/support/every-file.ts'],
    reporters: ['default', './test/support/missing-programs.ts'],
    sequence: { sequencer: LongestFirst },
    // Most of the time is spent waiting for Postgres.
    maxWorkers: 4,
    // For what hangs only: a machine may be slow, and stand still for seconds.
    testTimeout: 180_000,
    hookTimeout: 120_000,
  },
});
