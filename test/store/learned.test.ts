/** What was learned about the API: by stream and fact, and for how long. */
import { describe, expect, it } from 'vitest';
import type { Database } from '../../src/store/database.ts';
import { learn, readLearned } from '../../src/store/learned.ts';
import type { TestDatabase } from '../support/database.ts';
import { freshStore, registerEvents } from '../support/store.ts';

let server: TestDatabase;
let database: Database;

freshStore((store) => {
  ({ server, database } = store);
});

describe('what was learned', () => {
  it('is kept by stream and fact; a proven size only grows', async () => {
    const streamId = await registerEvents(database);
    const other = await registerEvents(database, { name: 'other' });
    await learn(database, streamId, 'proven_size', 500, 'a');
    await learn(database, streamId, 'proven_size', 300, 'b');
    await learn(database, streamId, 'page_length', 500, 'c');
    await learn(database, streamId, 'page_length', 250, 'd');
    await learn(database, other, 'totals', 1, 'e');
    const facts = await readLearned(database, [streamId]);
    expect(facts.map(({ fact, value, evidence }) => [fact, value, evidence])).toEqual([
      ['page_length', 250, 'd'],
      ['proven_size', 500, 'a'],
    ]);
    expect(await readLearned(database, [streamId, other])).toHaveLength(3);
  });

  it('is forgotten after 30 days where it is a limit, and never where it is proven', async () => {
    const streamId = await registerEvents(database);
    for (const fact of ['page_length', 'offset_cap', 'proven_size', 'totals'] as const)
      await learn(database, streamId, fact, 1, 'x');
    await server.query(`update daywalk.learned set learned_at = learned_at - interval '31 days'`);
    const facts = await readLearned(database, [streamId]);
    expect(facts.map(({ fact }) => fact)).toEqual(['proven_size', 'totals']);
    await learn(database, streamId, 'offset_cap', 2, 'again');
    expect(await readLearned(database, [streamId])).toHaveLength(3);
  });
});
