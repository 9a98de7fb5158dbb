/** Days that a source refuses or shows no more because they are old: newer ones are walked, and proven ones stay. */
import { describe, expect, it } from 'vitest';
import { RequestError, SettingsError, UnavailableError } from '../../src/errors.ts';
import type { PageRequest } from '../../src/model.ts';
import { addDays } from '../../src/plan/days.ts';
import { backfill } from '../../src/walk/run.ts';
import type { TestDatabase } from '../support/database.ts';
import { exporterParts, OPTIONS } from '../support/exporter.ts';
import { closeGate } from '../support/gate.ts';
import { andAtNight } from '../support/night.ts';
import { letTimePass } from '../support/pass-time.ts';
import { leaseWindow, walkPages } from '../support/publishing.ts';
import { freshStore, records } from '../support/store.ts';
import {
  accept,
  closedDays,
  newStream,
  readResults,
  runOnce,
  SETTLE_MS,
  sharedDatabase,
  teach,
} from './exporting.ts';
import { type Habits, ImaginedSource, idOf } from './imagined-source.ts';

let server: TestDatabase;
freshStore((store) => {
  ({ server } = store);
});

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));
const isRetired = async (day: string) =>
  (
    await server.query('select from daywalk.days where day = $1 and retired_since is not null', [
      day,
    ])
  ).length > 0;
/** Of the days, without the cuts beside them. */
const windowStates = async () =>
  (await server.query(`select state from daywalk.windows where kind = 'day' order by day`)).map(
    ({ state }) => state,
  );
const LATE = '{"id": 4999}';
const TOO_OLD = new RequestError(400, 'start time must be within 7 days');

interface Days {
  readonly recheckDays?: number;
  /** Records of each day. */
  readonly size?: number;
  readonly totals?: 'exact' | 'none';
  /** The source begins no page beyond. */
  readonly depth?: number;
}

/** A source of so many days that may refuse requests from some moment on, and its export. */
function exportOf(
  count: number,
  { recheckDays = 7, size = 12, totals = 'none', depth = 1_000 }: Days = {},
) {
  const days = closedDays(count);
  let refuse: (request: PageRequest) => void | Promise<void> = () => {};
  const source = new ImaginedSource(
    Object.fromEntries(days.map((day, index) => [day, records(1_000 * (index + 1), size)])),
    {
      totals,
      before: (_, request) => {
        if (request.start >= depth) throw new RequestError(400, 'too deep');
        return refuse(request);
      },
    },
  );
  const stream = newStream();
  const [since = ''] = days;
  const sizes = { pageLength: 30, windowRecords: 60 };
  const exporting = { server, source, stream, since, ...sizes, recheckDays };
  const statesOf = async () =>
    [...(await readResults(server, stream)).values()].map(({ state }) => state);
  return {
    days,
    source,
    stream,
    statesOf,
    /** @param from another `since`. */
    run: (from = since) => runOnce({ ...exporting, since: from }),
    later: () => letTimePass(server, '24 hours'),
    refuse: (now: typeof refuse) => {
      refuse = now;
    },
    /** From now on days before this one are refused. */
    keepFrom: (oldest: string, error: Error = TOO_OLD) => {
      refuse = ({ to }) => {
        if (to < oldest) throw error;
      };
    },
    /** The midnights at the ends of this day are answered when the day itself was given up. */
    holdCuts: (day: string) => {
      const refused = refuse;
      refuse = async (request) => {
        while (request.from < day && request.to < `${day} 23` && !(await isRetired(day)))
          await nextTurn();
        return refused(request);
      };
    },
    /** `daywalk backfill --only all` of a day. */
    backfill: (day: string, concurrency = 1) =>
      backfill(
        exporterParts({ database: sharedDatabase(server), source }),
        {
          ...OPTIONS,
          ...{
            streams: [stream],
            since,
            settleMs: SETTLE_MS,
            ...sizes,
            recheckDays,
            concurrency,
          },
        },
        { from: day, to: day, newestFirst: false, only: 'all' },
        new AbortController().signal,
      ),
  };
}

it('a dozen days before the retention of a new source keep no newer day from being walked', async () => {
  const { days, run, later, statesOf, keepFrom } = exportOf(14);
  keepFrom(days[12] ?? '');
  await run();
  await later();
  await run();
  expect((await statesOf()).slice(12)).toEqual(['complete', 'complete']);
});

it('what failed before keeps nothing from its turn, though the newest day is not to be had either', async () => {
  const { days, run, refuse, later } = exportOf(14);
  refuse(({ to, from }) => {
    if (to < (days[11] ?? '') || from.startsWith(days[13] ?? '')) throw TOO_OLD;
  });
  for (let runs = 0; runs < 3; runs += 1) {
    await run();
    await later();
  }
  expect((await windowStates()).slice(11)).toEqual(['complete', 'complete', 'failed']);
});

describe('the days before the retention of a new source', () => {
  const answered = (status: number) =>
    status < 500 ? new RequestError(status, 'gone') : new UnavailableError('api', 'answered 500');

  it.each(andAtNight([400, 500], [302, 404, 410]))(
    'that are answered %i keep no newer day from being walked',
    async (status) => {
      const { days, run, statesOf, keepFrom } = exportOf(14);
      keepFrom(days[12] ?? '', answered(status));
      const { stopped } = await run();
      expect(stopped).toEqual([]);
      expect((await statesOf()).slice(11)).toEqual(['failed', 'complete', 'complete']);
    },
  );

  it('that are answered 404 are no wrong address where the newest one has no events', async () => {
    const { days, source, run, keepFrom } = exportOf(14);
    for (const day of days.slice(12)) source.lists.set(`${day} 00:00:00`, []);
    keepFrom(days[12] ?? '', answered(404));
    await run();
    expect((await windowStates()).slice(11)).toEqual(['failed', 'complete', 'complete']);
  });

  it.each([
    [404, SettingsError, 2],
    [500, UnavailableError, 3],
  ])('are no excuse where all days are answered %i', async (status, error, most) => {
    const { source, run, keepFrom } = exportOf(14);
    keepFrom('9999', answered(status));
    await expect(run()).rejects.toThrow(error);
    expect(source.asked.length).toBeLessThanOrEqual(most);
  });

  it('are no excuse where all days are refused', async () => {
    const { run, keepFrom } = exportOf(14);
    keepFrom('9999');
    expect((await run()).stopped).toHaveLength(1);
  });
});

it('a day that was never had fails, and is not forgotten, where a record lies at its midnight', async () => {
  const [first = '', second = ''] = closedDays(2);
  const stop = new AbortController();
  const source: ImaginedSource = new ImaginedSource(
    { [first]: ['{"id": 1}'], [second]: records(3_000, 12) },
    {
      // In the last fraction of a second, which no window shows.
      at: (record) => (record === '{"id": 1}' ? 86_399.7 : 7_001 * (idOf(record) - 2_999)),
      before: (_, { from, to }) => {
        if (source.asked.length > 500) stop.abort(new Error('the run does not end'));
        if (from === `${first} 00:00:00` && to > `${first} 00:05`)
          throw new RequestError(451, 'not for you');
      },
    },
  );
  const exporting = { server, source, stream: newStream(), since: first, leaseTtlMs: 500 };
  for (let run = 0; run < 3; run += 1) {
    await runOnce({ ...exporting, signal: stop.signal });
    await letTimePass(server, '7 hours');
  }
  expect(await server.query('select records::integer from daywalk.days order by day')).toEqual([
    { records: 1 },
    { records: 12 },
  ]);
  expect(await windowStates()).toEqual(['failed', 'complete']);
  expect(await isRetired(first)).toBe(false);
});

it('older days that were away for a day are looked at again, and what came late is found', async () => {
  const { days, source, run, later, statesOf, stream } = exportOf(6);
  await run();
  await later();
  const whole = new Map(source.lists);
  for (const day of days.slice(0, 5)) source.lists.set(`${day} 00:00:00`, []);
  await run();
  await later();
  await run();
  for (const [day, list] of whole) source.lists.set(day, list);
  const late = `${days[3]} 00:00:00`;
  source.lists.set(late, [...(whole.get(late) ?? []), LATE]);
  for (let day = 0; day < 2; day += 1) {
    await later();
    await run();
  }
  expect((await readResults(server, stream)).get(days[3] ?? '')?.published).toContain(LATE);
  expect(await statesOf()).toEqual(days.map(() => 'complete'));
  expect(await server.query('select from daywalk.days where retired_since is not null')).toEqual(
    [],
  );
});

describe('days that were missed for longer than the source keeps its events', () => {
  /** Two known days, a long rest, ten missed days; by now the source shows the newest of them only. */
  const rested = async (rest: string, ahead = '0 days') => {
    const all = exportOf(12, { recheckDays: 0 });
    const [, , firstMissed = ''] = all.days;
    const isMissed = (request: PageRequest) => request.to >= firstMissed;
    all.refuse((request) => {
      if (isMissed(request)) throw TOO_OLD;
    });
    await all.run().catch(() => {});
    await server.query('update daywalk.windows set shown_at = shown_at + $1::interval', [ahead]);
    // The clock of the database is right again.
    await all.run().catch(() => {});
    await server.query(
      `update daywalk.windows set proven_at = proven_at - $1::interval, looked_at = looked_at - $1::interval, shown_at = shown_at - $1::interval where proof is not null`,
      [rest],
    );
    await server.query(
      `update daywalk.windows set due_at = case when state = 'failed' then clock_timestamp() end`,
    );
    all.refuse(() => {});
    for (const day of all.days.slice(0, 11)) all.source.lists.set(`${day} 00:00:00`, []);
    await all.run().catch(() => {});
    await server.query(
      `update daywalk.windows set due_at = clock_timestamp() where state = 'failed'`,
    );
    await all.run().catch(() => {});
    return (await windowStates()).slice(2);
  };

  it.each(andAtNight([['8 days', 8]], [['9 days', 9]]))(
    'are not empty when something new is shown after %s, but for those of an age that was seen',
    async (rest, waiting) => {
      const complete = Array(10 - waiting).fill('complete');
      expect(await rested(rest)).toEqual([...Array(waiting).fill('failed'), ...complete]);
    },
  );

  it('are not empty either where those before were last seen while the clock of the database was days ahead', async () => {
    const failed = Array(8).fill('failed');
    expect(await rested('8 days', '20 days')).toEqual([...failed, 'complete', 'complete']);
  });
});

it('a day of which a cut alone has shown a record is none that its source has forgotten', async () => {
  const [first = '', second = ''] = closedDays(2);
  const source = new ImaginedSource(
    { [first]: records(1_000, 1), [second]: records(2_000, 5) },
    { at: (record) => (idOf(record) === 1_000 ? 86_399.7 : 40_000 + (idOf(record) % 100)) },
  );
  const exporting = { server, source, stream: newStream(), since: first };
  await runOnce(exporting);
  expect([...(await readResults(server, exporting.stream)).values()]).toMatchObject([
    { state: 'complete', published: records(1_000, 1) },
    { state: 'complete', published: records(2_000, 5) },
  ]);
});

describe('days that a new source refuses as they are too old', () => {
  const refusing = async () => {
    const export_ = exportOf(4);
    const [, , third = ''] = export_.days;
    export_.keepFrom(third);
    await export_.run();
    return { ...export_, third };
  };
  const gaps = () => server.query('select from daywalk.gaps');

  it('are let go of where `since` is set behind them, and the first one that is shown is complete', async () => {
    const { run, later, third } = await refusing();
    expect(await windowStates()).toEqual(['failed', 'failed', 'complete', 'complete']);
    await later();
    await run(third);
    expect(await windowStates()).toEqual(['complete', 'complete']);
    expect(await gaps()).toEqual([]);
  });

  it('are let go of while a midnight beside them is walked, which is begun anew', async () => {
    const { run, later, third } = await refusing();
    const [cut] = await server.query<{ window_id: number }>(
      `select window_id from daywalk.windows where midnight = $1::date - 1`,
      [third],
    );
    const database = sharedDatabase(server);
    await walkPages(database, await leaseWindow(database, cut?.window_id ?? 0), [[1]], {
      role: 'across',
    });
    await later();
    await run(third);
    expect(
      await server.query(
        `select outcome, reason from daywalk.walks where day < $1 and pages > 0 and outcome <> 'proven'`,
        [third],
      ),
    ).toEqual([{ outcome: 'failed', reason: 'its day is before since now' }]);
    expect(await windowStates()).toEqual(['complete', 'complete']);
    expect(await gaps()).toEqual([]);
  });

  it('are asked for again where an earlier one follows, and those that are shown then are complete', async () => {
    const { days, run, later, refuse, third } = await refusing();
    await run(third);
    refuse(() => {});
    await later();
    await run(days[0]);
    expect(await windowStates()).toEqual(['complete', 'complete', 'complete', 'complete']);
    expect(await gaps()).toEqual([]);
  });

  it('stay gaps where a backfill asked for them', async () => {
    const { days, run, backfill, third } = await refusing();
    await run(third);
    await backfill(days[0] ?? '');
    await run(third);
    expect(await windowStates()).toEqual(['failed', 'complete', 'complete']);
  });
});

it('a day before `since` of which a page is stored stays a gap', async () => {
  const { days, run, refuse, later } = exportOf(3, { size: 40 });
  const [first = '', second] = days;
  refuse(({ start, from, to }) => {
    const isWhole = from === `${first} 00:00:00` && to === `${first} 23:59:59`;
    if (from.startsWith(first) && (start > 0 || !isWhole)) throw TOO_OLD;
  });
  await run();
  await later();
  await run(second);
  expect(await server.query('select day::text from daywalk.gaps')).toContainEqual({ day: first });
});

describe('days before all that were exported, which show nothing', () => {
  /** Two days are exported; then two before them are, of which the source shows nothing, as of the first of those where it is forgotten. */
  const exportedBackwards = async (isForgotten: boolean) => {
    const days = closedDays(4);
    const [since = '', , third = '', fourth = ''] = days;
    const source = new ImaginedSource({ [third]: records(3_000, 5), [fourth]: records(4_000, 5) });
    const exporting = { server, source, stream: newStream(), since: third };
    await runOnce(exporting);
    if (isForgotten) source.lists.set(`${third} 00:00:00`, []);
    const again = async () => {
      await runOnce({ ...exporting, since });
      return (await windowStates()).slice(0, 2);
    };
    return { again, stream: exporting.stream };
  };

  it('are empty where the oldest day that was exported is still shown', async () => {
    const { again } = await exportedBackwards(false);
    expect(await again()).toEqual(['complete', 'complete']);
  });

  it('may be forgotten where that one is, until a person says that they are empty', async () => {
    const { again, stream } = await exportedBackwards(true);
    expect(await again()).toEqual(['failed', 'failed']);
    await accept(server, stream);
    expect(await again()).toEqual(['complete', 'complete']);
  });
});

it('a quiet stream whose last day with records was forgotten waits for none', async () => {
  const { days, source, run, refuse } = exportOf(20, { recheckDays: 0 });
  for (const day of days.slice(2)) source.lists.set(`${day} 00:00:00`, []);
  refuse(({ to }) => {
    if (to >= (days[10] ?? '')) throw TOO_OLD;
  });
  await run().catch(() => {});
  refuse(() => {});
  for (const day of days.slice(0, 2)) source.lists.set(`${day} 00:00:00`, []);
  await server.query(
    `update daywalk.windows set due_at = case when state = 'failed' then clock_timestamp() end`,
  );
  await run().catch(() => {});
  expect((await windowStates()).slice(10)).toEqual(Array(10).fill('failed'));
  // Each day was planned, and walked in vain or not, in the night behind it.
  await server.query('update daywalk.walks set started_at = day + 1');
  await server.query('update daywalk.pages set fetched_at = day + 1');
  await server.query(
    `update daywalk.windows set created_at = day + 1, proven_at = case when proof is not null then day + 1 end, looked_at = case when proof is not null then day + 1 end, shown_at = case when proof is not null then day + 1 end,
            due_at = case when state = 'failed' then clock_timestamp() end`,
  );
  await run().catch(() => {});
  expect(await windowStates()).toEqual(days.map(() => 'complete'));
});

describe.each(
  andAtNight<Days>(
    [{}],
    [
      { size: 240, totals: 'exact' },
      { size: 240, depth: 100 },
    ],
  ),
)('walking a proven day again (%o) that the source', (kind) => {
  const proven = async (change: Days = {}) => {
    const all = exportOf(3, { ...kind, ...change });
    await all.run();
    await all.later();
    return { ...all, oldest: all.days[0] ?? '' };
  };

  it('refuses as too old leaves it as it was proven', async () => {
    const { days, oldest, backfill, keepFrom, statesOf } = await proven();
    keepFrom(days[1] ?? '');
    await backfill(oldest);
    expect(await statesOf()).toEqual(['complete', 'complete', 'complete']);
  });

  it('refuses, with another worker at its midnight, leaves both as they were proven', async () => {
    const { days, oldest, keepFrom, statesOf, backfill, holdCuts } = await proven();
    keepFrom(days[1] ?? '');
    holdCuts(oldest);
    await backfill(oldest, 4);
    expect(await statesOf()).toEqual(['complete', 'complete', 'complete']);
  });

  it('has forgotten, as a look finds, is not told as seen like it is stored', async () => {
    const { source, oldest, run, later, statesOf } = await proven();
    source.lists.set(`${oldest} 00:00:00`, []);
    await run();
    await later();
    await run();
    expect(await statesOf()).toEqual(['complete', 'complete', 'complete']);
    expect(
      await server.query(
        'select gone::int, looked_at < retired_since as before from daywalk.coverage where retired_since is not null',
      ),
    ).toEqual([{ gone: 0, before: true }]);
    expect(await server.query('select from daywalk.events_now where day = $1', [oldest])).toEqual(
      [],
    );
  });

  it('never had events of does not tell that it has forgotten them', async () => {
    const { days, source, run, later, backfill, statesOf } = exportOf(3, kind);
    const [oldest = ''] = days;
    source.lists.set(`${oldest} 00:00:00`, []);
    await run();
    await later();
    await backfill(oldest);
    expect(await statesOf()).toEqual(['complete', 'complete', 'complete']);
    expect(await server.query('select from daywalk.days where retired_since is not null')).toEqual(
      [],
    );
  });

  it('has forgotten does not tell that its events are lost', async () => {
    const { source, oldest, backfill, later, statesOf } = await proven();
    source.lists.set(`${oldest} 00:00:00`, []);
    for (let time = 0; time < 2; time += 1) {
      await backfill(oldest);
      await later();
    }
    expect(await server.query('select gone, lost from daywalk.days where lost > 0')).toEqual([]);
    expect(await statesOf()).toEqual(['complete', 'complete', 'complete']);
  });

  it('has forgotten since, while it was in doubt, is looked at once more', async () => {
    const { days, source, stream, oldest, run, backfill, later } = await proven({
      recheckDays: 0,
    });
    await run();
    const list = source.lists.get(`${oldest} 00:00:00`) ?? [];
    source.lists.set(`${oldest} 00:00:00`, []);
    await backfill(oldest);
    expect(await isRetired(oldest)).toBe(true);
    await server.query('update daywalk.windows set due_at = null where day > $1', [oldest]);
    source.lists.set(`${oldest} 00:00:00`, [...list, LATE]);
    await later();
    await run();
    await run();
    expect((await readResults(server, stream)).get(days[0] ?? '')?.published).toContain(LATE);
  });
});

it.each(andAtNight<Days>([{ size: 240, totals: 'exact' }], [{ size: 240, depth: 100 }]))(
  'a large day (%o) of which a part is found empty first was forgotten, and is not walked',
  async (kind) => {
    const { source, days, run, statesOf } = exportOf(3, { ...kind, recheckDays: 0 });
    const [oldest = ''] = days;
    await run();
    source.lists.set(`${oldest} 00:00:00`, []);
    await server.query(
      `update daywalk.windows
        set due_at = case when day = $1 and kind = 'part' and split_by is null and state = 'complete' then clock_timestamp() end`,
      [oldest],
    );
    const count = 'select count(*)::int as walks from daywalk.walks';
    const before = await server.query(count);
    await run();
    expect(await isRetired(oldest)).toBe(true);
    expect(await statesOf()).toEqual(['complete', 'complete', 'complete']);
    expect(await server.query(count)).toEqual(before);
  },
);

describe('a source that answers what is too old for it with the last day', () => {
  const days = closedDays(8);
  const [oldest = ''] = days;
  const newest = records(8_000, 12);
  const lists = Object.fromEntries(
    days.map((day, index) => [day, index === 7 ? newest : records(1_000 * (index + 1), 12)]),
  );

  /** The oldest of them, as behind newer ones, of which one was held against its halves. */
  async function exportOldest(habits: Habits, to = oldest, concurrency = 1) {
    const source = new ImaginedSource(lists, habits);
    const stream = newStream();
    await teach({ server, source, stream, since: oldest }, { proven_size: 50 });
    const options = { streams: [stream], since: oldest, settleMs: SETTLE_MS, pageLength: 30 };
    await backfill(
      exporterParts({ database: sharedDatabase(server), source }),
      { ...OPTIONS, ...options, concurrency },
      { from: oldest, to, newestFirst: false },
      new AbortController().signal,
    );
    const results = [...(await readResults(server, stream)).values()];
    return { source, results: results.filter(({ state }) => state !== 'pending') };
  }

  it('has none of its old days complete', async () => {
    const keptSince = days[4] ?? '';
    const { results } = await exportOldest({
      arrange: (list, _, { from }) => (from < keptSince ? newest : list),
    });
    expect(results.map(({ state }) => state)).toEqual(['failed']);
    expect(results[0]?.lastError).toContain('which cannot have any');
  });

  it('shows none of them for a day that it showed when it was younger', async () => {
    const lists = Object.fromEntries(days.map((day, n) => [day, records(1_000 * (n + 1), 12)]));
    let keptSince = '';
    const source = new ImaginedSource(lists, {
      arrange: (list, _, { from }) => (from < keptSince ? records(90_000, 9) : list),
    });
    const exporting = { server, source, stream: newStream(), since: oldest, recheckDays: 7 };
    await runOnce(exporting);
    keptSince = days[2] ?? '';
    for (let run = 0; run < 3; run += 1) {
      await letTimePass(server, '25 hours');
      await runOnce(exporting);
    }
    const results = await readResults(server, exporting.stream);
    for (const day of days)
      expect(results.get(day)?.published).toEqual([...(lists[day] ?? [])].sort());
    expect(results.get(oldest)?.lastError).toContain('which cannot have any');
  });

  it('is asked for the day behind the first one, and for none of long ago', async () => {
    const { source, results } = await exportOldest({}, days[2]);
    expect(results.map(({ state }) => state)).toEqual(['complete', 'complete', 'complete']);
    expect(source.asked.every(({ from }) => from >= addDays(oldest, -1))).toBe(true);
    // Of the others one beside them is known by then.
    const last = days[3] ?? '';
    expect(source.asked.some(({ from, to }) => from > last && to.startsWith(last))).toBe(false);
  });

  it('is not asked for the day behind, where that is walked at the same time', async () => {
    const together = days.slice(0, 4);
    const allShown = closeGate();
    const probed = new Set<string>();
    const { source, results } = await exportOldest(
      {
        // From its last record on a day is asked when its first page is stored.
        before: async (_, { from, to, start }) => {
          const isDay = together.some((day) => from.startsWith(day) && to === `${day} 23:59:59`);
          if (!isDay || start === 0) return;
          probed.add(from);
          if (probed.size === together.length) allShown.open();
          await allShown.passed;
        },
      },
      together.at(-1),
      together.length,
    );
    expect(results.map(({ state }) => state)).toEqual(together.map(() => 'complete'));
    const halfPages = source.asked.filter(({ length }) => length === 15);
    expect(halfPages).toEqual([]);
  });
});
