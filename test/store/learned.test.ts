/** What was learned about the API: by stream and fact, the newest at a time, and never for ever. */
import { describe, expect, it } from 'vitest';
import type { Database } from '../../src/store/database.ts';
import { forget, learn, readLearned } from '../../src/store/evidence/learned.ts';
import { Knowledge } from '../../src/walk/questions/knowledge.ts';
import type { TestDatabase } from '../support/database.ts';
import { freshStore, registerEvents } from '../support/store.ts';

let server: TestDatabase;
let database: Database;

freshStore((store) => {
  ({ server, database } = store);
});

const known = async (streamId: number) =>
  (await readLearned(database, [streamId])).map(({ fact }) => fact);

describe('what was learned', () => {
  it('is kept by stream and fact, in the place of what was known before', async () => {
    const streamId = await registerEvents(database);
    const other = await registerEvents(database, { name: 'other' });
    await learn(database, streamId, 'proven_size', 500, 'a');
    await learn(database, streamId, 'page_length', 500, 'b');
    await learn(database, streamId, 'page_length', 250, 'c');
    await learn(database, streamId, 'ignored', ['/row', '/a~1b'], 'd');
    await learn(database, other, 'calibrated', { reach: null }, 'e');
    const facts = await readLearned(database, [streamId]);
    expect(facts.map(({ fact, value, evidence }) => [fact, value, evidence])).toEqual([
      ['ignored', ['/row', '/a~1b'], 'd'],
      ['page_length', 250, 'c'],
      ['proven_size', 500, 'a'],
    ]);
    expect(await readLearned(database, [streamId, other])).toHaveLength(4);
    expect(await readLearned(database, [other])).toMatchObject([
      { stream: 'other', fact: 'calibrated', value: { reach: null }, evidence: 'e' },
    ]);
  });

  it('expires: after 30 days, what a bad hour teaches after one; learned again it is known', async () => {
    const streamId = await registerEvents(database);
    const long = ['calibrated', 'offset_cap', 'proven_size', 'reach'] as const;
    for (const fact of [...long, 'page_length', 'restless'] as const)
      await learn(database, streamId, fact, 1, 'x');
    const pass = (time: string) =>
      server.query('update daywalk.learned set learned_at = learned_at - $1::interval', [time]);
    await pass('23 hours');
    expect(await known(streamId)).toHaveLength(6);
    await pass('2 hours');
    expect(await known(streamId)).toEqual(long);
    await pass('28 days 22 hours');
    expect(await known(streamId)).toEqual(long);
    await pass('2 hours');
    expect(await known(streamId)).toEqual([]);
    await learn(database, streamId, 'offset_cap', 2, 'again');
    expect(await known(streamId)).toEqual(['offset_cap']);
  });

  it('does not expire where that is said of it', async () => {
    const streamId = await registerEvents(database);
    for (const kept of [true, false]) {
      await learn(database, streamId, 'reach', 7_200, 'x', kept);
      await server.query(`update daywalk.learned set learned_at = learned_at - interval '31 days'`);
      expect(await known(streamId)).toEqual(kept ? ['reach'] : []);
    }
  });

  it('expires also where it was learned while the clock of the database was ahead: it is of when that was put right', async () => {
    const streamId = await registerEvents(database);
    await learn(database, streamId, 'restless', true, 'x');
    const pass = (time: string) =>
      server.query('update daywalk.learned set learned_at = learned_at - $1::interval', [time]);
    await pass('-30 days');
    await registerEvents(database);
    expect(await known(streamId)).toEqual(['restless']);
    await pass('25 hours');
    expect(await known(streamId)).toEqual([]);
  });

  it('of totals that stop at a number is not taken back by a process that has seen them stop at a larger one, as long as it holds', async () => {
    const streamId = await registerEvents(database);
    const kept = async () => (await readLearned(database, [streamId])).map(({ value }) => value);
    await learn(database, streamId, 'lower_bound', 100, 'a');
    await learn(database, streamId, 'lower_bound', 500, 'b');
    expect(await kept()).toEqual([100]);
    await learn(database, streamId, 'lower_bound', 90, 'c');
    expect(await kept()).toEqual([90]);
    await server.query(`update daywalk.learned set learned_at = learned_at - interval '31 days'`);
    await learn(database, streamId, 'lower_bound', 500, 'd');
    expect(await kept()).toEqual([500]);
  });

  it('of dates that hide something is not taken back by a process that has seen them hide nothing', async () => {
    const streamId = await registerEvents(database);
    const learnHidden = (value: string, kept = false) =>
      learn(database, streamId, 'hidden_by_date', value, 'x', kept);
    expect(await learnHidden('not after')).toBe('not after');
    expect(await learnHidden('before', true)).toBe('before');
    for (const value of ['nothing', 'not before']) expect(await learnHidden(value)).toBe('before');
    expect(await learnHidden('day', true)).toBe('day');
    expect(await readLearned(database, [streamId])).toMatchObject([{ value: 'day' }]);
  });

  it('of what is not the record is added to what another process has learned', async () => {
    const streamId = await registerEvents(database);
    const ignore = (places: string[]) => learn(database, streamId, 'ignored', places, 'x');
    expect(await ignore(['/row', '[]'])).toEqual(['/row', '[]']);
    expect(await ignore(['/Age', '/row'])).toEqual(['/Age', '/row', '[]']);
    await server.query(`update daywalk.learned set learned_at = learned_at - interval '31 days'`);
    expect(await ignore(['/score'])).toEqual(['/score']);
  });

  it('is forgotten when it is in doubt, and nothing else with it', async () => {
    const streamId = await registerEvents(database);
    const other = await registerEvents(database, { name: 'other' });
    for (const id of [streamId, other]) await learn(database, id, 'reach', 60, 'x');
    await learn(database, streamId, 'empties', true, 'y');
    await forget(database, streamId, 'reach');
    expect(await known(streamId)).toEqual(['empties']);
    expect(await known(other)).toEqual(['reach']);
  });

  it('is not forgotten by a process that doubts what it knew, where another one has learned what does not expire', async () => {
    const streamId = await registerEvents(database);
    const knowledge = new Knowledge(database, streamId, []);
    await knowledge.learn('hidden_by_date', 'nothing', 'a');
    await learn(database, streamId, 'hidden_by_date', 'before', 'b', true);
    await knowledge.doubtNothingHidden();
    expect(knowledge.hiddenByDate).toBe(null);
    await knowledge.heedReach();
    expect(knowledge.hiddenByDate).toBe('before');
  });
});
