/** Sources, keys, settings and clocks that change between two runs: what is complete stays true, and what is lost is told. */
import { describe, expect, it } from 'vitest';
import { UnavailableError } from '../../src/errors.ts';
import type { PageRequest } from '../../src/model.ts';
import { listOldDays, markPruned } from '../../src/retention/rows.ts';
import { forgetContract } from '../../src/store/evidence/contracts.ts';
import { readStreams } from '../../src/store/streams.ts';
import type { TestDatabase } from '../support/database.ts';
import { andAtNight, atNight } from '../support/night.ts';
import { letTimePass } from '../support/pass-time.ts';
import { freshStore, records } from '../support/store.ts';
import {
  accept,
  closedDays,
  type Exporting,
  exported,
  newStream,
  readResults,
  runOnce,
  SETTLE_MS,
  sharedDatabase,
  teach,
} from './exporting.ts';
import { type Habits, ImaginedSource, idOf, secondsOf } from './imagined-source.ts';
import { everyDay, live } from './life.ts';
import type { Gate } from './perils.ts';

let server: TestDatabase;
const [first = '', second = '', third = ''] = closedDays(3);
const DAY_MS = 86_400_000;

freshStore((store) => {
  ({ server } = store);
});

const body = (list: readonly string[], total: number) =>
  `{"total":${total},"data":[${list.join(',')}]}`;
const later = (interval: string) => letTimePass(server, interval);

describe('a total that comes to count the page', () => {
  /** An upgraded API: `total` is now what `count` is elsewhere; it gives 25 records a page, as before. */
  function upgrading() {
    let upgraded = false;
    const source: ImaginedSource = new ImaginedSource(
      { [first]: records(1_000, 240), [second]: records(2_000, 200), [third]: records(3_000, 200) },
      {
        clamp: 25,
        wrap: (list, _, request) =>
          body(list, upgraded ? list.length : source.within(request).length),
      },
    );
    const exporting: Exporting = {
      ...{ server, source, stream: newStream(), since: first, pageLength: 1_000, recheckDays: 7 },
    };
    const upgrade = () => {
      upgraded = true;
    };
    return { exporting, upgrade };
  }

  it('makes no new day complete with its first page', async () => {
    const { exporting, upgrade } = upgrading();
    await runOnce({ ...exporting, settleMs: SETTLE_MS + DAY_MS });
    upgrade();
    await later('2 hours');
    expect((await exported(exporting)).get(third)?.published.length).toBe(200);
  });

  it.each(['that another total_path names', 'in answers that a person accepts'])(
    'makes no new day complete with its first page: one %s',
    async (how) => {
      let upgraded = false;
      const source: ImaginedSource = new ImaginedSource(
        { [first]: records(1_000, 240), [third]: records(3_000, 200) },
        {
          clamp: 25,
          wrap: (list, _, request) => {
            const told = upgraded ? list.length : source.within(request).length;
            return `{"total":${told},"count":${list.length},"data":[${list.join(',')}]}`;
          },
        },
      );
      const stream = newStream();
      const exporting = { server, source, stream, since: first, pageLength: 1_000 };
      await runOnce({ ...exporting, settleMs: SETTLE_MS + DAY_MS });
      upgraded = how.startsWith('in');
      const database = sharedDatabase(server);
      if (upgraded)
        for (const { streamId } of await readStreams(database, [stream.name]))
          await forgetContract(database, streamId);
      const named = { ...stream, totalPath: ['count'] };
      const results = await exported({ ...exporting, stream: upgraded ? stream : named });
      expect(results.get(third)).toMatchObject({ state: 'complete', published: { length: 200 } });
    },
  );

  it('tells no event as lost', async () => {
    const { exporting, upgrade } = upgrading();
    await runOnce(exporting);
    upgrade();
    for (let run = 0; run < 3; run += 1) {
      await later('2 hours');
      await runOnce(exporting);
    }
    expect(await server.query('select day from daywalk.days where lost > 0')).toEqual([]);
  });
});

it.each(andAtNight(['of every window'], ['of some windows']))(
  'a total that the first answers left out is heard where it is told later: %s',
  async (which) => {
    let told = false;
    // What is odd is in no list, of whole days or of parts.
    const shown = (record: string) => idOf(record) < 2_000 || idOf(record) % 2 === 0;
    const source: ImaginedSource = new ImaginedSource(
      { [first]: records(1_000, 12), [second]: records(2_000, 12), [third]: records(3_000, 12) },
      {
        arrange: (list) => list.filter(shown),
        wrap: (list, _, request) => {
          const whole = source.within(request);
          const isTold =
            told && (which === 'of every window' || whole.some((one) => idOf(one) >= 2_000));
          return `{"total":${isTold ? whole.length : null},"data":[${list.filter(shown).join(',')}]}`;
        },
      },
    );
    const stream = newStream();
    const exporting = { server, source, stream, since: first, pageLength: 30 };
    await runOnce({ ...exporting, settleMs: SETTLE_MS + 2 * DAY_MS });
    told = true;
    await later('2 hours');
    await runOnce(exporting);
    const results = [...(await readResults(server, stream)).values()];
    expect(results.map(({ state }) => state)).toEqual(['complete', 'failed', 'failed']);
  },
);

it('a day whose source tells no totals any more, not of its parts either, is not walked again and again', async () => {
  let upgraded = false;
  const source: ImaginedSource = new ImaginedSource(
    { [first]: records(1_000, 40), [second]: records(2_000, 40), [third]: records(3_000, 40) },
    {
      wrap: (list, _, request) =>
        upgraded ? `{"data":[${list.join(',')}]}` : body(list, source.within(request).length),
    },
  );
  const exporting = { server, source, stream: newStream(), since: first, pageLength: 30 };
  await runOnce({ ...exporting, settleMs: SETTLE_MS + DAY_MS });
  upgraded = true;
  source.asked.length = 0;
  expect((await exported(exporting)).get(third)).toMatchObject({
    ...{ state: 'failed', lastError: expect.stringContaining('daywalk accept'), walks: 2 },
  });
  expect(source.asked.length).toBeLessThan(45);
});

it('lists that come to be cut below what a page has shown before fail no day whose totals tell of the rest', async () => {
  let cut = Number.POSITIVE_INFINITY;
  const source: ImaginedSource = new ImaginedSource(
    { [first]: records(1_000, 30), [second]: records(2_000, 30), [third]: records(3_000, 56) },
    {
      arrange: (list) => list.slice(0, cut),
      wrap: (list, _, request) => body(list, source.within(request).length),
    },
  );
  const exporting = { server, source, stream: newStream(), since: first, pageLength: 30 };
  await runOnce({ ...exporting, settleMs: SETTLE_MS + DAY_MS });
  cut = 17;
  const results = await exported(exporting);
  expect(results.get(third)).toMatchObject({ state: 'complete', published: { length: 56 } });
});

describe('answers that come to say of themselves that they are partial', () => {
  it.each(
    andAtNight(
      [
        ['none', 30],
        ['exact', 8],
      ],
      [['exact', 30]],
    ),
  )('are not believed, totals %s, %i records at a time', async (totals, pageLength) => {
    /** Solr, one of whose shards is slow from the third day on, and left out. */
    const isPartial = (from: string) => from >= third;
    const source = new ImaginedSource(
      { [first]: records(1_000, 12), [second]: records(2_000, 12), [third]: records(3_000, 12) },
      {
        totals,
        arrange: (list, _, { from }) =>
          isPartial(from) ? list.filter((record) => idOf(record) % 3 !== 0) : list,
        wrap: (list, total, { from }) =>
          JSON.stringify({
            responseHeader: { status: 0, ...(isPartial(from) && { partialResults: true }) },
            response: {
              ...(total !== null && { numFound: total }),
              docs: list.map((record) => JSON.parse(record)),
            },
          }),
      },
    );
    const stream = newStream();
    await runOnce({ server, source, stream, since: first, pageLength, recheckDays: 7 });
    const results = [...(await readResults(server, stream)).values()];
    expect(results.map(({ published }) => published.length)).toEqual([12, 12, 0]);
    expect(results[2]).toMatchObject({ state: 'failed' });
  });
});

describe('what a look has found is not forgotten', () => {
  /** Answers that depend on the address: kept for a day by a cache, or given by one of two replicas, of which one has nothing late. */
  const byAddress: Readonly<Record<string, (late: ReadonlySet<string>) => Habits['arrange']>> = {
    'a cache answers an address that was asked for before': () => {
      const kept = new Map<string, readonly string[]>();
      return (list, _, request) => {
        const address = JSON.stringify(request);
        kept.set(address, kept.get(address) ?? list);
        return kept.get(address) ?? list;
      };
    },
    'a replica that lags answers the address of the whole day': (late) => (list, _, request) =>
      request.length === 30 ? list.filter((record) => !late.has(record)) : list,
  };

  it.each(Object.keys(byAddress))('where %s', async (name) => {
    const late = records(3_012, 3);
    const source = new ImaginedSource(
      { [first]: records(1_000, 12), [second]: records(2_000, 12), [third]: records(3_000, 12) },
      { totals: 'exact', arrange: byAddress[name]?.(new Set(late)) ?? ((list) => list) },
    );
    const exporting: Exporting = {
      ...{ server, source, stream: newStream(), since: first, pageLength: 30, recheckDays: 7 },
    };
    await runOnce(exporting);
    source.lists.set(`${third} 00:00:00`, [...records(3_000, 12), ...late]);
    await later('2 hours');
    await exported(exporting);
  });
});

it.each(andAtNight([5], [7]))(
  'events that a source keeps for %i days are not told as lost while a part of their day is shown',
  async (keeps) => {
    const told = new Set<string>();
    await live(server, {
      ...{ count: keeps + 3, recheckDays: 7 },
      // By the hour, as by default, when the first days are forgotten.
      runs: [
        ...everyDay(1, keeps - 1),
        ...Array.from({ length: 12 }, (_, at) => keeps + 0.02 + at / 6),
      ],
      shows: (now, { at }) => now < at + keeps,
      after: async () => {
        const lost = `select day::text from daywalk.days where lost > 0 and retired_since is null`;
        for (const { day } of await server.query<{ day: string }>(lost)) told.add(day);
      },
    });
    // Nothing before the first day was ever seen: nobody can know that it was forgotten.
    expect([...told]).toEqual(closedDays(keeps + 3).slice(0, 1));
  },
);

it.each([6.02, 4.02])(
  'a day is not complete before it is over, though the clock of the database was ahead for a run, at %f',
  async (ahead) => {
    const early: string[] = [];
    await live(server, {
      ...{ count: 8, recheckDays: 7 },
      // It is 3.05 when the database says that it is later; then its clock is right again.
      runs: [1.02, 2.02, 3.02, ahead, 3.1, 4.02, 4.1, 5.02, 5.1],
      shows: (now, { at }) => at <= (now === ahead ? 3.05 : now),
      after: async (now) => {
        if (now === ahead || now < 4) return;
        const complete = await server.query<{ day: string; records: number }>(
          `select day::text, records::int from daywalk.coverage where state = 'complete' order by day`,
        );
        for (const { day, records: shown } of complete)
          if (shown < 12) early.push(`${now}: ${day}`);
      },
    });
    expect(early).toEqual([]);
  },
);

it.each([
  ['a person accepted its source', 'accepted_at', 0],
  ['known answers were not what they were', 'distrusted_since', 4],
])(
  'a key that comes to show nothing of older days is not believed, though the clock of the database was days ahead when %s',
  async (_, column, seen) => {
    let isNarrowed = false;
    const source = new ImaginedSource(
      {
        [first]: records(1_000, 12),
        [second]: records(2_000, 12),
        [third]: records(3_000, 12),
      },
      {
        arrange: (list) => (isNarrowed ? list.filter((one) => idOf(one) >= 3_012 - seen) : list),
      },
    );
    const exporting = { server, source, stream: newStream(), since: first, pageLength: 30 };
    const before = { ...exporting, settleMs: SETTLE_MS + DAY_MS };
    await runOnce(before);
    await server.query(
      `update daywalk.streams set ${column} = clock_timestamp() + interval '20 days' where name = $1`,
      [exporting.stream.name],
    );
    await later('2 hours');
    await runOnce(before);
    isNarrowed = true;
    await runOnce(exporting);
    expect((await readResults(server, exporting.stream)).get(third)?.state).toBe('failed');
  },
);

it('events that are deleted behind a deleted day are told as lost, though it may have been forgotten', async () => {
  const { lost } = await live(server, {
    ...{ count: 8, recheckDays: 9, runs: everyDay(1, 8) },
    shows: (now, { day, number }) => now < 5.5 || (day !== 2 && (day !== 3 || number < 6)),
  });
  expect(lost).toContain(3);
});

atNight(
  'events of a young day that are deleted are told as lost, though the day with records before it is forgotten',
  async () => {
    const { lost } = await live(server, {
      ...{ count: 16, recheckDays: 7, runs: everyDay(1, 16) },
      sizeOf: (day) => ([0, 12].includes(day) ? 12 : 0),
      shows: (now, { day, number, at }) =>
        now < at + 10 && (now < 14.5 || day !== 12 || number < 6),
    });
    expect(lost).toEqual([12]);
  },
);

it.each([
  ['day', 15],
  // In its last fraction of a second, which its midnight alone shows.
  ['midnight', 13],
])(
  'a %s that was proven before it was over, by the time zone of now, is walked again without a look',
  async (_, count) => {
    const at = (record: string) => (idOf(record) === 3_012 ? 86_399.7 : 40_000 + idOf(record));
    const source = new ImaginedSource({ [third]: records(3_000, 12) }, { at });
    const exporting = { server, source, stream: newStream(), since: third, pageLength: 30 };
    await runOnce(exporting);
    await server.query(
      `update daywalk.windows set due_at = null, proven_at = day + interval '12 hours' where day = $1`,
      [third],
    );
    await server.query(
      "update daywalk.streams set time_zone = 'Pacific/Kiritimati' where name = $1",
      [exporting.stream.name],
    );
    source.lists.set(`${third} 00:00:00`, records(3_000, count));
    expect((await exported(exporting)).get(third)?.published.length).toBe(count);
  },
);

it.each([
  ['time zone', { timeZone: 'Etc/GMT+12' }],
  ['settle delay', { settleMs: SETTLE_MS + 2 * DAY_MS }],
] as const)(
  'a day that was planned before it was closed, by the %s of now, waits until it is, and no longer',
  async (_, change) => {
    let isAway = true;
    const source = new ImaginedSource(
      { [second]: records(2_000, 12), [third]: records(3_000, 12) },
      {
        before: () => {
          if (isAway) throw new UnavailableError('api', 'no answer');
        },
      },
    );
    const exporting = { server, source, stream: newStream(), since: second, pageLength: 30 };
    await expect(runOnce(exporting)).rejects.toThrow('no answer');
    isAway = false;
    expect((await exported({ ...exporting, ...change })).get(third)?.state).toBe('pending');
    expect((await exported(exporting)).get(third)?.state).toBe('complete');
  },
);

it('a day that is not over by the time zone of now is not proven by a worker that holds it since before that was set', async () => {
  const source = new ImaginedSource({ [third]: records(3_000, 12) });
  const exporting = { server, source, stream: newStream(), since: third, pageLength: 30 };
  const elsewhere = { ...exporting, timeZone: 'Etc/GMT+12' };
  let isSet = false;
  const gate: Gate = async (statement, act) => {
    if (!isSet && statement?.includes('prove_window')) {
      isSet = true;
      await runOnce(elsewhere);
    }
    return act();
  };
  await runOnce({ ...exporting, gate });
  expect((await readResults(server, exporting.stream)).get(third)?.state).toBe('pending');
});

it.each([
  ['where a person accepts its source', true],
  ['where another day tells what answers mean', false],
])(
  'a day that has failed, and is not over by the time zone of now, waits until it is also %s',
  async (_, isKnown) => {
    let isAway = true;
    const source = new ImaginedSource(
      { [second]: records(2_000, 12), [third]: records(3_000, 12) },
      {
        before: (_source, { to }) => {
          if (isAway && (!isKnown || to >= third)) throw new UnavailableError('api', 'no answer');
        },
      },
    );
    const exporting = { server, source, stream: newStream(), since: second, pageLength: 30 };
    await expect(runOnce(exporting)).rejects.toThrow('no answer');
    isAway = false;
    await server.query(
      `update daywalk.windows set state = 'failed' where kind = 'day' and day = $1`,
      [third],
    );
    const corrected = { ...exporting, timeZone: 'Etc/GMT+12' };
    await runOnce(corrected);
    if (isKnown) await accept(server, exporting.stream);
    expect((await exported(corrected)).get(third)?.state).not.toBe('complete');
    expect((await exported(exporting)).get(third)?.state).toBe('complete');
  },
);

it('days are looked at for as long as recheck_days says now', async () => {
  const source = new ImaginedSource({
    ...{ [first]: records(1_000, 12), [second]: records(2_000, 12), [third]: records(3_000, 12) },
  });
  const exporting = { server, source, stream: newStream(), since: first, pageLength: 30 };
  await runOnce({ ...exporting, recheckDays: 0 });
  await later('2 hours');
  await runOnce({ ...exporting, recheckDays: 0 });
  source.lists.set(`${third} 00:00:00`, records(3_000, 15));
  await later('24 hours');
  const result = await exported({ ...exporting, recheckDays: 30 });
  expect(result.get(third)?.published.length).toBe(15);
});

it('a source that comes to ignore the time of day is not asked second by second', async () => {
  let upgraded = false;
  const stop = new AbortController();
  const source: ImaginedSource = new ImaginedSource(
    { [first]: records(1_000, 40), [second]: records(2_000, 40), [third]: records(3_000, 60) },
    {
      arrange: (list, number, request) => {
        if (number > 1_500) stop.abort();
        if (!upgraded) return list;
        const from = `${request.from.slice(0, 10)} 00:00:00`;
        return source.within({ ...request, from, to: `${request.to.slice(0, 10)} 23:59:59` });
      },
    },
  );
  const exporting: Exporting = {
    ...{ server, source, stream: newStream(), since: first, pageLength: 100 },
    signal: stop.signal,
  };
  await runOnce({ ...exporting, settleMs: SETTLE_MS + DAY_MS });
  upgraded = true;
  await runOnce(exporting).catch(() => {});
  expect(source.asked.length).toBeLessThan(1_500);
});

it('a source that comes to heed the time of day is asked for parts of a day, and for its midnights', async () => {
  let isMended = false;
  const source: ImaginedSource = new ImaginedSource(
    { [first]: records(1_000, 30), [second]: records(2_000, 30), [third]: records(3_000, 35) },
    {
      // In the last fraction of a second of each day.
      at: (record) => (idOf(record) % 1_000 === 5 ? 86_399.7 : (idOf(record) * 1_009) % 86_000),
      arrange: (list, _, request) => {
        if (isMended) return list;
        const from = `${request.from.slice(0, 10)} 00:00:00`;
        return source.within({ ...request, from, to: `${request.to.slice(0, 10)} 23:59:59.9` });
      },
    },
  );
  const exporting: Exporting = {
    ...{ server, source, stream: newStream(), since: first, pageLength: 50, recheckDays: 3 },
  };
  await runOnce({ ...exporting, settleMs: SETTLE_MS + DAY_MS });
  isMended = true;
  await later('2 hours');
  await runOnce(exporting);
  await later('2 hours');
  const states = [...(await exported(exporting)).values()].map(({ state }) => state);
  expect(states).toEqual(['complete', 'complete', 'complete']);
});

it('a source that ignores the time of day, and shows nothing of one second, is not learned anew with each midnight', async () => {
  const source: ImaginedSource = new ImaginedSource(
    { [first]: records(1_000, 31), [second]: records(2_000, 33), [third]: records(3_000, 35) },
    {
      arrange: (_, __, request) => {
        if (request.from === request.to) return [];
        const from = `${request.from.slice(0, 10)} 00:00:00`;
        return source.within({ ...request, from, to: `${request.to.slice(0, 10)} 23:59:59` });
      },
    },
  );
  const exporting: Exporting = {
    ...{ server, source, stream: newStream(), since: first, pageLength: 50, recheckDays: 3 },
  };
  await teach(exporting, { reach: 'day', proven_size: 100 });
  expect((await exported(exporting)).get(third)?.state).toBe('complete');
  expect(source.asked.length).toBeLessThan(30);
});

it('what another record hid under an id_path that was wrong is shown again without it', async () => {
  const list = (from: number) =>
    Array.from({ length: 12 }, (_, index) => `{"id": ${from + index}, "rule": ${index % 3}}`);
  const source = new ImaginedSource({ [first]: list(1_000), [second]: list(2_000) });
  const stream = newStream({ idPath: ['rule'] });
  const exporting: Exporting = {
    ...{ server, source, stream, since: first, pageLength: 30, recheckDays: 7 },
  };
  await runOnce(exporting);
  source.lists.set(`${second} 00:00:00`, list(2_000).slice(0, -1));
  const { idPath: _, ...without } = stream;
  for (const now of [stream, stream, without, without]) {
    await later('2 hours');
    await server.query(
      `update daywalk.windows set rewalk = true, due_at = clock_timestamp() where state = 'complete'`,
    );
    await runOnce({ ...exporting, stream: now });
  }
  expect((await readResults(server, stream)).get(second)?.published.length).toBe(12);
});

it('an id_path of what records came to have makes no strangers of those that were stored without it', async () => {
  const list = (from: number, isNamed: boolean) =>
    Array.from(
      { length: 12 },
      (_, index) => `{"id": ${from + index}${isNamed ? `, "key": "k${from + index}"` : ''}}`,
    );
  const source = new ImaginedSource({
    ...{ [first]: list(1_000, false), [second]: list(2_000, false), [third]: list(3_000, true) },
  });
  const stream = newStream();
  const exporting: Exporting = {
    ...{ server, source, stream, since: first, pageLength: 30, recheckDays: 7 },
  };
  await runOnce({ ...exporting, settleMs: SETTLE_MS + DAY_MS });
  for (const [day, from] of [[first, 1_000] as const, [second, 2_000] as const])
    source.lists.set(`${day} 00:00:00`, list(from, true));
  await later('2 hours');
  await runOnce({ ...exporting, stream: { ...stream, idPath: ['key'] } });
  expect((await readResults(server, stream)).get(third)).toMatchObject({
    ...{ state: 'complete', published: { length: 12 } },
  });
});

it('a value that moves on does not keep a midnight open where an id_path tells which record it is', async () => {
  let [crossed, seen] = [-1, 0];
  // When the sender was last seen: one of two sends no more.
  const list = (from: number) =>
    Array.from(
      { length: 10 },
      (_, index) => `{"id": ${from + index}, "seen": "${index % 2 === 0 ? 'moving' : 'in May'}"}`,
    );
  const source = new ImaginedSource(
    { [first]: list(1_000), [second]: list(2_000) },
    {
      at: (record) => (idOf(record) === 1_000 ? 86_399 : 40_000 + (idOf(record) % 100)),
      // They are seen again between a walk of a day and each try of its midnight.
      before: async (_, { from, to }) => {
        const [cut] = await server.query<{ failures: number }>(
          'select failures from daywalk.windows where midnight = $1',
          [first],
        );
        const { failures } = cut ?? { failures: 0 };
        if (from.slice(0, 10) !== to.slice(0, 10)) crossed = failures;
        seen = 2 * failures + (crossed === failures ? 1 : 0);
      },
      arrange: (all) => all.map((one) => one.replace('moving', `${seen}`)),
    },
  );
  const stream = newStream({ idPath: ['id'] });
  const exporting: Exporting = {
    ...{ server, source, stream, since: first, pageLength: 30, recheckDays: 7 },
  };
  for (let run = 1; run < 4; run += 1) {
    await runOnce(exporting);
    await later('2 hours');
  }
  expect([...(await readResults(server, stream)).values()]).toMatchObject([
    { state: 'complete', published: { length: 10 } },
    { state: 'complete', published: { length: 10 } },
    { state: 'complete' },
  ]);
  expect(await server.query('select from daywalk.gaps')).toEqual([]);
});

it('a record that comes late is lacking also where an id_path is set that others share', async () => {
  const LATE = '{"id": 1999, "device": "a"}';
  const list = Array.from({ length: 10 }, (_, n) => `{"id": ${1_000 + n}, "device": "a"}`);
  const source: ImaginedSource = new ImaginedSource(
    { [first]: list, [second]: records(2_000, 9) },
    {
      at: (record) => (record === LATE ? 86_399 : 40_000 + (idOf(record) % 100)),
      before: ({ lists }, { from, to }) => {
        if (from.slice(0, 10) === first && to > second)
          lists.set(`${first} 00:00:00`, [...list, LATE]);
      },
    },
  );
  const stream = newStream({ idPath: ['device'] });
  const exporting: Exporting = { server, source, stream, since: first, pageLength: 30 };
  await runOnce(exporting);
  await later('2 hours');
  await runOnce(exporting);
  expect((await readResults(server, stream)).get(first)?.published).toContain(LATE);
});

describe('a source that finds a record by either of two of its times', () => {
  const made = (record: string) => Number(/"made": (\d+)/.exec(record)?.[1]);
  const changed = (record: string) => Number(/"changed": (\d+)/.exec(record)?.[1]);
  const list = Array.from({ length: 12 }, (_, index) => {
    const at = index < 6 ? 36_000 + index : 50_000 + index;
    return `{"id": ${100 + index}, "made": ${at}, "changed": ${index < 2 ? 60_000 : at}}`;
  });
  const morning = list.map((one) => one.replace(/500\d\d/g, (at) => `${Number(at) - 20_000}`));
  const found = (all: readonly string[], request: PageRequest) => {
    const [from, to] = [request.from, request.to].map(
      (time) => secondsOf(time) - secondsOf(`${third} 00:00:00`),
    ) as [number, number];
    return all.filter((one) => [made, changed].some((at) => from <= at(one) && at(one) <= to));
  };

  it.each([
    ['is complete with an id_path', ['id'], 'complete', list],
    ['is complete with one, and all of it was made before noon', ['id'], 'complete', morning],
    ['fails by its name without one', undefined, 'failed', list],
  ] as const)('%s', async (_, idPath, state, list) => {
    const source = new ImaginedSource(
      { [third]: list },
      { at: made, arrange: (_list, _number, request) => found(list, request) },
    );
    const stream = newStream(idPath ? { idPath } : {});
    await runOnce({ server, source, stream, since: third, pageLength: 30 });
    const result = (await readResults(server, stream)).get(third);
    expect(result, result?.lastError ?? '').toMatchObject({ state });
    if (state === 'failed')
      expect(result?.lastError).toMatch(/both show records that the whole shows once/);
    else expect(result?.published).toHaveLength(12);
  });
});

describe('older versions of records', () => {
  const list = (from: number, edited: boolean) =>
    Array.from(
      { length: 12 },
      (_, index) => `{"id": ${from + index}, "read": ${edited && index < 5}}`,
    );
  const editing = () => {
    const source = new ImaginedSource({
      [first]: list(1_000, false),
      [second]: list(2_000, false),
    });
    const stream = newStream({ idPath: ['id'] });
    const exporting: Exporting = {
      ...{ server, source, stream, since: first, pageLength: 30, recheckDays: 7 },
    };
    const again = async () => {
      await later('2 hours');
      await server.query(
        `update daywalk.windows set rewalk = true, due_at = clock_timestamp() where state = 'complete'`,
      );
      await runOnce(exporting);
    };
    const shown = async () => (await readResults(server, stream)).get(second)?.published.length;
    return { source, exporting, again, shown };
  };

  it('that are gone stay hidden when another stream of their resource is identified otherwise', async () => {
    const { source, exporting, again, shown } = editing();
    const other = newStream({ filters: { search: 'x' } });
    await runOnce(exporting);
    await runOnce({ ...exporting, stream: other });
    source.lists.set(`${second} 00:00:00`, list(2_000, true));
    await again();
    source.lists.set(`${second} 00:00:00`, list(2_000, true).slice(3));
    await again();
    await again();
    const before = await shown();
    await runOnce({ ...exporting, stream: { ...other, idPath: ['id'] } });
    expect(await shown()).toBe(before);
  });

  it('are shown without their id_path, which tells nothing as lost, and hidden again with it', async () => {
    const { source, exporting, again, shown } = editing();
    await runOnce(exporting);
    source.lists.set(`${second} 00:00:00`, list(2_000, true));
    await again();
    await again();
    expect(await shown()).toBe(12);
    const { idPath: _, ...without } = exporting.stream;
    await runOnce({ ...exporting, stream: without });
    expect(await server.query('select day from daywalk.days where lost > 0')).toEqual([]);
    expect(await shown()).toBe(17);
    await runOnce(exporting);
    expect(await shown()).toBe(12);
  });
});

it('a day that was pruned while the clock of the database was ahead stays pruned', async () => {
  const source = new ImaginedSource({ [first]: records(1_000, 12), [third]: records(3_000, 12) });
  const exporting: Exporting = {
    ...{ server, source, stream: newStream(), since: first, pageLength: 30, recheckDays: 2 },
  };
  await runOnce(exporting);
  const database = sharedDatabase(server);
  const old = [{ stream: exporting.stream.name, olderThanMs: 2 * DAY_MS }];
  for (const day of await listOldDays(database, 'day', old)) await markPruned(database, 'day', day);
  const shown = () => server.query('select day, records, revision from daywalk.days order by day');
  const before = await shown();
  await later('-3 hours');
  await runOnce(exporting);
  expect(await shown()).toEqual(before);
});

it.each(andAtNight<readonly [number, 'none' | 'exact']>([[99, 'none']], [[123, 'exact']]))(
  'an API that comes to cap its lists at %i has no day complete with as many, totals %s',
  async (most, totals) => {
    let cap = 9_999;
    const days = closedDays(6);
    const source: ImaginedSource = new ImaginedSource(
      Object.fromEntries(
        days.map((day, n) => [day, records(1_000 * (n + 1), n === 0 ? 240 : 150)]),
      ),
      {
        arrange: (list) => list.slice(0, cap),
        wrap: (list, _, request) =>
          totals === 'none'
            ? `{"data":[${list.join(',')}]}`
            : body(list, Math.min(cap, source.within(request).length)),
      },
    );
    const exporting: Exporting = {
      ...{
        server,
        source,
        stream: newStream(),
        since: days[0] ?? '',
        pageLength: 50,
        recheckDays: 2,
      },
    };
    for (let left = 5; left >= 0; left -= 1) {
      if (left === 2) cap = most;
      await runOnce({ ...exporting, settleMs: SETTLE_MS + left * DAY_MS });
      await later('25 hours');
    }
    const results = [...(await readResults(server, exporting.stream)).values()];
    expect(results.map(({ published }) => published.length)).toEqual([
      240, 150, 150, 150, 150, 150,
    ]);
    expect(await server.query('select sum(lost)::integer as lost from daywalk.days')).toEqual([
      { lost: 0 },
    ]);
  },
);
