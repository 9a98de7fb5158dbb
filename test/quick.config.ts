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
      'test/archive/serving.test.ts',
      'test/ledger/verify-*.test.ts',
      'test/retention/many-days.test.ts',
      'test/settings/{secrets,yaml}.test.ts',
      'test/source/{finding-the-limit,real-servers}.test.ts',
      'test/store/{archive-reads,body-repair*,cancel,closed-days,commit,cuts,growing-numbers,hosts}.test.ts',
      'test/store/{injection,json-corpus,kept,migrate,pgbouncer,publish,roles,splits,unknown-outcome}.test.ts',
      'test/walk/{answers,broken-record,changing-sources,every-step,forgotten-meanwhile,found,known,large-windows}.test.ts',
      'test/walk/{later,life,looks,lost-wishes}.test.ts',
      'test/walk/{odd-sources,old-days,overlooked,requests,resumed-walks,together}.test.ts',
    ],
  },
});
