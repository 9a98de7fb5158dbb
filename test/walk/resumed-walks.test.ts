/** Walks that another process takes up: from every checkpoint, by the contract of the first process, or ended with a reason. */
import { describe, expect, it } from 'vitest';
import { RequestError } from '../../src/errors.ts';
import type { PageRequest } from '../../src/model.ts';
import type { TestDatabase } from '../support/database.ts';
import { andAtNight, tries } from '../support/night.ts';
import { letTimePass } from '../support/pass-time.ts';
import { clear, expireLeases, freshStore, records } from '../support/store.ts';
import {
  closedDays,
  complaints,
  type Exporting,
  newStream,
  readResults,
  resultsOf,
  runOnce,
  teach,
} from './exporting.ts';
import { type Habits, ImaginedSource, idOf, secondOf } from './imagined-source.ts';
import { type Gate, Killed } from './perils.ts';

let server: TestDatabase;
const [day = ''] = closedDays(1);

freshStore((store) => {
  ({ server } = store);
});

/** Sources whose process was ended; the next one may ask them. */
const ended = new WeakSet<ImaginedSource>();

/** A source whose request `at` ends the process. */
function killing(list: readonly string[], at: number, habits: Habits = {}): ImaginedSource {
  return new ImaginedSource(
    { [day]: list },
    {
      ...habits,
      before: (source, _, number) => {
        if (number >= at && !ended.has(source)) throw new Killed();
      },
    },
  );
}

async function runToDeath(exporting: Exporting): Promise<void> {
  await expect(runOnce(exporting)).rejects.toThrow(Killed);
  ended.add(exporting.source);
}

/** A run that is killed before it has proven a window, or so many cuts, and one long after it, when there is one record more. */
async function goOnDaysLater(exporting: Exporting, proves: string, last = 1): Promise<void> {
  let proofs = 0;
  const gate: Gate = async (statement, act) => {
    if (statement?.includes(proves)) proofs += 1;
    if (proofs >= last) throw new Killed();
    return act();
  };
  await expect(runOnce({ ...exporting, gate })).rejects.toThrow(Killed);
  await expireLeases(server);
  exporting.source.lists.set(`${day} 00:00:00`, records(1, 9));
  await runOnce(exporting);
}

/** Whether the whole day is asked for, and not a half of it or a cut. */
const isDay = ({ from, to }: Pick<PageRequest, 'from' | 'to'>) =>
  from === `${day} 00:00:00` && to === `${day} 23:59:59`;

/** One run that is killed at a request, then others until the window has an end. */
async function killAndResume(
  source: ImaginedSource,
  change: Partial<Exporting> = {},
  runs = 1,
  look: () => Promise<void> = async () => {},
) {
  const exporting = { server, source, stream: newStream(), since: day, pageLength: 4 };
  await runToDeath(exporting);
  await look();
  for (let run = 0; run < runs; run++) {
    await expireLeases(server);
    await runOnce({ ...exporting, ...change });
  }
  expect(await complaints(server, source, exporting.stream)).toEqual([]);
  const result = (await readResults(server, exporting.stream)).get(day);
  if (result === undefined) throw new Error('no window');
  return result;
}

describe('a walk', () => {
  it('is taken up at each of its checkpoints, and nothing stored is asked for again (I1, I3)', async () => {
    const list = records(1, 38);
    for (let at = 2; at <= 11; at += tries(3, 1)) {
      const source = killing(list, at);
      let stored: number[] = [];
      let before = 0;
      const look = async () => {
        before = source.asked.length;
        const rows = await server.query(
          `select start from daywalk.pages join daywalk.walks using (walk_id) where pages.records > 0 and role = 'whole'`,
        );
        stored = rows.map((row) => Number(row.start));
      };
      expect(await killAndResume(source, {}, 1, look)).toMatchObject({
        state: 'complete',
        walks: 1,
      });
      const again = source.asked
        .slice(before)
        .filter(({ from, to, length }) => isDay({ from, to }) && length === 4);
      expect(stored.length).toBeGreaterThan(0);
      expect(again.filter(({ start }) => stored.includes(start))).toEqual([]);
      await clear(server);
    }
  });

  it('goes on with its own page length where the settings changed (P25)', async () => {
    const source = killing(records(1, 14), 3);
    expect(await killAndResume(source, { pageLength: 50 })).toMatchObject({
      state: 'complete',
      walks: 1,
    });
    expect(source.asked.filter((request) => isDay(request) && request.length === 50)).toEqual([]);
  });
});

it.each(
  andAtNight(
    [
      { totals: 'none', pageLength: 4 },
      // On one page, nothing is noted before it is proven.
      { totals: 'exact', pageLength: 20 },
    ],
    [{ totals: 'exact', pageLength: 4 }],
  ),
)(
  'a walk that came to its end days ago is not believed as it is: $totals, $pageLength',
  async ({ totals, pageLength }) => {
    const source = new ImaginedSource({ [day]: records(1, 8) }, { totals });
    const exporting: Exporting = { server, source, stream: newStream(), since: day, pageLength };
    if (totals === 'exact') await teach(exporting, { calibrated: 100, proven_size: 100 });
    await goOnDaysLater(exporting, 'prove_window');
    expect(await complaints(server, source, exporting.stream)).toEqual([]);
  },
);

/** By chance, the same for the same request. */
const chance = (number: number) => Math.abs(Math.sin(number * 78.233 + 91) * 43_758.5453) % 1;

it.each(
  andAtNight<[string, boolean, NonNullable<Habits['arrange']>]>(
    [['replicas', true, (list, number) => (chance(number) < 0.2 ? list.slice(1) : list)]],
    [
      [
        'an order by chance',
        false,
        (list, number) =>
          list.toSorted((a, b) => chance(number + idOf(a)) - chance(number + idOf(b))),
      ],
    ],
  ),
)('a union that was whole hours ago is not believed as it is: %s', async (_, restless, arrange) => {
  const source = new ImaginedSource({ [day]: records(1, 8) }, { arrange });
  const exporting: Exporting = {
    server,
    source,
    stream: newStream(),
    since: day,
    pageLength: 20,
  };
  if (restless) await teach(exporting, { restless });
  await goOnDaysLater(exporting, 'prove_window');
  expect((await readResults(server, exporting.stream)).get(day)?.state).toBe('complete');
  expect(await complaints(server, source, exporting.stream)).toEqual([]);
});

it('an empty day is not believed hours later where one question is answered in different ways', async () => {
  const source = new ImaginedSource({ [day]: [] });
  const exporting: Exporting = { server, source, stream: newStream(), since: day, pageLength: 20 };
  await teach(exporting, { restless: true });
  await goOnDaysLater(exporting, 'prove_window');
  expect(await complaints(server, source, exporting.stream)).toEqual([]);
});

it('nothing that lay across a midnight days ago is not believed as it is', async () => {
  const at = (record: string) => (idOf(record) === 9 ? 86_399.7 : 40_000 + idOf(record));
  const source = new ImaginedSource({ [day]: records(1, 8) }, { at });
  const exporting: Exporting = { server, source, stream: newStream(), since: day, pageLength: 20 };
  // Behind that before the first day.
  await goOnDaysLater(exporting, 'prove_cut', 2);
  expect(await complaints(server, source, exporting.stream)).toEqual([]);
});

it.each([
  ['parts', 40_000],
  ['cuts', 43_199.7],
])(
  'a split day is not closed with %s that were proven days ago, and not looked at since',
  async (_, second) => {
    const source = new ImaginedSource(
      { [day]: records(1, 8) },
      {
        at: (record) => (idOf(record) === 9 ? second : secondOf(record)),
        before: (self, request) => {
          if (self.within(request).length > 5) throw new RequestError(400, 'too many results');
        },
      },
    );
    const stream = newStream();
    const exporting: Exporting = { server, source, stream, since: day, pageLength: 20 };
    const killedAt = (name: RegExp): Gate => {
      let isKilled = false;
      return async (statement, act) => {
        isKilled ||= name.test(statement ?? '');
        if (isKilled) throw new Killed();
        return act();
      };
    };
    // One process ends before the day is closed, and the next one before it notes a look.
    await expect(runOnce({ ...exporting, gate: killedAt(/close_split/) })).rejects.toThrow(Killed);
    await expireLeases(server);
    await letTimePass(server, '25 hours');
    source.lists.set(`${day} 00:00:00`, records(1, 9));
    await expect(
      runOnce({ ...exporting, gate: killedAt(/looks = looks \+ 1|set rewalk = true, state/) }),
    ).rejects.toThrow(Killed);
    expect(await complaints(server, source, stream)).toEqual([]);
    await expireLeases(server);
    await runOnce(exporting);
    expect((await resultsOf(exporting)).get(day)?.state).toBe('complete');
  },
);

describe('the contract of a stream', () => {
  /** A list whose name says nothing: it is known to be the records while there are some in it. */
  const unnamed: Habits['wrap'] = (list) => `{"found":[${list.join(',')}]}`;

  it('is that of its first page, also where the next process sees an empty page first', async () => {
    // Eight records on two full pages: the third request finds an empty page.
    const list = records(1, 8);
    const whole = new ImaginedSource({ [day]: list }, { wrap: unnamed });
    const stream = newStream();
    await runOnce({ server, source: whole, stream, since: day, pageLength: 4 });
    expect((await readResults(server, stream)).get(day)).toMatchObject({ state: 'complete' });
    await clear(server);
    const killed = killing(list, 3, { wrap: unnamed });
    expect(await killAndResume(killed)).toMatchObject({ state: 'complete' });
  });

  it.each(andAtNight([3], [1, 7]))(
    'has no total any more where total_path is set to none before the walk is taken up, at request %i',
    async (at) => {
      // A total of another filter: two more than the window ever holds.
      const source = killing(records(1, 14), at, { totals: 'beyond' });
      const exporting = { server, source, stream: newStream(), since: day, pageLength: 4 };
      await runToDeath(exporting);
      await expireLeases(server);
      await runOnce({ ...exporting, stream: { ...exporting.stream, totalPath: null } });
      expect((await readResults(server, exporting.stream)).get(day)).toMatchObject({
        state: 'complete',
        published: records(1, 14).sort(),
      });
    },
  );

  it('that the source changes between two processes ends the walk with a reason, or a new one completes', async () => {
    let name = 'data';
    const wrap: Habits['wrap'] = (list) => `{"${name}":[${list.join(',')}]}`;
    const source = killing(records(1, 14), 3, { wrap });
    const exporting = { server, source, stream: newStream(), since: day, pageLength: 4 };
    await runToDeath(exporting);
    name = 'items';
    const states: unknown[] = [];
    for (let run = 0; run < 12; run++) {
      await expireLeases(server);
      await server.query(
        'update daywalk.windows set due_at = clock_timestamp() where due_at is not null',
      );
      await runOnce(exporting);
      states.push((await readResults(server, exporting.stream)).get(day)?.state);
    }
    expect(await complaints(server, source, exporting.stream)).toEqual([]);
    // Pending after twelve claims: no worker would ever get past this window, and nothing would say so.
    expect(states.at(-1)).not.toBe('pending');
  });

  it('that the source changes within a walk fails the window with a reason, and is no lost lease', async () => {
    const wrap = (list: readonly string[], _: number | null, request: PageRequest) =>
      `{"${request.start < 8 ? 'data' : 'items'}":[${list.join(',')}]}`;
    const source = new ImaginedSource({ [day]: records(1, 14) }, { wrap });
    const stream = newStream();
    await runOnce({ server, source, stream, since: day, pageLength: 4 });
    expect(await complaints(server, source, stream)).toEqual([]);
    const result = (await readResults(server, stream)).get(day);
    expect(result).toMatchObject({ state: 'failed', published: [] });
    expect(result?.lastError).toMatch(/has nothing at data/);
    expect(await server.query('select from daywalk.windows where lease_id is not null')).toEqual(
      [],
    );
  });
});

describe('stored pages that something else has changed', () => {
  it.each([
    ['deleted', 'delete from daywalk.pages where page_no = 1'],
    [
      'edited',
      'update daywalk.pages set records = records - 1, record_hashes = record_hashes[2:] where page_no = 0',
    ],
  ])('%s: the walk is ended and the window walked again (D36, I3)', async (_, damage) => {
    const source = killing(records(1, 14), 4);
    const exporting = { server, source, stream: newStream(), since: day, pageLength: 4 };
    await runToDeath(exporting);
    await server.query(damage);
    await expireLeases(server);
    await runOnce(exporting);
    expect((await readResults(server, exporting.stream)).get(day)).toMatchObject({
      state: 'complete',
      walks: 2,
    });
  });

  it('while the walk goes on: it is not proven, but walked again (I4)', async () => {
    const source = new ImaginedSource({ [day]: records(1, 14) }, { totals: 'exact' });
    const stream = newStream();
    let deleted = false;
    const gate: Gate = async (statement, act) => {
      if (!deleted && statement !== null && /daywalk\.prove_window/.test(statement)) {
        deleted = true;
        await server.query('delete from daywalk.pages where page_no = 1');
      }
      return act();
    };
    await runOnce({ server, source, stream, since: day, pageLength: 4, gate });
    expect((await readResults(server, stream)).get(day)).toMatchObject({
      state: 'complete',
      walks: 2,
    });
    expect(
      await server.query(
        `select outcome, reason from daywalk.walks where role = 'whole' order by number`,
      ),
    ).toMatchObject([
      { outcome: 'failed', reason: expect.stringContaining('not the 5 pages with 14 records') },
      { outcome: 'proven' },
    ]);
    expect((await server.query('select from daywalk.events')).length).toBe(14);
  });
});
