/** Streams: known by name, canonical in their filters, never continued with others (I9). */
import { describe, expect, it } from 'vitest';
import { SettingsError } from '../../src/errors.ts';
import type { Filters, Stream } from '../../src/model.ts';
import type { Database } from '../../src/store/database.ts';
import {
  canonicalFilters,
  fingerprint,
  registerStreams,
  type StreamCalendar,
} from '../../src/store/streams.ts';
import { until } from '../support/condition.ts';
import type { TestDatabase } from '../support/database.ts';
import { handDeadlines } from '../support/hand-deadlines.ts';
import { publishNext } from '../support/publishing.ts';
import { DAY, freshStore, openDatabase, planDays } from '../support/store.ts';

let server: TestDatabase;
let database: Database;

freshStore((store) => {
  ({ server, database } = store);
});

const calendar: StreamCalendar = {
  since: null,
  firstSince: '2026-03-01',
  timeZone: 'Europe/Berlin',
  settleMs: 90_000,
};
const stream = (filters: Filters = {}, change: Partial<Stream> = {}): Stream => ({
  name: 'severe',
  resource: 'events',
  filters,
  ...change,
});
const register = async (into: Database, one: Stream, by = calendar) =>
  (await registerStreams(into, [one], by))[0];
const rows = () =>
  server.query(
    'select name, resource, filters, since::text, time_zone, settle::text from daywalk.streams order by name',
  );

describe('filters', () => {
  it('are canonical: unset ones and hideread 0 left out, in the order of their names', () => {
    expect(
      JSON.stringify(
        canonicalFilters({ search: 'x', agent: '', rule_level_from: '10', hideread: '0' }),
      ),
    ).toBe('{"rule_level_from":"10","search":"x"}');
    expect(canonicalFilters({ hideread: '1' })).toEqual({ hideread: '1' });
  });

  it.each<[string, Filters, Filters, boolean]>([
    ['another order', { search: 'x', agent: 'a' }, { agent: 'a', search: 'x' }, true],
    ['an unset one', { agent: 'a' }, { agent: 'a', search: '' }, true],
    ['hideread at its default', {}, { hideread: '0' }, true],
    ['hideread', {}, { hideread: '1' }, false],
    ['another value', { agent: 'a' }, { agent: 'b' }, false],
    ['white space', { agent: 'a' }, { agent: 'a ' }, false],
    ['letter case', { agent: 'a' }, { agent: 'A' }, false],
    ['values that read alike when joined', { agent: 'a', search: 'b' }, { agent: 'a,b' }, false],
  ])('with %s give the same fingerprint, or not', (_, one, other, same) => {
    expect(fingerprint(stream(one)) === fingerprint(stream(other))).toBe(same);
  });

  it('are not all that the fingerprint is made of', () => {
    expect(fingerprint(stream())).not.toBe(fingerprint(stream({}, { resource: 'smart-event' })));
    expect(fingerprint(stream())).toBe(
      fingerprint(stream({}, { name: 'other', recordsPath: ['data'] })),
    );
  });
});

describe('a stream', () => {
  it('is made once, and found again', async () => {
    const first = await register(database, stream({ agent: 'a' }));
    expect(first).toEqual({ streamId: 1, name: 'severe', since: '2026-03-01', until: null });
    expect(await register(database, stream({ agent: 'a', search: '' }))).toEqual(first);
    expect(await rows()).toEqual([
      {
        name: 'severe',
        resource: 'events',
        filters: { agent: 'a' },
        since: '2026-03-01',
        time_zone: 'Europe/Berlin',
        settle: '00:01:30',
      },
    ]);
  });

  it.each<[string, Stream, RegExp]>([
    ['filters', stream({ agent: 'b' }), /agent=b.*agent=a/],
    ['one more filter', stream({ agent: 'a', hideread: '1' }), /agent=a, hideread=1/],
    ['no filters', stream(), /no filters/],
    ['another resource', stream({ agent: 'a' }, { resource: 'smart-event' }), /smart-event/],
  ])('never continues with other %s, and nothing of it changes (I9)', async (_, changed, told) => {
    await register(database, stream({ agent: 'a' }));
    const before = await rows();
    const other = { ...calendar, since: '2020-01-01', timeZone: 'UTC', settleMs: 0 };
    const error = await register(database, changed, other).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(SettingsError);
    expect(error).toMatchObject({
      message: expect.stringMatching(told),
      hint: expect.stringContaining('severe-2'),
    });
    expect(await rows()).toEqual(before);
  });

  it('keeps its first day until another one is set; zone and settle delay follow the settings', async () => {
    await register(database, stream());
    const later = { ...calendar, firstSince: '2026-06-01', timeZone: 'UTC', settleMs: 0 };
    expect((await register(database, stream(), later))?.since).toBe('2026-03-01');
    expect((await register(database, stream(), { ...later, since: '2025-01-01' }))?.since).toBe(
      '2025-01-01',
    );
    expect(await rows()).toMatchObject([
      { since: '2025-01-01', time_zone: 'UTC', settle: '00:00:00' },
    ]);
  });

  it('is of no time zone that Postgres does not know: nothing is kept of it, and another one is taken', async () => {
    const unknown = { ...calendar, timeZone: 'Europe/Nowhere' };
    await expect(register(database, stream(), unknown)).rejects.toMatchObject({
      name: 'SettingsError',
      message: 'Postgres does not know the time zone Europe/Nowhere',
      hint: expect.stringContaining('timezone'),
    });
    expect(await rows()).toEqual([]);
    await register(database, stream());
    await expect(register(database, stream(), unknown)).rejects.toThrow(SettingsError);
    expect(await rows()).toMatchObject([{ time_zone: 'Europe/Berlin' }]);
  });

  it('keeps what identifies its records, as the settings say it now', async () => {
    const paths = () => server.query('select id_path from daywalk.streams');
    await register(database, stream({}, { idPath: ['_id'] }));
    expect(await paths()).toEqual([{ id_path: ['_id'] }]);
    await register(database, stream({}, { idPath: ['data', 'a,"b'] }));
    expect(await paths()).toEqual([{ id_path: ['data', 'a,"b'] }]);
    await register(database, stream());
    expect(await paths()).toEqual([{ id_path: null }]);
  });

  it.each([
    ['is identified otherwise', (hasty: Database) => planDays(hasty, [DAY], { idPath: ['id'] })],
    [
      'has a day proven',
      (hasty: Database, streamId: number) => publishNext(hasty, streamId, [[1]]),
    ],
  ])(
    '%s for longer than a statement may take, as all that is stored may be read for it',
    async (_, work) => {
      const streamId = await planDays(database, [DAY, '2026-03-09']);
      await publishNext(database, streamId, [[1]]);
      const holder = await server.pool.connect();
      await holder.query('begin');
      await holder.query('select daywalk.lock_stream($1)', [streamId]);
      const deadlines = handDeadlines();
      const hasty = openDatabase(server.url, { clock: deadlines.clock, patienceMs: 0 });
      const worked = work(hasty, streamId).then(
        () => 'done',
        (error: Error) => error.message,
      );
      const waiting = `select from pg_locks join pg_database d on d.oid = database
      where locktype = 'advisory' and not granted and datname = current_database()`;
      await until(
        'what waits for the stream',
        async () => (await server.query(waiting)).length > 0,
      );
      deadlines.pass(60_000);
      await holder.query('commit');
      holder.release();
      expect(await worked).toBe('done');
      expect(await server.query('select from daywalk.days where unshared')).toEqual([]);
    },
  );

  it('is one stream when many processes make it at once', async () => {
    const others = Array.from({ length: 5 }, () => openDatabase(server.url, { connections: 2 }));
    const made = await Promise.all([...others, ...others].map((one) => register(one, stream())));
    expect(new Set(made.map((one) => one?.streamId)).size).toBe(1);
    expect(await rows()).toHaveLength(1);
  });

  it('is registered with the others, in the order given, by many processes in any order', async () => {
    const names = ['c', 'a', 'b'];
    const streams = names.map((name) => stream({ agent: name }, { name }));
    const others = Array.from({ length: 6 }, () => openDatabase(server.url, { connections: 2 }));
    const made = await Promise.all(
      others.map((one, index) =>
        registerStreams(one, index % 2 === 0 ? streams : streams.toReversed(), calendar),
      ),
    );
    expect(made.map((found) => found.map(({ name }) => name))).toEqual(
      others.map((_, index) => (index % 2 === 0 ? names : names.toReversed())),
    );
    expect((await rows()).map(({ name, filters }) => [name, filters])).toEqual([
      ['a', { agent: 'a' }],
      ['b', { agent: 'b' }],
      ['c', { agent: 'c' }],
    ]);
  });

  it('that was changed is named among others that were not (I9)', async () => {
    const [one, other] = [stream(), stream({}, { name: 'other' })];
    await registerStreams(database, [one, other], calendar);
    await expect(
      registerStreams(database, [one, { ...other, filters: { agent: 'x' } }], calendar),
    ).rejects.toThrow(/^stream other asks for .*agent=x/);
  });
});
