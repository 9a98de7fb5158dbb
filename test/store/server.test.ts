/** What about a server a doctor would mention. */
import { expect, it } from 'vitest';
import { readServerFacts } from '../../src/store/server.ts';
import { createTestDatabase } from '../support/database.ts';
import { openDatabase } from '../support/store.ts';

it('settings of a database that daywalk would do better without are found, with what to do', async () => {
  const server = await createTestDatabase();
  const concerns = async () => (await readServerFacts(openDatabase(server.url))).concerns;
  const before = await concerns();
  await server.query(
    `do $do$ begin
       execute format('alter database %1$I set synchronous_commit = off', current_database());
       execute format('alter database %1$I set default_transaction_isolation = ''repeatable read''', current_database());
     end $do$`,
  );
  const found = (await concerns()).filter(
    (concern) => !before.some((known) => known.found === concern.found),
  );
  expect(found).toEqual([
    {
      found:
        'synchronous_commit is off: a crash may take back the last pages; they are fetched again',
      remedy: 'Switch synchronous_commit on where the source does not keep its events for long.',
    },
    {
      found: 'the default isolation is repeatable read: statements are repeated more often',
      remedy: 'Set default_transaction_isolation to read committed for this role.',
    },
  ]);
});
