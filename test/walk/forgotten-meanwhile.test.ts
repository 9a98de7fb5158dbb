/** Months of a stream, day by day, as a scheduler runs it, behind a source that keeps its events for some days: what it forgot unseen. */
import { describe, expect, it } from 'vitest';
import { RequestError } from '../../src/errors.ts';
import type { TestDatabase } from '../support/database.ts';
import { andAtNight, atNight } from '../support/night.ts';
import { freshStore, records } from '../support/store.ts';
import { accept, closedDays, newStream, readResults, runOnce } from './exporting.ts';
import { type Habits, ImaginedSource } from './imagined-source.ts';
import { AWAY, everyDay, live as liveIn, REFUSED } from './life.ts';

let server: TestDatabase;
freshStore((store) => {
  ({ server } = store);
});

interface Life {
  /** Days that the source keeps. */
  readonly keeps: number;
  /** Records of the day of this number; 12 otherwise. */
  readonly sizeOf?: (index: number) => number;
  readonly totals?: Habits['totals'];
  readonly recheckDays?: number;
  /** Whether a run takes place on the day after this one. */
  readonly runsOn?: (index: number) => boolean;
  /** Asked before each answer: what the API fails with, while the day of number `now` is the newest one. */
  readonly fails?: (now: number, day: number) => Error | null;
  /** The share of its records that the key shows then; all otherwise. */
  readonly share?: (now: number) => number;
  /** After the run of this number `daywalk accept`. */
  readonly acceptedAfter?: number;
}

/** Lives through so many days, with a run after each, and one two hours later; days are shown whole or not at all. */
function live(count: number, life: Life) {
  const { keeps, sizeOf = () => 12, runsOn = () => true, share = () => 1 } = life;
  const days = Array.from({ length: count }, (_, index) => index);
  return liveIn(server, {
    ...life,
    count,
    runs: days.filter(runsOn).flatMap((now) => everyDay(now + 1, now + 1)),
    acceptedAt:
      life.acceptedAfter === undefined
        ? undefined
        : everyDay(life.acceptedAfter + 1, life.acceptedAfter + 1)[1],
    fails: (now, day) => life.fails?.(Math.floor(now) - 1, day) ?? null,
    shows: (time, { day, number }) => {
      const now = Math.floor(time) - 1;
      return day > now - keeps && number < Math.floor(sizeOf(day) * share(now));
    },
  });
}

/** Day 3 is large; after so many requests for it the API is away for eight days, until its source has forgotten it. */
function liveInterrupted(
  count: number,
  totals: 'none' | 'exact',
  most: number,
  more: Partial<Life> = {},
) {
  let asked = 0;
  return live(count, {
    keeps: 7,
    totals,
    sizeOf: (index) => (index === 3 ? 240 : 12),
    fails: (now, day) =>
      (now > 3 && now < 12) || (day === 3 && now === 3 && ++asked > most) ? AWAY : null,
    ...more,
  });
}

atNight(
  'a quiet day that was looked at after its source had forgotten it was not seen then',
  async () => {
    const { ends } = await live(16, {
      keeps: 3,
      recheckDays: 7,
      sizeOf: (index) => (index === 0 || index === 9 ? 3 : 0),
      runsOn: (index) => index <= 8 || index >= 14,
    });
    expect(ends[0]).toBe('complete 3');
    expect(ends[9]).toBe('failed 0');
    expect(ends.slice(13)).toEqual(['complete 0', 'complete 0', 'complete 0']);
  },
);

it('a source that was accepted may forget afterwards what nobody asked for', async () => {
  const { ends } = await live(14, {
    keeps: 7,
    runsOn: (index) => index <= 2 || index >= 12,
    acceptedAfter: 2,
    recheckDays: 0,
  });
  expect(ends.slice(3, 8)).toEqual([...Array(4).fill('failed 0'), 'complete 12']);
});

it.each(
  andAtNight<readonly [string, Error]>(
    [['the API is away', AWAY]],
    [['the key is refused', REFUSED]],
  ),
)('days that are forgotten while %s, and runs go on, are not empty', async (_, error) => {
  const fails = (now: number) => (now >= 3 && now <= 11 ? error : null);
  const { ends } = await live(14, { keeps: 7, fails });
  expect(ends.slice(3, 8)).toEqual([...Array(4).fill('failed 0'), 'complete 12']);
});

atNight(
  'what comes while and after the key shows nothing waits for a person, where all known days are forgotten meanwhile',
  async () => {
    const life = {
      ...{ keeps: 7, recheckDays: 0, share: (now: number) => (now >= 3 && now <= 11 ? 0 : 1) },
    };
    const { ends } = await live(14, life);
    expect(ends.slice(3)).toEqual(Array(11).fill('failed 0'));
    const { ends: after } = await live(14, { ...life, acceptedAfter: 12 });
    expect(after.slice(7)).toEqual(Array(7).fill('complete 12'));
  },
);

describe('a quiet stream with records on its days 0, 3 and 27', () => {
  const quiet = { sizeOf: (index: number) => ([0, 3, 27].includes(index) ? 5 : 0) };

  atNight(
    'is not believed when its key shows nothing any more, as its source keeps days for longer than that',
    async () => {
      const share = (now: number) => (now >= 25 ? 0 : 1);
      const { ends } = await live(36, { ...quiet, keeps: 100, share });
      expect(ends.slice(24)).toEqual(['complete 0', ...Array(11).fill('failed 0')]);
    },
  );

  it('is complete behind a source that keeps its days for ten days', async () => {
    const { ends, lost } = await live(30, { ...quiet, keeps: 10 });
    const others = Array.from({ length: 23 }, () => 'complete 0');
    expect(ends.slice(4)).toEqual([...others, 'complete 5', 'complete 0', 'complete 0']);
    expect(lost).toEqual([]);
  });
});

it('a key that shows a third behind a rest is not believed, though all known answers are old', async () => {
  const { ends } = await live(14, {
    // With looks the young days, walked again, would tell.
    ...{ keeps: 100, recheckDays: 0 },
    sizeOf: () => 15,
    runsOn: (index) => index <= 2 || index >= 12,
    share: (now) => (now >= 12 ? 1 / 3 : 1),
  });
  expect(ends.slice(3)).toEqual(Array(11).fill('failed 0'));
});

atNight(
  'all that was known is forgotten during a rest, and no look tells of it: newer days are believed, but for the first',
  async () => {
    const { ends } = await live(14, {
      ...{ keeps: 5, recheckDays: 0 },
      runsOn: (index) => index <= 2 || index >= 12,
    });
    expect(ends).toEqual([
      ...Array(3).fill('complete 12'),
      ...Array(6).fill('failed 0'),
      ...Array(5).fill('complete 12'),
    ]);
  },
);

it('what was forgotten during a rest, and was believed to be gone when nothing was known, is not told as lost', async () => {
  const { ends, lost } = await live(14, {
    keeps: 7,
    runsOn: (index) => index <= 2 || index >= 12,
    acceptedAfter: 2,
  });
  expect(ends.slice(0, 3)).toEqual(['complete 12', 'complete 12', 'complete 12']);
  expect(lost).toEqual([]);
});

it('a forgotten day of a quiet stream stays forgotten, and is not lost, as long as it is looked at', async () => {
  const { ends, lost } = await live(11, {
    keeps: 4,
    recheckDays: 9,
    sizeOf: (index) => (index === 0 || index === 3 ? 5 : 0),
  });
  expect(ends.filter((end) => end === 'complete 5')).toHaveLength(2);
  expect(lost).toEqual([]);
});

it.each(
  andAtNight<readonly ['none' | 'exact', number]>(
    [['none', 60]],
    [
      ['none', 8],
      ['none', 20],
      ['exact', 20],
      ['none', 40],
      ['none', 90],
      ['exact', 6],
      ['exact', 40],
    ],
  ),
)(
  'a large day that was interrupted, totals %s, after %i requests, and forgotten until the API is back, keeps no other from being believed',
  async (totals, most) => {
    const { ends } = await liveInterrupted(13, totals, most);
    expect(ends[3]).toMatch(/^failed 0|complete 240$/);
    // Of the first day that is shown a part may be forgotten.
    expect(ends.slice(4, 7)).toEqual(Array(3).fill('failed 0'));
    expect(ends.slice(7)).toEqual(Array(6).fill('complete 12'));
  },
);

it.each(
  andAtNight<readonly ['none' | 'exact', number]>(
    [],
    [
      ['exact', 20],
      ['none', 40],
      ['none', 60],
      ['none', 90],
    ],
  ),
)(
  'a large day that was interrupted, totals %s, after %i requests, is complete when a person has accepted that it is gone',
  async (totals, most) => {
    const { ends } = await liveInterrupted(17, totals, most, { acceptedAfter: 13 });
    expect(ends[3]).toMatch(/^complete/);
  },
);

it.each(andAtNight(['none'], ['exact']))(
  'a large day, totals %s, whose parts are looked at when its source has forgotten it, stays as it was proven',
  async (totals) => {
    const { ends, lost } = await live(9, {
      keeps: 4,
      totals,
      recheckDays: 9,
      sizeOf: (index) => (index === 0 ? 240 : 12),
    });
    expect(ends[0]).toBe('complete 240');
    expect(lost).toEqual([]);
  },
);

describe('a day that its source forgets while it is walked for the first time', () => {
  /** Of four days the oldest one is gone after so many requests for it; three runs, and two after `daywalk accept`. */
  async function taken(size: number, totals: 'none' | 'exact', after: number) {
    const days = closedDays(4);
    const [oldest = ''] = days;
    let asked = 0;
    const sizes = days.map((day) => [day, records(1_000, day === oldest ? size : 12)] as const);
    const source = new ImaginedSource(Object.fromEntries(sizes), {
      totals,
      before: ({ lists }, { start, from }) => {
        if (start >= 100) throw new RequestError(400, 'too deep');
        if (from.startsWith(oldest) && ++asked === after) lists.set(`${oldest} 00:00:00`, []);
      },
    });
    const stream = newStream();
    const exporting = { server, source, stream, since: oldest, pageLength: 30, windowRecords: 60 };
    const ends: string[] = [];
    for (let run = 0; run < 5; run += 1) {
      if (run === 3) await accept(server, stream);
      await runOnce(exporting);
      const { state, published } = (await readResults(server, stream)).get(oldest) ?? {};
      ends.push(`${state} ${published?.length}`);
      await server.query(
        'update daywalk.windows set due_at = clock_timestamp() where due_at is not null',
      );
    }
    return ends;
  }

  it.each(
    andAtNight<readonly [number, 'none' | 'exact', number]>(
      [
        [50, 'none', 2],
        [240, 'none', 25],
        [240, 'exact', 8],
      ],
      [
        [240, 'none', 12],
        [50, 'exact', 2],
        [240, 'none', 2],
        [240, 'none', 16],
        [240, 'none', 20],
        [240, 'none', 30],
        [240, 'exact', 2],
        [240, 'exact', 14],
      ],
    ),
  )(
    'of %i records, with totals %s, after %i requests, is not complete with fewer',
    async (size, totals, after) => {
      const ends = await taken(size, totals, after);
      expect(ends.slice(0, 3)).toEqual(['failed 0', 'failed 0', 'failed 0']);
      expect(ends[4]).toBe('complete 0');
    },
  );
});

/** Three days of 50 records, of which the oldest is shown no more as soon as so many requests were made for it. */
function threeDays(totals: 'none' | 'exact') {
  const days = closedDays(3);
  const [oldest = ''] = days;
  const all = days.map((day, index) => [day, records(1_000 * (index + 1), 50)] as const);
  let left = Number.POSITIVE_INFINITY;
  const source = new ImaginedSource(Object.fromEntries(all), {
    totals,
    before: ({ lists }, { start, from }) => {
      if (start >= 100) throw new RequestError(400, 'too deep');
      if (from.startsWith(oldest) && --left === 0) lists.set(`${oldest} 00:00:00`, []);
    },
  });
  const stream = newStream();
  return {
    exporting: { server, source, stream, since: oldest, pageLength: 30, windowRecords: 60 },
    grown: (most = Number.POSITIVE_INFINITY) => {
      source.lists.set(`${oldest} 00:00:00`, records(1_000, 240));
      left = most;
    },
    read: async () => (await readResults(server, stream)).get(oldest),
  };
}

it.each(andAtNight(['none'], ['exact']))(
  'a proven day, totals %s, that its source forgets while it is walked anew in parts, stays as it was proven',
  async (totals) => {
    const { exporting, grown, read } = threeDays(totals);
    const again = () =>
      server.query(
        `update daywalk.windows set due_at = clock_timestamp(), rewalk = state = 'complete' and kind = 'day' and day = $1
          where state <> 'replaced' and (due_at is not null or day = $1 and split_by is null)`,
        [exporting.since],
      );
    await runOnce(exporting);
    const whole = await read();
    expect(whole?.state).toBe('complete');
    for (const most of [6, 14, 22]) {
      grown(most);
      await again();
      await runOnce(exporting);
      await again();
      await runOnce(exporting);
      const { state, published } = (await read()) ?? {};
      expect(state).toBe('complete');
      expect(published).toEqual(expect.arrayContaining([...(whole?.published ?? [])]));
      expect(await server.query('select from daywalk.days where lost > 0')).toEqual([]);
    }
  },
);

it.each([
  ['none', 14],
  ['exact', 22],
  ...andAtNight<readonly ['none' | 'exact', number]>(
    [],
    [
      ['none', 22],
      ['none', 60],
      ['exact', 14],
      ['exact', 40],
    ],
  ),
] as const)(
  'a proven day, totals %s, that is not shown for a while from request %i on, as it is walked anew in parts, is complete with all that came',
  async (totals, most) => {
    const { exporting, grown, read } = threeDays(totals);
    const looked = async () => {
      await server.query(
        'update daywalk.windows set due_at = clock_timestamp() where due_at is not null',
      );
      await runOnce(exporting);
    };
    await runOnce(exporting);
    grown(most);
    await looked();
    expect(
      await server.query('select from daywalk.days where retired_since is not null'),
    ).toHaveLength(1);
    expect((await read())?.published).toHaveLength(50);
    grown();
    for (let time = 0; time < 3; time += 1) await looked();
    const { state, published } = (await read()) ?? {};
    expect({ state, published: published?.length }).toEqual({ state: 'complete', published: 240 });
  },
);
