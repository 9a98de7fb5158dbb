/** What known answers tell: whose fault an answer is, and whether a source shows nothing because there is nothing. */
import { describe, expect, it } from 'vitest';
import { EnvelopeError, RequestError, UnavailableError } from '../../src/errors.ts';
import type { PageRequest } from '../../src/model.ts';
import type { RunReport } from '../../src/walk/run.ts';
import type { TestDatabase } from '../support/database.ts';
import { andAtNight } from '../support/night.ts';
import { letTimePass } from '../support/pass-time.ts';
import { freshStore, records } from '../support/store.ts';
import {
  accept,
  closedDays,
  type Exporting,
  newStream,
  readResults,
  resultsOf,
  retiredDays,
  runOnce,
} from './exporting.ts';
import { ImaginedSource } from './imagined-source.ts';

let server: TestDatabase;
const [first = '', second = '', third = ''] = closedDays(3);
const LISTS = {
  [first]: records(1_000, 12),
  [second]: records(2_000, 12),
  [third]: records(3_000, 12),
};

freshStore((store) => {
  ({ server } = store);
});

/** A source in which something may be refused from a moment on, and its export. */
function exportOf(
  lists: Readonly<Record<string, readonly string[]>>,
  recheckDays = 7,
  change: Partial<Exporting> = {},
) {
  let refuse: (request: PageRequest) => void | Promise<void> = () => {};
  const source = new ImaginedSource(lists, { before: (_, request) => refuse(request) });
  const exporting: Exporting = {
    server,
    source,
    stream: newStream(),
    since: first,
    pageLength: 30,
    recheckDays,
    ...change,
  };
  let report: RunReport | undefined;
  const run = async (since = first) => {
    await server.query(
      'update daywalk.windows set due_at = clock_timestamp() where due_at is not null',
    );
    report = await runOnce({ ...exporting, since });
    const results = await resultsOf(exporting);
    return [...results.values()].map(({ state }) => state);
  };
  return {
    source,
    stream: exporting.stream,
    run,
    /** A run of what is due by itself; what is gone from the source stays shown. */
    runOn: async () => {
      await runOnce(exporting).catch(() => {});
      return [...(await readResults(server, exporting.stream)).values()].map(({ state }) => state);
    },
    /** Of the last run. */
    report: () => report,
    refuse: (now: typeof refuse) => {
      refuse = now;
    },
  };
}

const isOf = ({ from }: PageRequest, day: string) => from.startsWith(day);

describe('days that are refused as too old', () => {
  const tooOld = ({ from }: PageRequest) => {
    if (from < `${second} 12:00:00`)
      throw new RequestError(400, 'start time must be within 2 days');
  };

  it('were forgotten, and stay as they were proven', async () => {
    const { run, refuse } = exportOf(LISTS);
    await run();
    refuse(tooOld);
    expect(await run()).toEqual(['complete', 'complete', 'complete']);
    expect(await retiredDays(server)).toEqual([first, second]);
  });

  it('have cuts that are asked for no more when looks are over', async () => {
    const { run, refuse } = exportOf(LISTS, 0);
    await run();
    await run();
    refuse(tooOld);
    await server.query(`update daywalk.windows set due_at = clock_timestamp() where kind = 'cut'`);
    await run();
    expect(await server.query('select from daywalk.windows where due_at is not null')).toEqual([]);
  });
});

describe('the newest days', () => {
  const gone = [second, third];

  it.each([
    ['show nothing', () => {}],
    [
      'are refused',
      ({ from }: PageRequest) => {
        if (from > `${second} 00`) throw new RequestError(400, 'a moment of the gateway');
      },
    ],
  ])('that %s are not forgotten, because older ones are there', async (_, how) => {
    const { source, run, refuse } = exportOf(LISTS);
    await run();
    const lists = new Map(source.lists);
    for (const day of gone) source.lists.set(`${day} 00:00:00`, []);
    refuse(how);
    await runAndIgnore(run);
    expect(await retiredDays(server)).toEqual([]);
    for (const [day, list] of lists) source.lists.set(day, list);
    refuse(() => {});
    expect(await run()).toEqual(['complete', 'complete', 'complete']);
  });
});

it('the newest day that shows nothing is not forgotten, because an older one is there that came back', async () => {
  const { source, run } = exportOf(LISTS);
  await run();
  for (const day of [second, third]) source.lists.set(`${day} 00:00:00`, []);
  await server.query('update daywalk.days set retired_since = clock_timestamp() where day = $1', [
    second,
  ]);
  await runAndIgnore(run);
  expect(await retiredDays(server)).toEqual([second]);
});

describe('a quiet source that keeps its events for a week', () => {
  it('shows its only day no more, which is told as gone, and keeps nothing else from being believed', async () => {
    const { source, run } = exportOf({ [first]: records(1_000, 3), [second]: [], [third]: [] });
    expect(await run()).toEqual(['complete', 'complete', 'complete']);
    source.lists.set(`${first} 00:00:00`, []);
    await runAndIgnore(run);
    await server.query(`update daywalk.marks set since = since - interval '2 hours'`);
    await runAndIgnore(run);
    expect(
      await server.query('select day::text, state, gone::int from daywalk.coverage order by day'),
    ).toEqual([
      { day: first, state: 'complete', gone: 3 },
      { day: second, state: 'complete', gone: 0 },
      { day: third, state: 'complete', gone: 0 },
    ]);
  });
});

/** Two days were proven so long ago, and the newest one was not there yet. */
async function afterRest(pause: string) {
  const all = exportOf(LISTS);
  all.refuse((request) => {
    if (isOf(request, third)) throw new RequestError(400, 'not yet');
  });
  expect(await all.run()).toEqual(['complete', 'complete', 'failed']);
  await letTimePass(server, pause);
  all.refuse(() => {});
  return all;
}

describe('a source that keeps its events for a few days', () => {
  it.each(andAtNight(['8 days'], ['40 days']))(
    'has forgotten all known days after %s away, and a part of the next one, perhaps: newer ones are believed',
    async (pause) => {
      const { source, run, refuse } = exportOf(LISTS);
      refuse((request) => {
        if (!isOf(request, first)) throw new RequestError(400, 'not yet');
      });
      await run();
      await letTimePass(server, pause);
      refuse(() => {});
      source.lists.set(`${first} 00:00:00`, []);
      await runAndIgnore(run);
      await runAndIgnore(run);
      expect(await retiredDays(server)).toEqual([first]);
      expect(
        await server.query('select day::text, state from daywalk.coverage order by day'),
      ).toEqual([
        { day: first, state: 'complete' },
        { day: second, state: 'failed' },
        { day: third, state: 'complete' },
      ]);
    },
  );

  it('refuses an old day that is walked again, which keeps no new one from being believed', async () => {
    const { run, refuse } = exportOf({ ...LISTS, [second]: [] });
    const refuseDays = (...days: string[]) =>
      refuse((request) => {
        if (days.some((day) => isOf(request, day)))
          throw new RequestError(400, 'not within 30 days');
      });
    refuseDays(third);
    await run();
    await server.query(
      `update daywalk.windows set proven_at = proven_at - interval '60 days', rewalk = true where day = $1`,
      [first],
    );
    refuseDays(first, third);
    await run();
    refuseDays(first);
    expect((await run()).at(-1)).toBe('complete');
  });
});

describe('a source that shows nothing any more', () => {
  it('is believed by the next run after a person accepted it', async () => {
    const { source, stream, run, runOn } = exportOf(LISTS);
    await run();
    for (const day of source.lists.keys()) source.lists.set(day, []);
    await runAndIgnore(run);
    expect(await runOn()).toContain('failed');
    await accept(server, stream);
    expect(await runOn()).toEqual(['complete', 'complete', 'complete']);
  });

  it.each(andAtNight(['8 days'], ['40 days']))(
    'is not believed after %s away either, and no day is forgotten',
    async (pause) => {
      const { source, run } = await afterRest(pause);
      const lists = new Map(source.lists);
      for (const day of source.lists.keys()) source.lists.set(day, []);
      await runAndIgnore(run);
      expect(await retiredDays(server)).toEqual([]);
      const [row] = await server.query(
        `select state from daywalk.windows where kind = 'day' and day = $1`,
        [third],
      );
      expect(row).toEqual({ state: 'failed' });
      for (const [day, list] of lists) source.lists.set(day, list);
      expect(await run()).toEqual(['complete', 'complete', 'complete']);
    },
  );
});

/** What is shown still is not what the source shows. */
const runAndIgnore = (run: () => Promise<unknown>) => run().catch(() => {});

describe('a page that stands in front of the API for a while', () => {
  it('is no answer to a look: nothing was found as it is stored', async () => {
    const { run, refuse, report } = exportOf(LISTS);
    await run();
    await run();
    expect(report()?.windowsUnchanged).toBe(3);
    refuse(() => {
      throw new EnvelopeError('answered 200 with an HTML page: "Please log in"');
    });
    expect(await run()).toEqual(['complete', 'complete', 'complete']);
    expect(report()?.windowsUnchanged).toBe(0);
  });

  it('that refuses an old day while newer ones are gone makes it no failed one', async () => {
    const { source, run, refuse } = exportOf({ ...LISTS, [first]: records(1_000, 1) });
    await run();
    for (const day of [second, third]) source.lists.set(`${day} 00:00:00`, []);
    refuse((request) => {
      if (isOf(request, first)) throw new RequestError(400, 'a moment of the gateway');
    });
    await runAndIgnore(run);
    expect(
      await server.query(`select state from daywalk.windows where kind = 'day' and day = $1`, [
        first,
      ]),
    ).toEqual([{ state: 'complete' }]);
  });

  it.each(andAtNight([404], [302]))(
    'is answered %i everywhere: the API is away, its address is not wrong',
    async (status) => {
      const { run, refuse } = exportOf(LISTS);
      expect(await run(second)).toEqual(['complete', 'complete']);
      refuse(() => {
        throw new RequestError(status, 'maintenance');
      });
      await expect(run()).rejects.toThrow(UnavailableError);
      refuse(() => {});
      expect(await run()).toEqual(['complete', 'complete', 'complete']);
    },
  );
});

describe('all days that are known', () => {
  it('come empty at once, while several windows are looked at: none of them is believed', async () => {
    const { source, run, refuse } = exportOf(LISTS, 7, { concurrency: 4 });
    await run();
    for (const day of source.lists.keys()) source.lists.set(day, []);
    // What a look is followed by waits until all of them have found their day different.
    let isKnown = false;
    refuse(async ({ from, to, start }) => {
      while (!isKnown && start === 0 && from.endsWith('00:00:00') && to.endsWith('23:59:59')) {
        const found = await server.query(
          `select from daywalk.windows where kind = 'day' and state <> 'complete'`,
        );
        isKnown = found.length === 3;
      }
    });
    await runAndIgnore(run);
    const shown = await server.query(
      `select count(*)::int as gone from daywalk.windows where kind = 'day' and state = 'complete' and (proof ->> 'records')::int = 0`,
    );
    expect(shown).toEqual([{ gone: 0 }]);
  });
});

it('known answers are asked for by another URL each time, as a cache may keep them', async () => {
  const days = closedDays(12);
  const [oldest = '', ...empty] = days;
  const lists = Object.fromEntries(empty.map((day) => [day, []]));
  const { source, run } = exportOf({ [oldest]: records(1, 40), ...lists }, 7, { since: oldest });
  await run(oldest);
  source.asked.length = 0;
  await server.query(
    `update daywalk.windows set state = 'pending', rewalk = true where kind = 'day' and day > $1`,
    [oldest],
  );
  await run(oldest);
  // Two records of the day before are asked for to see whether it is forgotten.
  const urls = source.asked
    .filter(
      ({ from, to, length }) => from.startsWith(oldest) && to.startsWith(oldest) && length !== 2,
    )
    .map((request) => JSON.stringify(request));
  expect(urls.length).toBeGreaterThanOrEqual(empty.length);
  expect(new Set(urls).size).toBe(urls.length);
});

describe('one day', () => {
  it.each(andAtNight([404], [410, 302]))(
    'that is answered %i fails, and no other',
    async (status) => {
      const { run, refuse } = exportOf(LISTS);
      expect(await run(second)).toEqual(['complete', 'complete']);
      refuse((request) => {
        if (isOf(request, first)) throw new RequestError(status, 'not here');
      });
      expect(await run()).toEqual(['failed', 'complete', 'complete']);
      refuse(() => {});
      expect(await run()).toEqual(['complete', 'complete', 'complete']);
    },
  );

  it('that fails once it was proven does not keep others from being believed', async () => {
    const { run, refuse } = exportOf(LISTS);
    refuse((request) => {
      if (isOf(request, third)) throw new RequestError(400, 'not yet');
    });
    expect(await run()).toEqual(['complete', 'complete', 'failed']);
    refuse((request) => {
      if (isOf(request, second)) throw new UnavailableError('api', 'its index is broken');
    });
    await server.query('update daywalk.windows set due_at = null where day <> $1', [third]);
    expect(await run()).toEqual(['complete', 'complete', 'complete']);
  });
});

describe('a walk that is taken up after its window failed', () => {
  it('is gone on with, and is what is judged', async () => {
    let asked = 0;
    const { run, refuse } = exportOf({ [third]: records(3_000, 200) });
    refuse((request) => {
      asked += 1;
      // Some seconds of a page of the gateway, now and then.
      if (request.length <= 30 && asked % 8 >= 5) throw new EnvelopeError('<html>');
    });
    const states: unknown[] = [];
    for (let time = 0; time < 8 && !states.includes('complete'); time += 1)
      states.push(...(await run(third)));
    expect(states).toContain('complete');
  });
});
