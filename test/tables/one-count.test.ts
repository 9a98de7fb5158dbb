/** A plain count is right: an event stands once in the views of its resource, whatever streams there are. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Stream } from '../../src/model.ts';
import type { Database } from '../../src/store/database.ts';
import type { TestDatabase } from '../support/database.ts';
import { letHoursPass, proveCutOf, proveTexts, textsOf, windowOf } from '../support/publishing.ts';
import { clear, DAY, freshStore, planBareDays, planDays } from '../support/store.ts';

const NEXT_DAY = '2026-03-06';

let database: Database;
let server: TestDatabase;
freshStore((store) => {
  ({ database, server } = store);
});

const filtered = (name: string, level: string): Partial<Stream> => ({
  name,
  filters: { rule_level_from: level },
});

/** A stream of a resource with a day of these records. */
async function show(stream: Partial<Stream>, texts: readonly string[]): Promise<void> {
  const streamId = await planBareDays(database, [DAY], stream);
  await proveTexts(database, await windowOf(database, streamId, DAY), [texts]);
}

const counted = async (view = 'events'): Promise<string[]> =>
  (
    await server.query<{ record: string }>(`select record::text from daywalk.${view} order by 1`)
  ).map(({ record }) => record);

describe('streams of one resource', () => {
  it('beside one without filters add what only they have, and nothing else', async () => {
    await show(filtered('severe', '12'), ['{"id": 1}', '{"id": 2}']);
    await show({}, ['{"id": 1}', '{"id": 3}']);
    expect(await counted()).toEqual(['{"id": 1}', '{"id": 2}', '{"id": 3}']);
    expect(await counted('stream_severe')).toEqual(['{"id": 1}', '{"id": 2}']);
    const [shared] = await server.query(
      'select count(*)::int as records from daywalk.shared_records',
    );
    expect(shared).toEqual({ records: 1 });
  });

  it('beside one without filters that shows all of them are in views of their own only', async () => {
    await show(filtered('severe', '12'), ['{"id": 1}', '{"id": 2}']);
    expect(await counted()).toEqual(['{"id": 1}', '{"id": 2}']);
    await show({}, ['{"id": 1}', '{"id": 2}', '{"id": 3}']);
    expect(await counted()).toEqual(['{"id": 1}', '{"id": 2}', '{"id": 3}']);
    expect(await counted('stream_severe')).toEqual(['{"id": 1}', '{"id": 2}']);
    expect(await counted('events_now')).toHaveLength(3);
  });

  it('that have filters show once what they share, twins as often as the one that has most', async () => {
    await show(filtered('severe', '12'), ['{"id": 1}', '{"id": 2}', '{"id": 2}']);
    await show(filtered('odd-ones', '13'), ['{"id": 2}', '{"id": 3}', '{"id": 2}', '{"id": 2}']);
    expect(await counted()).toEqual([
      '{"id": 1}',
      '{"id": 2}',
      '{"id": 2}',
      '{"id": 2}',
      '{"id": 3}',
    ]);
    expect(await counted('stream_odd_ones')).toHaveLength(4);
  });

  it('are told apart by identity where they have one', async () => {
    const idPath = ['id'];
    await show({ ...filtered('severe', '12'), idPath }, ['{"id": 1, "read": true}']);
    await show({ ...filtered('odd', '13'), idPath }, ['{"id": 1, "read": false}', '{"id": 3}']);
    expect(await counted()).toEqual(['{"id": 1, "read": true}', '{"id": 3}']);
  });

  it('are told apart by identity also where one came before records were identified', async () => {
    await show({}, ['{"id": 1, "read": true}']);
    await server.query(`update daywalk.streams set id_path = '{id}'`);
    await show({ ...filtered('odd', '13'), idPath: ['id'] }, ['{"id": 1, "read": false}']);
    expect(await counted()).toEqual(['{"id": 1, "read": true}']);
  });

  it.each([
    ['in one of them only', {}, '{id}', {}],
    ['by another field than before', { idPath: ['id'] }, '{key}', { idPath: ['key'] }],
  ])('that are identified %s show once what they share', async (_, then, now, other) => {
    const texts = ['{"id": 1, "key": 8}', '{"id": 2, "key": 9}'];
    await show(then, texts);
    await server.query('update daywalk.streams set id_path = $1', [now]);
    await show({ ...filtered('severe', '12'), ...other }, texts);
    expect(await counted()).toEqual(texts);
  });

  it('are told apart by identity also under another name of one without filters, and shown as that has them', async () => {
    await show({}, ['{"id": 1, "read": false}', '{"id": 2}']);
    await show({ name: 'all', idPath: ['id'] }, ['{"id": 1, "read": true}']);
    expect(await counted()).toEqual(['{"id": 1, "read": true}', '{"id": 2}']);
  });

  it('are shown as the one without filters has them that was walked last, also where it has its first name again', async () => {
    const idPath = ['id'];
    await show({ idPath }, ['{"id": 1, "state": "new"}']);
    await show({ name: 'all', idPath }, ['{"id": 1, "state": "read"}']);
    await letHoursPass(database, 2);
    const done = '{"id": 1, "state": "done"}';
    await proveTexts(database, await windowOf(database, 1, DAY), [[done]]);
    expect(await counted()).toEqual([done]);
    expect(await counted('events_now')).toEqual([done]);
  });

  it('are gone as the one without filters says that was walked last, whatever its former name showed', async () => {
    await show({}, textsOf([1, 2]));
    await show({ name: 'all' }, textsOf([1, 2]));
    for (let time = 0; time < 2; time += 1) {
      await letHoursPass(database, 2);
      await proveTexts(database, await windowOf(database, 2, DAY), [textsOf([2])]);
    }
    expect(await counted()).toEqual(textsOf([1, 2]));
    expect(await counted('events_now')).toEqual(textsOf([2]));
  });

  it('are shown once under another name of the one without filters that identifies them, also where the former had two versions', async () => {
    await show({}, ['{"id": 1, "state": "new"}']);
    const read = '{"id": 1, "state": "read"}';
    for (let time = 0; time < 2; time += 1) {
      await letHoursPass(database, 2);
      await proveTexts(database, await windowOf(database, 1, DAY), [[read]]);
    }
    await show({ name: 'all', idPath: ['id'] }, [read]);
    expect(await counted('events_now')).toEqual([read]);
  });

  it('one of which hides a record at midnight that the other has no day before for', async () => {
    const events = await planDays(database, [DAY, NEXT_DAY]);
    for (const [day, ids] of [
      [DAY, [1, 2]],
      [NEXT_DAY, [2, 3]],
    ] as const)
      await proveTexts(database, await windowOf(database, events, day), [textsOf(ids)]);
    await proveCutOf(
      database,
      await windowOf(database, events, DAY, 'cut'),
      { across: textsOf([2]), before: textsOf([2]), after: textsOf([2]) },
      { records: 0, removed: 1 },
    );
    expect(await counted()).toEqual(textsOf([1, 2, 3]));
    const severe = await planDays(database, [NEXT_DAY], filtered('severe', '12'));
    await proveTexts(database, await windowOf(database, severe, NEXT_DAY), [textsOf([2])]);
    expect(await counted()).toEqual(textsOf([1, 2, 3]));
  });

  it('one of which has no day before its first midnight show what that adds once', async () => {
    const events = await planDays(database, [NEXT_DAY]);
    const severe = await planDays(database, [DAY, NEXT_DAY], filtered('severe', '12'));
    const late = { across: textsOf([1]), before: [], after: [] };
    await proveTexts(database, await windowOf(database, severe, DAY), [[]]);
    for (const stream of [events, severe]) {
      await proveTexts(database, await windowOf(database, stream, NEXT_DAY), [textsOf([2])]);
      const midnight = await windowOf(database, stream, DAY, 'cut');
      await proveCutOf(database, midnight, late, { records: 1, removed: 0 });
    }
    expect(await counted()).toEqual(textsOf([1, 2]));
    expect(await counted('stream_severe')).toEqual(textsOf([1, 2]));
  });

  it('one of which shows it still have it, though it is gone from the other', async () => {
    await show(filtered('severe', '12'), textsOf([1]));
    await show({}, textsOf([1, 2]));
    for (let time = 0; time < 2; time += 1) {
      await letHoursPass(database, 2);
      await proveTexts(database, await windowOf(database, 2, DAY), [textsOf([2])]);
    }
    expect(await counted()).toEqual(textsOf([1, 2]));
    expect(await counted('events_now')).toEqual(textsOf([1, 2]));
  });

  it('with no identity are told apart by content', async () => {
    const idPath = ['id'];
    await show({ ...filtered('severe', '12'), idPath }, ['{"id": "", "n": 1}']);
    await show({ ...filtered('odd', '13'), idPath }, ['{"id": "", "n": 2}', '{"id": "", "n": 1}']);
    expect(await counted()).toEqual(['{"n": 1, "id": ""}', '{"n": 2, "id": ""}']);
  });

  it('of another resource have nothing to do with it', async () => {
    await show({}, ['{"id": 1}']);
    await show({ name: 'smart-event', resource: 'smart-event' }, ['{"id": 1}']);
    expect(await counted()).toEqual(['{"id": 1}']);
    expect(await counted('smart_events')).toEqual(['{"id": 1}']);
  });

  it('count each content as often as the stream that has it most often, whatever order they come in', async () => {
    const texts = fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(texts, { minLength: 2, maxLength: 3 }),
        fc.nat(3),
        async (lists, plain) => {
          await clear(server);
          for (const [number, ids] of lists.entries())
            await show(
              number === plain ? {} : filtered(`s${number}`, String(number + 1)),
              ids.map((id) => `{"id": ${id}}`),
            );
          const most = [1, 2, 3, 4].flatMap((id) => {
            const counts = lists.map((ids) => ids.filter((other) => other === id).length);
            return Array(Math.max(...counts)).fill(`{"id": ${id}}`);
          });
          expect(await counted()).toEqual(most);
        },
      ),
      { numRuns: 12 },
    );
  });
});
