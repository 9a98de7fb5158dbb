/** Splits: parts are shown together, once they are closed, and what was shown before stays until then (I4, I6). */
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { LeaseLostError } from '../../src/errors.ts';
import type { Proof, Span } from '../../src/model.ts';
import type { Database } from '../../src/store/database.ts';
import { failWindow, type LeasedWindow, noteDifferent } from '../../src/store/leases.ts';
import {
  closeSplit,
  letPartsWait,
  readSplit,
  replanParts,
  splitWindow,
} from '../../src/store/splits.ts';
import { proveWindow } from '../../src/store/walks.ts';
import { acceptSource } from '../../src/store/windows.ts';
import { audit, overlooked } from '../support/audit.ts';
import type { TestDatabase } from '../support/database.ts';
import {
  leaseWindow,
  letHoursPass,
  proveCutOf,
  proveTexts,
  publishNext,
  textsOf,
  totalProof,
  walkPages,
  windowOf,
} from '../support/publishing.ts';
import { DAY, freshStore, leaseDay, planDays } from '../support/store.ts';

const MORNING = { from: `${DAY} 00:00:00`, to: `${DAY} 11:59:59`, levelFrom: null, levelTo: null };
const EVENING = { from: `${DAY} 12:00:00`, to: `${DAY} 23:59:59`, levelFrom: null, levelTo: null };

let server: TestDatabase;
let database: Database;

freshStore((store) => {
  ({ server, database } = store);
});

const shown = async () =>
  (
    await server.query<{ found: string }>(
      `select (record ->> 'id') || case when gone_since is null then '' else ' gone' end as found
         from daywalk.events order by (record ->> 'id')::int, gone_since nulls first`,
    )
  ).map((row) => row.found);
const stateOf = async (windowId: number) =>
  (
    await server.query(
      'select state, due_at <= clock_timestamp() as due from daywalk.windows where window_id = $1',
      [windowId],
    )
  )[0];
const parts = async () =>
  (
    await server.query<{ id: number }>(
      `select window_id::int as id from daywalk.windows where split_from is not null and state <> 'replaced' order by kind desc, from_time`,
    )
  ).map(({ id }) => id) as [number, number, number];

const partsProof = (records: number, more: Partial<Proof> = {}): Proof => ({
  kind: 'parts',
  rule: 'C9',
  records,
  why: 'as the test says',
  ...more,
});

/** A day that is split at noon, with the cut there; its first part, its second, the cut. */
async function splitDay(
  streamId: number,
  cuts = true,
): Promise<{ day: number; morning: number; evening: number; noon: number }> {
  const window = await leaseWindow(database, await windowOf(database, streamId, DAY));
  const request = {
    by: 'time',
    reason: 'capped',
    total: null,
    parts: [MORNING, EVENING],
    cuts: cuts ? [MORNING.to] : [],
  } as const;
  await splitWindow(database, window, request);
  const [morning, evening, noon] = await parts();
  return { day: window.windowId, morning, evening, noon };
}

/** Splits a part in turn, at an hour; its two parts. */
async function splitAgain(
  part: number,
  span: Span,
  hour: string,
): Promise<[early: number, late: number]> {
  const second = Date.parse(`${DAY}T${hour}:00:00Z`);
  const before = new Date(second - 1_000).toISOString().slice(11, 19);
  await splitWindow(database, await leaseWindow(database, part), {
    by: 'time',
    reason: 'capped again',
    total: null,
    parts: [
      { ...span, to: `${DAY} ${before}` },
      { ...span, from: `${DAY} ${hour}:00:00` },
    ],
    cuts: [],
  });
  const rows = await server.query<{ id: number }>(
    'select window_id::int as id from daywalk.windows where split_from = $1 order by from_time',
    [part],
  );
  return rows.map(({ id }) => id) as [number, number];
}

/** Splits the morning in turn, at six; its two parts. */
const splitMorning = (morning: number) => splitAgain(morning, MORNING, '06');

const prove = (windowId: number, ids: readonly number[]) =>
  proveTexts(database, windowId, [textsOf(ids)]);
async function close(day: number, records: number, more: Partial<Proof> = {}): Promise<void> {
  await closeSplit(database, await leaseWindow(database, day), partsProof(records, more));
}

describe('a day that is split', () => {
  it('shows its parts together, when it is closed, which is due as soon as all of them are proven', async () => {
    const { day, morning, evening, noon } = await splitDay(await planDays(database));
    expect(await stateOf(day)).toEqual({ state: 'split', due: null });
    await prove(morning, [1, 2]);
    await prove(evening, [3, 4]);
    expect(await stateOf(day)).toEqual({ state: 'split', due: null });
    await proveCutOf(database, noon);
    expect(await stateOf(day)).toEqual({ state: 'split', due: true });
    expect(await shown()).toEqual([]);
    expect(await readSplit(database, { windowId: day })).toMatchObject({
      by: 'time',
      total: null,
      calibrated: false,
      parts: [
        { windowId: morning, ...MORNING, records: 2 },
        { windowId: evening, ...EVENING, records: 2 },
      ],
      cuts: [{ records: 0, removed: 0, told: false }],
    });
    await close(day, 4);
    expect(await stateOf(day)).toEqual({ state: 'complete', due: false });
    expect(await shown()).toEqual(['1', '2', '3', '4']);
    expect(
      await server.query('select proof, records from daywalk.coverage where day = $1', [DAY]),
    ).toEqual([{ proof: 'parts', records: '4' }]);
    expect(await audit(server)).toEqual([]);
    expect(await overlooked(server)).toEqual([]);
  });

  it('shows what lies between its parts, and once what both of them show', async () => {
    const { day, morning, evening, noon } = await splitDay(await planDays(database));
    await prove(morning, [1, 2, 2]);
    await prove(evening, [2, 2, 4, 9]);
    // 3 is shown by neither; of 2 two copies lie across, and both parts show them; 9 is another one.
    await proveCutOf(
      database,
      noon,
      { across: textsOf([2, 2, 3]), before: textsOf([2, 2]), after: textsOf([2, 2]) },
      { records: 1, removed: 2 },
    );
    await close(day, 6);
    expect(await shown()).toEqual(['1', '2', '2', '3', '4', '9']);
    expect(await audit(server)).toEqual([]);
    expect(await overlooked(server)).toEqual([]);
  });

  it('is compared with its proof only where its cuts and walks of before say something: it may have millions of records', async () => {
    const { day, morning, evening, noon } = await splitDay(await planDays(database));
    const touched = async () =>
      (
        await server.query<{ records: number | null }>(
          `select cardinality(daywalk.touched($1, '{}')) as records`,
          [day],
        )
      )[0]?.records;
    await prove(morning, [1, 2, 3, 4, 5]);
    await prove(evening, [6, 7, 8, 9]);
    const lies = { across: textsOf([5, 6]), before: textsOf([5]), after: textsOf([6]) };
    await proveCutOf(database, noon, lies);
    await close(day, 9);
    expect(await touched()).toBe(2);
    await letHoursPass(database, 2);
    await prove(evening, [6, 7, 8, 10]);
    await proveCutOf(database, noon, lies);
    await close(day, 9);
    // What the walk before showed, and what the new one shows.
    expect(await touched()).toBe(6);
    expect(await shown()).toHaveLength(10);
    expect(await overlooked(server)).toEqual([]);
  });

  it('keeps showing what it showed before until its parts are closed, and whatever they lack after that', async () => {
    const streamId = await planDays(database);
    await publishNext(database, streamId, [[1, 2, 3]]);
    const { day, morning, evening } = await splitDay(streamId, false);
    await prove(morning, [1]);
    await prove(evening, [3, 4]);
    expect(await shown()).toEqual(['1', '2', '3']);
    await close(day, 3);
    expect(await shown()).toEqual(['1', '2', '3', '4']);
    expect(await audit(server)).toEqual([]);
    expect(await overlooked(server)).toEqual([]);
    // Both parts must have lacked it twice: nobody knows which of them it was in.
    await letHoursPass(database, 2);
    await prove(morning, [1]);
    await close(day, 3);
    expect(await shown()).toEqual(['1', '2', '3', '4']);
    await prove(evening, [3, 4]);
    await close(day, 3);
    expect(await shown()).toEqual(['1', '2 gone', '3', '4']);
    expect(await audit(server)).toEqual([]);
    expect(await overlooked(server)).toEqual([]);
  });

  it('does not put off a part that was never walked for what was missing before it was split', async () => {
    const { day, morning, evening } = await splitDay(await planDays(database), false);
    await prove(morning, [1]);
    await prove(evening, [2, 3]);
    await close(day, 3);
    await letHoursPass(database, 2);
    await prove(evening, [3]);
    await close(day, 2);
    const window = await leaseWindow(database, evening);
    const request = { by: 'time', reason: 'restless', total: null, cuts: [] } as const;
    await splitWindow(database, window, {
      ...request,
      parts: [
        { ...EVENING, to: `${DAY} 17:59:59` },
        { ...EVENING, from: `${DAY} 18:00:00` },
      ],
    });
    // As where it is a part of a part that is split: the part itself is complete meanwhile.
    await server.query(`update daywalk.windows set state = 'complete' where window_id = $1`, [
      evening,
    ]);
    await prove(morning, [1]);
    await close(day, 2);
    expect(
      await server.query(
        `select state, due_at <= clock_timestamp() as due from daywalk.windows where split_from = $1`,
        [evening],
      ),
    ).toEqual([
      { state: 'pending', due: true },
      { state: 'pending', due: true },
    ]);
  });

  it('is not confirmed in what one part lacks by a walk of the other', async () => {
    const { day, morning, evening } = await splitDay(await planDays(database), false);
    await prove(morning, [1, 2]);
    await prove(evening, [3]);
    await close(day, 3);
    await letHoursPass(database, 2);
    await prove(morning, [1]);
    await close(day, 2);
    await letHoursPass(database, 2);
    await prove(evening, [3]);
    await close(day, 2);
    expect(await shown()).toEqual(['1', '2', '3']);
    expect(
      await server.query('select rewalk from daywalk.windows where window_id = $1', [morning]),
    ).toEqual([{ rewalk: true }]);
    await prove(morning, [1]);
    await close(day, 2);
    expect(await shown()).toEqual(['1', '2 gone', '3']);
  });

  it('hides no real record where a part loses a twin after the cut was asked', async () => {
    const { day, morning, evening, noon } = await splitDay(await planDays(database));
    const twins = { across: textsOf([2]), before: textsOf([2]), after: textsOf([2]) };
    await prove(morning, [2, 2]);
    await prove(evening, [2]);
    await proveCutOf(database, noon, twins, { records: 0, removed: 1 });
    await close(day, 2);
    expect(await shown()).toEqual(['2', '2']);
    await letHoursPass(database, 2);
    await prove(morning, [2]);
    // The cut beside it is asked anew before the split can be closed.
    expect(await stateOf(noon)).toEqual({ state: 'pending', due: true });
    await expect(close(day, 1)).rejects.toThrow(LeaseLostError);
    await proveCutOf(database, noon, twins, { records: 0, removed: 1 });
    await close(day, 1);
    expect(await shown()).toEqual(['2', '2']);
    expect(
      await server.query(`select state from daywalk.marks where state = 'missing'`),
    ).toHaveLength(1);
  });
});

describe('parts that do not add up', () => {
  it('are never complete: neither after a kill, nor when one of them is walked again, nor split in another way', async () => {
    const streamId = await planDays(database);
    const { day, morning, evening } = await splitDay(streamId, false);
    await prove(morning, [1]);
    await prove(evening, [3]);
    const window = await leaseWindow(database, day);
    await failWindow(database, window, 'its parts hold 2, and the total says 3', 60_000);
    const complete = () => server.query(`select from daywalk.coverage where state = 'complete'`);
    expect(await stateOf(day)).toEqual({ state: 'failed', due: false });
    expect(await shown()).toEqual([]);
    await prove(evening, [3]);
    expect(await stateOf(day)).toEqual({ state: 'split', due: true });
    expect(await complete()).toEqual([]);
    // Another number of parts: those of before count for nothing.
    const again = await leaseWindow(database, day);
    const noonParts = [
      { ...MORNING, to: `${DAY} 05:59:59` },
      { ...MORNING, from: `${DAY} 06:00:00` },
      EVENING,
    ];
    await splitWindow(database, again, {
      by: 'time',
      reason: 'once more',
      total: 3,
      parts: noonParts,
      cuts: [],
    });
    expect(
      await server.query(
        'select state, count(*)::int as count from daywalk.windows where split_from = $1 group by 1 order by 1',
        [day],
      ),
    ).toEqual([
      { state: 'pending', count: 3 },
      { state: 'replaced', count: 1 },
    ]);
    expect(await stateOf(evening)).toEqual({ state: 'pending', due: true });
    expect(await stateOf(day)).toEqual({ state: 'split', due: null });
    expect(await complete()).toEqual([]);
    expect(await audit(server)).toEqual([]);
    expect(await overlooked(server)).toEqual([]);
  });

  it('are walked again, with the cuts between them where nobody asked for these, and the split waits for them', async () => {
    const { day, morning, evening } = await splitDay(await planDays(database), false);
    await prove(morning, [1]);
    await prove(evening, [3]);
    const window = await leaseWindow(database, day);
    await replanParts(database, window, { parts: [morning], cuts: [MORNING.to] });
    await replanParts(database, window, { parts: [morning], cuts: [MORNING.to] });
    expect(await stateOf(day)).toEqual({ state: 'split', due: null });
    expect(await stateOf(morning)).toEqual({ state: 'pending', due: true });
    const [, , noon] = await parts();
    expect(await stateOf(noon)).toEqual({ state: 'pending', due: true });
    await expect(close(day, 2)).rejects.toThrow(LeaseLostError);
    expect(await stateOf(day)).toEqual({ state: 'split', due: null });
    await prove(morning, [1]);
    await proveCutOf(
      database,
      noon,
      { across: textsOf([2]), before: [], after: [] },
      { records: 1, removed: 0 },
    );
    expect(await stateOf(day)).toEqual({ state: 'split', due: true });
    await close(day, 3);
    expect(await shown()).toEqual(['1', '2', '3']);
  });

  it('that are proven meanwhile, as beside a midnight, leave it to be walked again as a look has found it otherwise', async () => {
    const { day, morning, evening } = await splitDay(await planDays(database), false);
    await prove(morning, [1, 2]);
    await prove(evening, [3, 4]);
    await close(day, 4, { calibrated: true, total: 4 });
    const looked = await leaseWindow(database, day);
    await noteDifferent(database, looked);
    await failWindow(database, looked, 'the API answered 500', 60_000, false);
    await prove(evening, [3, 4]);
    expect(await leaseWindow(database, day)).toMatchObject({ state: 'split', rewalk: true });
  });

  it('that wait for one that has failed are tried with it once a person accepts its source', async () => {
    const streamId = await planDays(database);
    const { morning, evening } = await splitDay(streamId, false);
    await failWindow(database, await leaseWindow(database, morning), 'it lacks records', 60_000);
    await server.query(
      `update daywalk.windows set due_at = clock_timestamp() where window_id = $1`,
      [evening],
    );
    await letPartsWait(database, { windowId: morning });
    expect(await stateOf(evening)).toEqual({ state: 'pending', due: false });
    await acceptSource(database, streamId);
    expect(await stateOf(morning)).toEqual({ state: 'failed', due: true });
    expect(await stateOf(evening)).toEqual({ state: 'pending', due: true });
  });
});

describe('parts of parts', () => {
  it('show once what they showed in two versions, until it was learned what in them is not the record', async () => {
    const { day, morning, evening } = await splitDay(await planDays(database), false);
    const proveAged = (part: number, ids: readonly number[], age: number, ignored: string[] = []) =>
      proveTexts(
        database,
        part,
        [ids.map((id) => `{"id": ${id}, "age": ${age}}`)],
        {},
        { ignored },
      );
    await proveAged(morning, [1, 2, 2], 1);
    await proveAged(evening, [9, 9], 1);
    await close(day, 5);
    const [early, late] = await splitMorning(morning);
    for (const [age, ignored] of [
      [2, []],
      [3, ['/age']],
    ] as const) {
      await proveAged(early, [1], age, [...ignored]);
      await proveAged(late, [2, 2], age, [...ignored]);
      await close(morning, 3);
      await close(day, 5);
      await letHoursPass(database, 2);
    }
    expect(await shown()).toEqual(['1', '2', '2', '9', '9']);
    expect(await audit(server)).toEqual([]);
  });

  it('show once what they showed before each of two splits, when it is learned what in them is not the record', async () => {
    const { day, morning, evening } = await splitDay(await planDays(database), false);
    let age = 0;
    const proveAged = (part: number, ids: readonly number[], ignored: string[] = []) => {
      age += 1;
      const texts = ids.map((id) => `{"id": ${id}, "age": ${age}}`);
      return proveTexts(database, part, [texts], {}, { ignored });
    };
    await proveAged(morning, [1, 1, 2]);
    await proveAged(evening, [9]);
    await close(day, 4);
    const [early, late] = await splitMorning(morning);
    await proveAged(early, [1, 1]);
    await proveAged(late, [2]);
    await close(morning, 3);
    await close(day, 4);
    const [first, second] = await splitAgain(early, { ...MORNING, to: `${DAY} 05:59:59` }, '03');
    for (const ignored of [[], ['/age']]) {
      for (const [part, id] of [
        [first, 1],
        [second, 1],
        [late, 2],
      ] as const)
        await proveAged(part, [id], ignored);
      await close(early, 2);
      await close(morning, 3);
      await close(day, 4);
      await letHoursPass(database, 2);
    }
    expect(await shown()).toEqual(['1', '1', '2', '9']);
    expect(await audit(server)).toEqual([]);
  });

  it('are closed from below', async () => {
    const { day, morning, evening } = await splitDay(await planDays(database), false);
    await prove(evening, [9]);
    const [first, second] = await splitMorning(morning);
    await prove(first, [1]);
    await prove(second, [2]);
    expect([await stateOf(morning), await stateOf(day)]).toEqual([
      { state: 'split', due: true },
      { state: 'split', due: null },
    ]);
    await close(morning, 2);
    expect([await stateOf(morning), await stateOf(day)]).toMatchObject([
      { state: 'complete' },
      { state: 'split', due: true },
    ]);
    expect(await readSplit(database, { windowId: day })).toMatchObject({
      parts: [{ records: 2 }, { records: 1 }],
    });
    await close(day, 3);
    expect(await shown()).toEqual(['1', '2', '9']);
    await prove(first, [1, 5]);
    expect([await stateOf(morning), await stateOf(day)]).toMatchObject([
      { state: 'split', due: true },
      { state: 'complete' },
    ]);
    expect(await server.query(`select state from daywalk.coverage where day = $1`, [DAY])).toEqual([
      { state: 'pending' },
    ]);
    await close(morning, 3);
    // Asked again because its total moved, a part of parts is closed anew, so that the day does not wait for ever.
    await server.query(
      `update daywalk.windows set due_at = clock_timestamp() where window_id = $1`,
      [day],
    );
    await replanParts(database, await leaseWindow(database, day), { parts: [morning], cuts: [] });
    expect(await stateOf(morning)).toEqual({ state: 'split', due: true });
    await close(morning, 3);
    expect(await stateOf(day)).toEqual({ state: 'split', due: true });
    await close(day, 4);
    expect(await shown()).toEqual(['1', '2', '5', '9']);
    expect(await audit(server)).toEqual([]);
    expect(await overlooked(server)).toEqual([]);
  });
});

describe('a split day that is walked whole', () => {
  it('stands for its parts, which count no more', async () => {
    const streamId = await planDays(database);
    const { day, morning, evening } = await splitDay(streamId);
    await prove(morning, [1]);
    const held = await leaseWindow(database, evening);
    const walk = await walkPages(database, held, [[7]]);
    await prove(day, [1, 2]);
    expect(await shown()).toEqual(['1', '2']);
    expect(
      await server.query(
        'select distinct state, due_at from daywalk.windows where split_from = $1',
        [day],
      ),
    ).toEqual([{ state: 'replaced', due_at: null }]);
    await expect(proveWindow(database, held, walk, totalProof(1))).rejects.toThrow(LeaseLostError);
    expect(await audit(server)).toEqual([]);
    expect(await overlooked(server)).toEqual([]);
  });
});

describe('the looks of a split day', () => {
  const due = () =>
    server.query<{ due: boolean }>(
      'select kind, due_at is not null as due from daywalk.windows where kind <> $1 or split_from is not null order by from_time, kind',
      ['cut'],
    );

  it('are those of its total where that is calibrated, else those of its parts', async () => {
    const { day, morning, evening } = await splitDay(await planDays(database), false);
    await prove(morning, [1]);
    await prove(evening, [3]);
    await close(day, 2, { calibrated: true, total: 2 });
    expect(await due()).toEqual([
      { kind: 'day', due: true },
      { kind: 'part', due: false },
      { kind: 'part', due: false },
    ]);
    await close(day, 2);
    expect(await due()).toEqual([
      { kind: 'day', due: true },
      { kind: 'part', due: true },
      { kind: 'part', due: true },
    ]);
  });
});

describe('two workers', () => {
  /** Proves both parts of a split day at once. */
  async function both(
    prover: (
      window: LeasedWindow,
      walk: { walkId: number; nextStart: number; pages: number },
      at: number,
    ) => Promise<void>,
  ) {
    const { day, morning, evening } = await splitDay(await planDays(database), false);
    const windows = [await leaseWindow(database, morning), await leaseWindow(database, evening)];
    const walks = [
      await walkPages(database, windows[0] as LeasedWindow, [[1]]),
      await walkPages(database, windows[1] as LeasedWindow, [[2]]),
    ];
    await Promise.all(windows.map((window, at) => prover(window, walks[at] as never, at)));
    return day;
  }

  it('that prove the last two parts at once let the split be closed', async () => {
    const day = await both((window, walk) => proveWindow(database, window, walk, totalProof(1)));
    expect(await stateOf(day)).toEqual({ state: 'split', due: true });
  });

  it('are refused under repeatable read, where each would not see the other', async () => {
    const clients = await Promise.all(
      [0, 1].map(async () => {
        const client = new pg.Client({ connectionString: server.url });
        await client.connect();
        await client.query(`set default_transaction_isolation = 'repeatable read'`);
        return client;
      }),
    );
    try {
      const day = await both(async (window, { walkId, nextStart, pages }, at) => {
        const proving = (clients[at] as pg.Client).query(
          'select daywalk.prove_window($1, $2, $3, $4, $5, $6)',
          [
            window.windowId,
            window.leaseId,
            walkId,
            nextStart,
            pages,
            JSON.stringify(totalProof(1)),
          ],
        );
        await expect(proving).rejects.toThrow(
          /needs the isolation level READ COMMITTED, and this session has REPEATABLE READ/,
        );
      });
      expect(await stateOf(day)).toEqual({ state: 'split', due: null });
    } finally {
      await Promise.all(clients.map((client) => client.end()));
    }
  });
});

describe('splitting', () => {
  it('may be repeated, and is refused to whoever lost the lease', async () => {
    const streamId = await planDays(database);
    const window = await leaseDay(database, streamId);
    const request = {
      by: 'level',
      reason: 'capped',
      total: 9,
      parts: [
        { ...MORNING, to: EVENING.to, levelTo: 7 },
        { ...MORNING, to: EVENING.to, levelFrom: 8 },
      ],
      cuts: [],
    } as const;
    await splitWindow(database, window, request);
    await splitWindow(database, window, request);
    expect(await parts()).toHaveLength(2);
    await expect(splitWindow(database, window, { ...request, reason: 'another' })).rejects.toThrow(
      LeaseLostError,
    );
    expect(await audit(server)).toEqual([]);
    expect(await overlooked(server)).toEqual([]);
  });
});
