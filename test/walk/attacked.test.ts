/** Sources, histories and moments for which the engine was not built: each of these tests fails, and says what it would take to be right. */
import { describe, expect, it } from 'vitest';
import { RequestError, UnavailableError } from '../../src/errors.ts';
import type { TestDatabase } from '../support/database.ts';
import { letTimePass } from '../support/pass-time.ts';
import { freshStore, records } from '../support/store.ts';
import {
  closedDays,
  type Exporting,
  exported,
  newStream,
  readResults,
  runOnce,
  SETTLE_MS,
} from './exporting.ts';
import { type Habits, ImaginedSource, secondOf } from './imagined-source.ts';
import { everyDay, live } from './life.ts';

let server: TestDatabase;
const [first = '', second = '', third = ''] = closedDays(3);
const DAY_MS = 86_400_000;

freshStore((store) => {
  ({ server } = store);
});

const body = (list: readonly string[], total: number | null) =>
  `{${total === null ? '' : `"total":${total},`}"data":[${list.join(',')}]}`;
const later = (interval: string) =>
  letTimePass((sql, values) => server.query(sql, values), interval);

/** Teaches a stream something, as if a day before had shown it. */
async function teach(exporting: Exporting, facts: Readonly<Record<string, unknown>>) {
  await runOnce({ ...exporting, signal: AbortSignal.abort() }).catch(() => {});
  for (const [fact, value] of Object.entries(facts))
    await server.query(
      `insert into daywalk.learned (stream_id, fact, value, evidence)
       select stream_id, $1, $2::jsonb, 'another day' from daywalk.streams where name = $3`,
      [fact, JSON.stringify(value), exporting.stream.name],
    );
}

/** How each day stands, with the records that readers see. */
const endsOf = async ({ stream }: Exporting) =>
  [...(await readResults(server, stream)).values()].map(
    ({ state, published }) => `${state} ${published.length}`,
  );

describe('known answers', () => {
  it.each([0, 3])(
    'that show the records of somebody else are not as ever, recheck_days %i',
    async (recheckDays) => {
      // At noon of day 4 the key of another tenant takes the place of this one's.
      const { ends, lost } = await live(server, {
        ...{ count: 9, recheckDays, runs: everyDay(1, 8), sizeOf: () => 24, idPath: ['id'] },
        shows: (now, { number }) => (now < 4.5 ? number < 12 : number >= 12),
      });
      expect(ends.slice(4).filter((end) => end.startsWith('complete'))).toEqual([]);
      expect(lost).toEqual([]);
    },
  );

  it.each([
    ['none', 12],
    ['exact', 90],
  ] as const)(
    'that are walked again, and lack two thirds then, are none any more, totals %s, a day of %i',
    async (totals, size) => {
      const { ends } = await live(server, {
        ...{ count: 9, recheckDays: 7, totals, runs: everyDay(1, 8) },
        // The stream is quiet: one day is known when its key is narrowed.
        sizeOf: (day) => (day === 0 ? size : [5, 6].includes(day) ? 12 : 0),
        shows: (now, { number }) => now < 5.5 || number % 3 === 0,
      });
      expect(ends.slice(5, 7).filter((end) => end === 'complete 4')).toEqual([]);
    },
  );

  it('that are walked again by a narrowed key are none, where older ones are forgotten', async () => {
    const { ends } = await live(server, {
      ...{ count: 14, recheckDays: 1 },
      runs: [...everyDay(1, 7), ...everyDay(10, 13)],
      shows: (now, { at, number }) => now < at + 6.5 && (now < 6.8 || number % 3 === 0),
    });
    expect(ends.slice(6).filter((end) => end === 'complete 4')).toEqual([]);
  });

  it('that lack a third of what they held are not as ever', async () => {
    const { ends } = await live(server, {
      ...{ count: 9, recheckDays: 7, runs: everyDay(1, 8) },
      shows: (now, { number }) => now < 4.5 || number % 3 !== 0,
    });
    expect(ends.slice(4).filter((end) => end.startsWith('complete'))).toEqual([]);
  });
});

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

describe('a day that is too much for its source, which answers it with nothing', () => {
  // As behind `catch { return { total: 0, data: [] } }`: a part of the day is answered.
  it('is not empty', async () => {
    const source = new ImaginedSource(
      { [first]: records(1_000, 30), [second]: records(2_000, 300), [third]: records(3_000, 30) },
      { totals: 'exact', arrange: (list) => (list.length > 200 ? [] : list) },
    );
    const exporting = { server, source, stream: newStream(), since: first, pageLength: 50 };
    expect((await exported(exporting)).get(second)?.published.length).not.toBe(0);
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

it.each([5, 7])(
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

it('a day is not complete before it is over, though the clock of the database was ahead for a run', async () => {
  const AHEAD = 6.02;
  const early: string[] = [];
  await live(server, {
    ...{ count: 8, recheckDays: 7 },
    // It is 3.05 when the database says that it is 6.02; then its clock is right again.
    runs: [1.02, 2.02, 3.02, AHEAD, 3.1, 4.02, 4.1, 5.02, 5.1],
    shows: (now, { at }) => at <= (now === AHEAD ? 3.05 : now),
    after: async (now) => {
      if (now === AHEAD || now < 4) return;
      const complete = await server.query<{ day: string; records: number }>(
        `select day::text, records::int from daywalk.coverage where state = 'complete' order by day`,
      );
      for (const { day, records: shown } of complete) if (shown < 12) early.push(`${now}: ${day}`);
    },
  });
  expect(early).toEqual([]);
});

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

describe('a failure that the frame tells', () => {
  // Elasticsearch and OpenSearch across clusters, where one that is away may be skipped.
  it('of a cluster that was skipped', async () => {
    const frame = '{"_clusters":{"total":2,"successful":1,"skipped":1},"hits":{"hits":[]}}';
    const [said] = await server.query(
      `select fault from daywalk.frame_says($1::jsonb, '{hits,hits}', 200)`,
      [frame],
    );
    expect(said?.fault).toMatch(/_clusters/);
  });
});

it.each([
  '{"error":"No error","data":[]}',
  '{"error":{"code":0,"message":"Success."},"data":[]}',
  '{"error_code":"0000","data":[]}',
  '{"code":1000,"data":[]}',
])('a frame that tells of no failure is a page: %s', async (frame) => {
  const [said] = await server.query(
    `select fault from daywalk.frame_says($1::jsonb, '{data}', 200)`,
    [frame],
  );
  expect(said).toEqual({ fault: null });
});

it('a page that is shorter than others were is no union where one question is answered in different ways', async () => {
  const source = new ImaginedSource(
    { [first]: records(1_000, 60), [second]: records(2_000, 30), [third]: records(3_000, 30) },
    // Records of the newer days are larger: 17 of them fill a page.
    { wrap: (list, _, { from }) => body(from < second ? list : list.slice(0, 17), null) },
  );
  const exporting = { server, source, stream: newStream(), since: first, pageLength: 100 };
  await teach(exporting, { restless: true });
  await exported(exporting);
});

it('one record is no end of a list where the next one does not fit on its page', async () => {
  const LARGE = 12;
  const source = new ImaginedSource(
    { [first]: records(1_000, 60), [second]: records(2_000, 31) },
    {
      // Pages are cut by bytes: what stands at 12 and 13 is on no page together.
      wrap: (list, _, request) => {
        const cut = request.from.startsWith(second) && request.start <= LARGE;
        return body(cut ? list.slice(0, LARGE + 1 - request.start) : list, null);
      },
    },
  );
  const exporting = { server, source, stream: newStream(), since: first, pageLength: 100 };
  await exported(exporting);
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

it('a source that shows the same records whatever day is asked for has no day of them', async () => {
  const source = new ImaginedSource(
    { [first]: records(1_000, 7), [second]: [], [third]: [] },
    { arrange: () => records(1_000, 7) },
  );
  const exporting = { server, source, stream: newStream(), since: first, pageLength: 30 };
  await runOnce(exporting);
  expect((await endsOf(exporting)).filter((end) => end === 'complete 7').length).toBeLessThan(2);
});

it('records that move to the day beside them are shown once, and not told as lost', async () => {
  // From some moment on the source takes its times for those of another offset, as many do when the clocks change.
  let offset = 0;
  const source = new ImaginedSource(
    { [first]: records(1_000, 48), [second]: records(2_000, 48), [third]: records(3_000, 48) },
    { at: (record) => secondOf(record) + offset },
  );
  const exporting: Exporting = {
    ...{ server, source, stream: newStream(), since: first, pageLength: 100, recheckDays: 7 },
  };
  await runOnce(exporting);
  offset = 3_600;
  for (let run = 0; run < 3; run += 1) {
    await later('2 hours');
    await runOnce(exporting);
  }
  const twice = `select record from daywalk.shown_records group by record having count(*) > 1`;
  expect(await server.query(twice)).toEqual([]);
  const lost = await server.query<{ day: string }>(
    'select day::text from daywalk.days where lost > 0',
  );
  expect(lost.map(({ day }) => day)).toEqual([]);
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

describe('a decent API has complete days', () => {
  it('where it counts to a hundred, and tells no total of more', async () => {
    const source: ImaginedSource = new ImaginedSource(
      { [second]: records(1_000, 60), [third]: records(2_000, 300) },
      {
        wrap: (list, _, request) => {
          const count = source.within(request).length;
          return `{"total":${count > 100 ? 'null' : count},"data":[${list.join(',')}]}`;
        },
      },
    );
    const exporting = { server, source, stream: newStream(), since: second, pageLength: 50 };
    await runOnce(exporting);
    expect(await endsOf(exporting)).toEqual(['complete 60', 'complete 300']);
  });

  it.each(['none', 'exact'] as const)(
    'where a request may not reach beyond midnight, totals %s',
    async (totals) => {
      const source = new ImaginedSource(
        { [second]: records(1_000, 60), [third]: records(2_000, 30) },
        {
          totals,
          before: (_, { from, to }) => {
            if (from.slice(0, 10) !== to.slice(0, 10)) throw new RequestError(400, 'one day');
          },
        },
      );
      const exporting = { server, source, stream: newStream(), since: second, pageLength: 100 };
      await runOnce(exporting);
      expect(await endsOf(exporting)).toEqual(['complete 60', 'complete 30']);
    },
  );

  it.each([
    ['500', new UnavailableError('api', 'the result window is too large')],
    ['400', new RequestError(400, 'the result window is too large')],
  ] as const)(
    'where pages are counted by number, and answered %s behind a depth',
    async (_, error) => {
      // Numbers of pages in front of Elasticsearch: from + size is at most 42.
      const source: ImaginedSource = new ImaginedSource(
        { [second]: records(1_000, 30), [third]: records(2_000, 140) },
        {
          totals: 'exact',
          before: (_, { start, length }) => {
            if (start + length > 42) throw error;
          },
          arrange: (list, _, { start, length }) => {
            const from = Math.floor(start / length) * length;
            return [...Array<string>(start).fill(''), ...list.slice(from, from + length)];
          },
          wrap: (list, _, request) => body(list, source.within(request).length),
        },
      );
      const exporting = { server, source, stream: newStream(), since: second, pageLength: 7 };
      await runOnce(exporting);
      expect(await endsOf(exporting)).toEqual(['complete 30', 'complete 140']);
    },
  );

  it('where a page has ten records at least, or is refused', async () => {
    const source = new ImaginedSource(
      { [second]: records(1_000, 60), [third]: [] },
      {
        totals: 'exact',
        before: (_, { length }) => {
          if (length < 10) throw new RequestError(422, 'length must be 10 or more');
        },
      },
    );
    const exporting = { server, source, stream: newStream(), since: second, pageLength: 100 };
    await runOnce(exporting);
    expect(await endsOf(exporting)).toEqual(['complete 60', 'complete 0']);
  });
});
