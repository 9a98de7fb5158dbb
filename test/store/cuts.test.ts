/** Cuts: what two neighbours show in neither or in both is shown once; a real duplicate twice; nothing else is touched (I4, I6). */
import { describe, expect, it } from 'vitest';
import { LeaseLostError } from '../../src/errors.ts';
import { dayWindow } from '../../src/plan/days.ts';
import type { Database } from '../../src/store/database.ts';
import { readNeighbours } from '../../src/store/evidence/proven.ts';
import { BrokenChainError, proveCut } from '../../src/store/walks.ts';
import { planWindows } from '../../src/store/windows.ts';
import { audit } from '../support/audit.ts';
import type { TestDatabase } from '../support/database.ts';
import { andAtNight } from '../support/night.ts';
import { letTimePass } from '../support/pass-time.ts';
import {
  endedWalk,
  leaseWindow,
  letHoursPass,
  proveCutOf,
  proveTexts,
  textsOf,
  windowOf,
} from '../support/publishing.ts';
import { clear, DAY, freshStore, leaseIn, planDays, registerEvents } from '../support/store.ts';

const NEXT_DAY = '2026-03-06';

let server: TestDatabase;
let database: Database;

freshStore((store) => {
  ({ server, database } = store);
});

/** What readers see: day and id of each record. */
const shown = async () =>
  (
    await server.query<{ found: string }>(
      `select to_char(day, 'DD') || ':' || (record ->> 'id') || case when gone_since is null then '' else ' gone' end as found
         from daywalk.events order by day, (record ->> 'id')::int, gone_since nulls first`,
    )
  ).map((row) => row.found);

/** Two days, and the cut between them. */
async function twoDays() {
  const streamId = await planDays(database, [DAY, NEXT_DAY]);
  const [a, b, cut] = await Promise.all([
    windowOf(database, streamId, DAY),
    windowOf(database, streamId, NEXT_DAY),
    windowOf(database, streamId, DAY, 'cut'),
  ]);
  return {
    streamId,
    cut,
    day: (ids: readonly number[]) => proveTexts(database, a, [textsOf(ids)]),
    nextDay: (ids: readonly number[]) => proveTexts(database, b, [textsOf(ids)]),
    ask: (
      across: readonly number[],
      before: readonly number[],
      after: readonly number[],
      counts: { records?: number; removed?: number } = {},
    ) =>
      proveCutOf(
        database,
        cut,
        { across: textsOf(across), before: textsOf(before), after: textsOf(after) },
        { records: 0, removed: 0, ...counts },
      ),
  };
}

describe('a cut between two days', () => {
  it('shows what neither of them does, with the day before it; both stay as they are', async () => {
    const { day, nextDay, ask } = await twoDays();
    await day([1, 2]);
    await nextDay([4, 5]);
    await ask([2, 3, 4], [2], [4], { records: 1 });
    expect(await shown()).toEqual(['05:1', '05:2', '05:3', '06:4', '06:5']);
    expect(await audit(server)).toEqual([]);
  });

  it('lets the day behind it not show what both do, in whatever order the three are proven', async () => {
    const orders = [
      ['day', 'nextDay', 'cut'],
      ['cut', 'nextDay', 'day'],
      ['nextDay', 'cut', 'day'],
    ] as const;
    for (const order of orders) {
      await clear(server);
      const { day, nextDay, ask } = await twoDays();
      const steps = {
        day: () => day([1, 2]),
        nextDay: () => nextDay([2, 3]),
        cut: () => ask([2], [2], [2], { removed: 1 }),
      };
      for (const step of order) await steps[step]();
      expect(await shown()).toEqual(['05:1', '05:2', '06:3']);
      expect(await server.query('select day::text, records from daywalk.days order by 1')).toEqual([
        { day: DAY, records: '2' },
        { day: NEXT_DAY, records: '1' },
      ]);
      expect(await audit(server)).toEqual([]);
    }
  });

  it('hides nothing of one day while the other is not shown', async () => {
    const { nextDay, ask } = await twoDays();
    await nextDay([2, 3]);
    await ask([2], [2], [2], { removed: 1 });
    expect(await shown()).toEqual(['06:2', '06:3']);
  });

  it('keeps real duplicates: as many as lie across it', async () => {
    const { day, nextDay, ask } = await twoDays();
    await day([7, 7, 9]);
    await nextDay([9, 7]);
    // Three of 7 lie across, each shown by one of them; 9 lies far from it, in both days.
    await ask([7, 7, 7], [7, 7], [7]);
    expect(await shown()).toEqual(['05:7', '05:7', '05:9', '06:7', '06:9']);
  });

  it('hides as many copies as both show too often, and none of a record elsewhere', async () => {
    const { day, nextDay, ask } = await twoDays();
    await day([7, 7]);
    await nextDay([7, 7, 7]);
    await ask([7, 7], [7, 7], [7, 7], { removed: 2 });
    expect(await shown()).toEqual(['05:7', '05:7', '06:7']);
  });

  it('never takes the last copy away, whatever it says', async () => {
    const { day, nextDay, ask } = await twoDays();
    await day([1]);
    await nextDay([2]);
    await ask([], [], []);
    await ask([5], [1, 2, 5], [1, 2, 5], { removed: 5 });
    expect(await shown()).toEqual(['05:1', '06:2']);
  });

  it('needs no more than one empty answer where nothing lies across', async () => {
    const { day, cut, ask } = await twoDays();
    await day([1]);
    await ask([], [], []);
    expect(await shown()).toEqual(['05:1']);
    expect(
      await server.query('select state from daywalk.windows where window_id = $1', [cut]),
    ).toEqual([{ state: 'complete' }]);
    expect(
      await server.query('select role, shown from daywalk.walks where window_id = $1', [cut]),
    ).toEqual([{ role: 'across', shown: 'no' }]);
  });

  it('shows a record at midnight under its own day', async () => {
    const { day, nextDay, ask } = await twoDays();
    await day([1]);
    await nextDay([2]);
    await ask([2], [], [2]);
    expect(await shown()).toEqual(['05:1', '06:2']);
  });
});

describe('a cut that is asked again', () => {
  it('shows again what it hid, where the source shows it once now', async () => {
    const { day, nextDay, ask } = await twoDays();
    await day([1, 2]);
    await nextDay([2, 3]);
    await ask([2], [2], [2], { removed: 1 });
    await ask([2], [2], []);
    expect(await shown()).toEqual(['05:1', '05:2', '06:2', '06:3']);
    expect(await audit(server)).toEqual([]);
  });

  it('hands over what a day shows now', async () => {
    const { day, nextDay, ask } = await twoDays();
    await day([1]);
    await nextDay([4]);
    await ask([1, 3, 4], [1], [4], { records: 1 });
    expect(await shown()).toEqual(['05:1', '05:3', '06:4']);
    await nextDay([3, 4]);
    await ask([1, 3, 4], [1], [3, 4]);
    expect(await shown()).toEqual(['05:1', '06:3', '06:4']);
    expect(await audit(server)).toEqual([]);
  });

  it('hands over what a day shows now also where it does not reach so far any more', async () => {
    for (const times of [0, 1, 2]) {
      await clear(server);
      const { day, nextDay, ask } = await twoDays();
      await day([1]);
      await nextDay([4]);
      await ask([3, 4], [], [4], { records: 1 });
      for (let time = 0; time < times; time += 1) {
        await letHoursPass(database, 2);
        await ask([], [], []);
      }
      await nextDay([3, 4]);
      await ask([], [], []);
      expect(await shown()).toEqual(['05:1', '06:3', '06:4']);
      expect(await audit(server)).toEqual([]);
    }
  });

  it('hands over what a day shows again that lacked it for a while', async () => {
    const { day, nextDay, ask } = await twoDays();
    await day([1]);
    await nextDay([3, 4]);
    await letTimePass(server, '2 hours');
    await nextDay([4]);
    await ask([3], [], [], { records: 1 });
    await nextDay([3, 4]);
    for (let time = 0; time < 2; time += 1) {
      await letTimePass(server, '2 hours');
      await ask([], [], []);
    }
    expect(await shown()).toEqual(['05:1', '06:3', '06:4']);
    expect(await audit(server)).toEqual([]);
  });

  it('hands over what a day has shown before, and its side lacked', async () => {
    const { day, nextDay, ask } = await twoDays();
    await day([1]);
    await nextDay([3, 4]);
    await ask([3, 4], [], [4], { records: 1 });
    await ask([3, 4], [], [3, 4]);
    expect(await shown()).toEqual(['05:1', '06:3', '06:4']);
  });

  it('hands over no twin of what a day has shown before', async () => {
    const { day, nextDay, ask } = await twoDays();
    await day([1]);
    await nextDay([3, 4]);
    await ask([3, 3], [], [3], { records: 1 });
    await nextDay([3, 4]);
    for (let time = 0; time < 2; time += 1) {
      await letHoursPass(database, 2);
      await ask([3], [], [3]);
      await ask([], [], []);
    }
    expect(await shown()).toEqual(['05:1', '05:3 gone', '06:3', '06:4']);
  });

  it('hands over one of two where the source lost the other, however often it is asked', async () => {
    for (const padded of [false, true]) {
      await clear(server);
      const { day, nextDay, ask } = await twoDays();
      await day([1]);
      await nextDay([4]);
      await ask([3, 3], [], [], { records: 2 });
      // Windows are compared otherwise from then on.
      await day([1, 3]);
      await nextDay(padded ? [3, 4] : [4]);
      for (let time = 0; time < 3; time += 1) {
        await letHoursPass(database, 2);
        await ask([3], [3], padded ? [3] : [], { removed: padded ? 1 : 0 });
      }
      expect(await shown()).toEqual(['05:1', '05:3', '05:3 gone', '06:4']);
      expect(await audit(server)).toEqual([]);
    }
  });

  it('hands over what a day shows that is walked only behind it', async () => {
    const { day, nextDay, ask, cut } = await twoDays();
    await day([1]);
    await ask([2], [], [], { records: 1 });
    await nextDay([2, 3]);
    expect(
      await server.query(
        'select rewalk, due_at <= clock_timestamp() as due from daywalk.windows where window_id = $1',
        [cut],
      ),
    ).toEqual([{ rewalk: true, due: true }]);
    await ask([2], [], [2]);
    expect(await shown()).toEqual(['05:1', '06:2', '06:3']);
    expect(await audit(server)).toEqual([]);
  });

  it('is asked anew where a day that is walked only behind it lacks what its side shows', async () => {
    const { day, nextDay, ask, cut } = await twoDays();
    await day([1]);
    await ask([2], [], [2]);
    await nextDay([3]);
    expect(
      await server.query(
        'select rewalk, due_at <= clock_timestamp() as due from daywalk.windows where window_id = $1',
        [cut],
      ),
    ).toEqual([{ rewalk: true, due: true }]);
  });

  it('keeps both of two where the source lost one as both days came to show the other', async () => {
    const { day, nextDay, ask } = await twoDays();
    await day([1]);
    await nextDay([3, 3, 4]);
    await ask([3, 3], [], [3, 3]);
    for (let time = 0; time < 2; time += 1) {
      await letHoursPass(database, 2);
      await ask([3], [3], [3], { removed: 1 });
      await nextDay([3, 4]);
      await day([1, 3]);
      await ask([3], [3], [3], { removed: 1 });
    }
    expect(await shown()).toEqual(['05:1', '05:3', '06:3 gone', '06:4']);
    expect(await audit(server)).toEqual([]);
  });

  it('keeps what no day shows yet, though its neighbours are said to', async () => {
    const { day, nextDay, ask } = await twoDays();
    await day([1]);
    await nextDay([4]);
    await ask([3], [], [], { records: 1 });
    await ask([3], [3], []);
    expect(await shown()).toEqual(['05:1', '05:3', '06:4']);
    await day([1, 3]);
    await ask([3], [3], []);
    expect(await shown()).toEqual(['05:1', '05:3', '06:4']);
  });

  it('keeps what the source does not show any more, and says that it is gone', async () => {
    const { day, nextDay, ask } = await twoDays();
    await day([1]);
    await nextDay([4]);
    await ask([3], [], [], { records: 1 });
    for (let time = 0; time < 2; time += 1) {
      await letHoursPass(database, 2);
      await ask([], [], []);
    }
    expect(await shown()).toEqual(['05:1', '05:3 gone', '06:4']);
    expect(await audit(server)).toEqual([]);
  });

  it('leaves to a day what that day lost meanwhile', async () => {
    const { day, nextDay, ask } = await twoDays();
    await day([1, 2]);
    await nextDay([2, 3]);
    await ask([2], [2], [2], { removed: 1 });
    for (let time = 0; time < 2; time += 1) {
      await letHoursPass(database, 2);
      await nextDay([3]);
    }
    // The copy behind the cut was hidden, and it is the one that went.
    expect(await shown()).toEqual(['05:1', '05:2', '06:3']);
    await ask([2], [2], []);
    expect(await shown()).toEqual(['05:1', '05:2', '06:3']);
    expect(await audit(server)).toEqual([]);
  });

  it('is due when a day beside it has changed, and shows an edited record once at midnight', async () => {
    const { streamId, day, nextDay, ask, cut } = await twoDays();
    await server.query(`update daywalk.streams set id_path = '{id}'`);
    await day([1, 2]);
    await nextDay([2, 3]);
    await ask([2], [2], [2], { removed: 1 });
    const edited = '{"id": 2, "read": true}';
    await letHoursPass(database, 2);
    await proveTexts(database, await windowOf(database, streamId, DAY), [['{"id": 1}', edited]]);
    expect(
      await server.query(
        'select due_at <= clock_timestamp() as due from daywalk.windows where window_id = $1',
        [cut],
      ),
    ).toEqual([{ due: true }]);
    await proveTexts(database, await windowOf(database, streamId, NEXT_DAY), [
      [edited, '{"id": 3}'],
    ]);
    await proveCutOf(
      database,
      cut,
      { across: [edited], before: [edited], after: [edited] },
      { records: 0, removed: 1 },
    );
    expect(await shown()).toEqual(['05:1', '05:2', '06:3']);
    expect(await audit(server)).toEqual([]);
  });
});

describe('what both days or none show of a midnight', () => {
  const ORDERS = andAtNight(
    [
      ['day', 'nextDay', 'cut'],
      ['cut', 'nextDay', 'day'],
    ],
    [
      ['nextDay', 'day', 'cut'],
      ['cut', 'day', 'nextDay'],
      ['day', 'cut', 'nextDay'],
      ['nextDay', 'cut', 'day'],
    ],
  );

  it.each(ORDERS)('and the source deletes is gone once: %s, %s, %s', async (...order) => {
    const { day, nextDay, ask } = await twoDays();
    await day([1, 2]);
    await nextDay([2, 3]);
    await ask([2], [2], [2], { removed: 1 });
    const steps = {
      day: () => day([1]),
      nextDay: () => nextDay([3]),
      cut: () => ask([], [], []),
    };
    for (let time = 0; time < 3; time += 1) {
      await letHoursPass(database, 2);
      for (const step of order) {
        await steps[step]();
        // Never twice, not even for an hour.
        expect((await shown()).filter((found) => found.includes(':2'))).toHaveLength(1);
      }
    }
    expect(await shown()).toEqual(['05:1', '05:2 gone', '06:3']);
    expect(await audit(server)).toEqual([]);
  });

  it('and of which the source deletes one of two is gone once', async () => {
    for (const order of ORDERS) {
      await clear(server);
      const { day, nextDay, ask } = await twoDays();
      await day([1, 2, 2]);
      await nextDay([2, 2, 3]);
      await ask([2, 2], [2, 2], [2, 2], { removed: 2 });
      const steps = {
        day: () => day([1, 2]),
        nextDay: () => nextDay([2, 3]),
        cut: () => ask([2], [2], [2], { removed: 1 }),
      };
      for (let time = 0; time < 3; time += 1) {
        await letHoursPass(database, 2);
        for (const step of order) await steps[step]();
      }
      expect(await shown()).toEqual(['05:1', '05:2', '05:2 gone', '06:3']);
      expect(await audit(server)).toEqual([]);
    }
  });

  /** 2 happened in the last fraction of the day, 3 in the first of the next: what is shown, as edges are compared. */
  const compared = ({ day, nextDay, ask }: Awaited<ReturnType<typeof twoDays>>) => ({
    padded: {
      day: () => day([1, 2, 3]),
      nextDay: () => nextDay([2, 3, 4]),
      cut: () => ask([2, 3], [2, 3], [2, 3], { removed: 2 }),
    },
    'by seconds': {
      day: () => day([1, 2]),
      nextDay: () => nextDay([3, 4]),
      cut: () => ask([2, 3], [2], [3]),
    },
    'with fractions': {
      day: () => day([1]),
      nextDay: () => nextDay([3, 4]),
      cut: () => ask([2, 3], [], [3], { records: 1 }),
    },
  });

  it.each(ORDERS)(
    'stays once, and is not gone, where edges come to be compared otherwise: %s, %s, %s',
    async (...order) => {
      for (const kinds of [
        ['padded', 'with fractions', 'by seconds', 'padded', 'by seconds'],
        ['with fractions', 'padded', 'by seconds', 'with fractions', 'padded'],
      ] as const) {
        await clear(server);
        const two = await twoDays();
        const steps = compared(two);
        for (const kind of kinds) {
          // The cut is due once more when a day beside it was found otherwise.
          for (let time = 0; time < 2; time += 1) {
            await letHoursPass(database, 2);
            for (const step of [...order, 'cut'] as const) await steps[kind][step]();
          }
          const found = await shown();
          expect(found.map((one) => one.slice(3))).toEqual(['1', '2', '3', '4']);
        }
        expect(
          await server.query('select day from daywalk.days where gone > 0 or lost > 0'),
        ).toEqual([]);
        expect(await audit(server)).toEqual([]);
      }
    },
  );

  it('stays once at the midnight before the first day, too', async () => {
    const streamId = await planDays(database, [DAY]);
    const day = await windowOf(database, streamId, DAY);
    const cut = await windowOf(database, streamId, '2026-03-04', 'cut');
    const [own, none] = [textsOf([1]), textsOf([])];
    await proveTexts(database, day, [textsOf([1, 2])]);
    await proveCutOf(database, cut, { across: own, before: own, after: own });
    for (let time = 0; time < 3; time += 1) {
      await letHoursPass(database, 2);
      await proveTexts(database, day, [textsOf([2])]);
      await proveCutOf(
        database,
        cut,
        { across: own, before: none, after: none },
        { records: 1, removed: 0 },
      );
    }
    expect(await shown()).toEqual(['05:1', '05:2']);
  });

  it('and a day has the like of elsewhere is not gone where the day shows only that from then on', async () => {
    const { day, nextDay, ask } = await twoDays();
    await day([1, 2]);
    await nextDay([2, 2, 3]);
    await ask([2], [2], [2], { removed: 1 });
    for (let time = 0; time < 2; time += 1) {
      await letHoursPass(database, 2);
      await nextDay([2, 3]);
      await ask([2], [2], []);
    }
    expect(await shown()).toEqual(['05:1', '05:2', '06:2', '06:3']);
    expect(await audit(server)).toEqual([]);
  });

  it.each([
    ['stands at the midnight where a cut came to reach so far', [], ['05:1', '05:2', '06:3']],
    [
      'stands elsewhere where the cut found its like before',
      [2],
      ['05:1', '05:2', '05:2 gone', '06:3'],
    ],
  ])('and a day lacks, %s', async (_, before, expected) => {
    const { day, nextDay, ask } = await twoDays();
    await day([1, 2]);
    await nextDay([3]);
    await ask(before, [], []);
    for (let time = 0; time < 2; time += 1) {
      await letTimePass(server, '2 hours');
      await day([1]);
      await ask([2], [], []);
    }
    expect(await shown()).toEqual(expected);
    expect(await audit(server)).toEqual([]);
  });

  it('and a day lacks, is one also once the cut that came to reach so far lacks it, too', async () => {
    const { day, nextDay, ask } = await twoDays();
    await day([1, 2]);
    await nextDay([3]);
    await ask([], [], []);
    for (const across of [[2], [2], [], []]) {
      await letTimePass(server, '2 hours');
      await day([1]);
      await ask(across, [], []);
    }
    expect(await shown()).toEqual(['05:1', '05:2 gone', '06:3']);
    expect(await audit(server)).toEqual([]);
  });

  it('and a day has the like of elsewhere stays gone from there, whatever its neighbour shows', async () => {
    const { day, nextDay, ask } = await twoDays();
    await day([1, 2]);
    await nextDay([2, 3]);
    // That of the day stands far from midnight.
    await ask([2], [], [2]);
    for (let time = 0; time < 2; time += 1) {
      await letHoursPass(database, 2);
      await day([1]);
      await ask([2], [], [2]);
    }
    expect(await shown()).toEqual(['05:1', '05:2 gone', '06:2', '06:3']);
  });
});

describe('proving a cut', () => {
  it('may be repeated, and is refused to whoever lost the lease', async () => {
    const { cut } = await twoDays();
    const window = await leaseWindow(database, cut);
    const across = await endedWalk(database, window, [[]], { role: 'across' });
    const proof = {
      kind: 'cut',
      rule: 'C8',
      records: 0,
      removed: 0,
      why: '',
      across,
      before: null,
      after: null,
    } as const;
    await proveCut(database, window, proof);
    await proveCut(database, window, proof);
    const again = await leaseWindow(database, cut);
    await expect(
      proveCut(database, { ...again, leaseId: window.leaseId }, { ...proof, across: across + 1 }),
    ).rejects.toThrow(LeaseLostError);
  });

  it('is refused where a walk that it names is not there, or not whole', async () => {
    const { cut } = await twoDays();
    const window = await leaseWindow(database, cut);
    const across = await endedWalk(database, window, [textsOf([1]), textsOf([2])], {
      role: 'across',
    });
    const proof = {
      kind: 'cut',
      rule: 'C8',
      records: 0,
      removed: 0,
      why: '',
      across,
      before: null,
      after: null,
    } as const;
    await expect(proveCut(database, window, { ...proof, across: 99 })).rejects.toThrow(
      BrokenChainError,
    );
    await server.query('delete from daywalk.pages where page_no = 1');
    await expect(proveCut(database, window, proof)).rejects.toThrow(BrokenChainError);
  });
});

describe('the cuts of days', () => {
  it('are planned with them: behind each day, and before the first where there is none', async () => {
    const streamId = await registerEvents(database);
    await planWindows(database, streamId, 'scheduled', [dayWindow(NEXT_DAY)]);
    await planWindows(database, streamId, 'backfill', [dayWindow(DAY)]);
    expect(
      await server.query(
        'select kind, day::text, from_time::text as "from", to_time::text as "to", due_at is not null as due from daywalk.windows order by from_time, kind',
      ),
    ).toEqual([
      {
        kind: 'cut',
        day: DAY,
        from: '2026-03-04 23:59:59',
        to: '2026-03-05 00:00:00',
        due: false,
      },
      { kind: 'day', day: DAY, from: '2026-03-05 00:00:00', to: '2026-03-05 23:59:59', due: true },
      {
        kind: 'cut',
        day: NEXT_DAY,
        from: '2026-03-05 23:59:59',
        to: '2026-03-06 00:00:00',
        due: false,
      },
      {
        kind: 'day',
        day: NEXT_DAY,
        from: '2026-03-06 00:00:00',
        to: '2026-03-06 23:59:59',
        due: true,
      },
      {
        kind: 'cut',
        day: NEXT_DAY,
        from: '2026-03-06 23:59:59',
        to: '2026-03-07 00:00:00',
        due: false,
      },
    ]);
  });

  it('are due as soon as a day beside them is proven, and no day is complete without both', async () => {
    const { streamId, nextDay, cut } = await twoDays();
    const states = () =>
      server.query(
        'select day::text, state from daywalk.coverage where day between $1 and $2 order by 1',
        [DAY, NEXT_DAY],
      );
    await nextDay([1]);
    const scope = { streamIds: [streamId], range: { from: NEXT_DAY, to: NEXT_DAY } };
    const leased = [await leaseIn(database, scope), await leaseIn(database, scope)];
    expect(leased.map((window) => `${window?.kind} ${window?.day}`)).toEqual([
      `cut ${DAY}`,
      `cut ${NEXT_DAY}`,
    ]);
    expect(await leaseIn(database, scope)).toBeNull();
    await proveCutOf(database, await windowOf(database, streamId, NEXT_DAY, 'cut'));
    expect(await states()).toEqual([
      { day: DAY, state: 'running' },
      { day: NEXT_DAY, state: 'running' },
    ]);
    await proveCutOf(database, cut);
    expect(await states()).toEqual([
      { day: DAY, state: 'pending' },
      { day: NEXT_DAY, state: 'complete' },
    ]);
  });

  it.each([
    ['the cut', 'the day', [1], true],
    ['the day', 'the cut', [1], true],
    ['the cut', 'the day', [], false],
  ])(
    'are asked anew that were asked while nothing was shown: %s is proven, then %s, which shows %j',
    async (first, _, ids, asked) => {
      const { streamId, nextDay, cut } = await twoDays();
      const counts = { records: 0, removed: 0, datesUnasked: true };
      const proveCut = () => proveCutOf(database, cut, null, counts);
      if (first === 'the cut') await proveCut();
      await nextDay(ids);
      if (first === 'the day') await proveCut();
      const rows = await server.query('select rewalk from daywalk.windows where window_id = $1', [
        cut,
      ]);
      expect(rows).toEqual([{ rewalk: asked }]);
      await proveCutOf(database, cut);
      const scope = { streamIds: [streamId], range: { from: NEXT_DAY, to: NEXT_DAY } };
      expect((await leaseIn(database, scope))?.day).toBe(NEXT_DAY);
    },
  );

  it('know the walks of the windows beside them', async () => {
    const { day, cut } = await twoDays();
    await day([1]);
    expect(await readNeighbours(database, { windowId: cut })).toEqual([
      expect.objectContaining({ to: `${DAY} 23:59:59`, walkId: 1, unites: [] }),
      null,
    ]);
  });
});
