/** What `migrate` has no time for: processes, where it has several clients in one. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { readSchemaState } from '../../src/store/migrations.ts';
import { createEmptyDatabase } from '../support/database.ts';

it('an empty database is migrated once by five processes at once (D26)', async () => {
  const empty = await createEmptyDatabase();
  const { pending } = await readSchemaState(empty.url);
  const module = fileURLToPath(new URL('../../dist/store/migrations.js', import.meta.url));
  const script = `import { migrate } from ${JSON.stringify(module)}; console.log(JSON.stringify(await migrate(process.env.URL_OF_TEST)));`;
  const results = await Promise.all(
    Array.from({ length: 5 }, async () => {
      const { stdout } = await promisify(execFile)(
        process.execPath,
        ['--input-type=module', '-e', script],
        {
          env: { ...process.env, URL_OF_TEST: empty.url },
        },
      );
      return JSON.parse(stdout) as string[];
    }),
  );
  expect(await empty.query('select name from daywalk.migrations order by id')).toEqual(
    pending.map((name) => ({ name })),
  );
  expect(results.flat()).toEqual(pending);
});
