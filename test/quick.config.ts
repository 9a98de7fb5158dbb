/** The inner loop, `npm run test:quick`: the core and what is pure, without whole programs and without long properties. */
import { configDefaults, defineConfig } from 'vitest/config';
import usual from '../vitest.config.ts';

export default defineConfig({
  test: {
    ...usual.test,
    root: new URL('..', import.meta.url).pathname,
    include: [
      'test/*.test.ts',
      'test/{archive,cli,days,notify,plan,settings,simulator}/**/*.test.ts',
      'test/{source,store,walk,retention,ledger}/*.test.ts',
    ],
    exclude: [
      ...configDefaults.exclude,
      '**/*-property.test.ts',
      'test/walk/{every-step,found,odd-sources,requests,together}.test.ts',
      'test/source/{finding-the-limit,real-servers}.test.ts',
      'test/store/{body-repair,commit,roles}.test.ts',
      'test/ledger/verify-*.test.ts',
    ],
  },
});
