/** A run that meets a peril at its first step, at its second, and so on until there is no such step. */
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { forbidChanges } from '../support/audit.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { andAtNight, tries } from '../support/night.ts';
import { clear, expireLeases, records } from '../support/store.ts';
import {
  closedDays,
  complaints,
  type Exporting,
  newStream,
  readResults,
  runOnce,
} from './exporting.ts';
import { ImaginedSource, idOf, type Totals } from './imagined-source.ts';
import { cutAt, disturbedAt, type Gate, Killed, killedAt, type Steps } from './perils.ts';

// So many processes and steps take their time on a busy machine.
vi.setConfig({ testTimeout: 240_000 });

let server: TestDatabase;

beforeAll(async () => {
  server = await createTestDatabase();
  // I7: no statement of any of these runs changes a page or an ended walk.
  await forbidChanges(server);
});
beforeEach(() => clear(server));

const [first = '', second = ''] = closedDays(2);
/** Three pages, the last one short; and a day without events. */
const LISTS = { [first]: records(1, 9), [second]: [] };
/** Longer than the questions whose answers are only looked at. */
const PAGE = 4;
/** What was asked for and not yet noted is asked for again: two pages ahead, an end, a known answer, and how far a cut reaches. */
const ASKED_AGAIN = 8;

function fresh(totals: Totals): Exporting {
  return {
    server,
    source: new ImaginedSource(LISTS, { totals }),
    stream: newStream(),
    since: first,
    pageLength: PAGE,
  };
}

/** The export is whole: every record once, a whole chain, proven once (I1, I3, I4, I6). */
async function expectWhole({ source, stream }: Exporting): Promise<void> {
  expect(await complaints(server, source, stream)).toEqual([]);
  const results = [...(await readResults(server, stream))];
  expect(results.map(([day, { state, walks }]) => [day, state, walks])).toEqual([
    [first, 'complete', 1],
    [second, 'complete', 1],
  ]);
}

/** Calls `attempt` with 1, 2, 3 …, or some of them, until a run has no such step. Returns how many steps a whole run has. */
async function atEveryStep(
  totals: Totals,
  attempt: (at: number, steps: Steps) => Promise<void>,
): Promise<number> {
  // Many steps are of one kind; `npm run chaos` takes every one of them.
  for (let at = 1; ; at += totals === 'none' ? 17 : tries(17, 9)) {
    const steps = { taken: 0 };
    await attempt(at, steps);
    if (steps.taken < at) return steps.taken;
    expect(at).toBeLessThan(500);
  }
}

/** Runs with the connection cut at each statement of the program, or by day at one of `some`, at the first time that it is sent; as much is asked for as without. */
async function atEveryStatement(
  prepare: () => Promise<Exporting>,
  run: (exporting: Exporting, gate: Gate) => Promise<void>,
  when: 'before' | 'after',
  some: number,
): Promise<void> {
  const statements: (string | null)[] = [];
  const whole = await prepare();
  await run(whole, (statement, act) => {
    statements.push(statement);
    return act();
  });
  const step = tries(some, 1);
  for (const statement of [...new Set(statements)].filter((_, n) => n % step === 0)) {
    const exporting = await prepare();
    await run(exporting, cutAt(statements.indexOf(statement) + 1, when, { taken: 0 }));
    expect(exporting.source.asked.length).toBe(whole.source.asked.length);
  }
}

describe.each(andAtNight<Totals>(['exact'], ['none']))('with totals: %s', (totals) => {
  let requests = 0;

  it('a run without perils is whole', async () => {
    const exporting = fresh(totals);
    const report = await runOnce(exporting);
    expect(report).toMatchObject({
      // Two days; the three cuts at their ends become due when a day beside them is proven.
      windowsDue: 2,
      windowsComplete: 2,
      windowsFailed: 0,
      records: 9,
      gaps: [],
    });
    await expectWhole(exporting);
    requests = exporting.source.asked.length;
  });

  it('killed at any step, the next process makes it whole, with no stored page asked for twice (I1 to I4, I6, I7)', async () => {
    const count = await atEveryStep(totals, async (at, steps) => {
      const exporting = fresh(totals);
      const ended = await runOnce({ ...exporting, gate: killedAt(at, steps) }).catch(
        (error: unknown) => error,
      );
      // The note of a run's end is one try, and its failure is logged: the run is done.
      if (ended instanceof Error) expect(ended).toBeInstanceOf(Killed);
      expect(await complaints(server, exporting.source, exporting.stream)).toEqual([]);
      await expireLeases(server);
      const stored = await server.query(
        'select start, length from daywalk.pages where records > 0',
      );
      const before = exporting.source.asked.length;
      await runOnce(exporting);
      await expectWhole(exporting);
      const pages = exporting.source.asked
        .slice(before)
        .filter(({ from, to }) => from === `${first} 00:00:00` && to === `${first} 23:59:59`)
        .map(({ start, length }) => `${start}+${length}`);
      for (const { start, length } of stored) expect(pages).not.toContain(`${start}+${length}`);
      expect(exporting.source.asked.length).toBeLessThanOrEqual(requests + ASKED_AGAIN);
      await clear(server);
    });
    expect(count).toBeGreaterThan(30);
  });

  it.each(andAtNight<'before' | 'after'>(['after'], ['before']))(
    'the connection cut %s any statement took effect, the same process makes it whole and asks nothing twice (I1)',
    async (when) => {
      await atEveryStatement(
        () => Promise.resolve(fresh(totals)),
        async (exporting, gate) => {
          await runOnce({ ...exporting, gate });
          await expectWhole(exporting);
        },
        when,
        2,
      );
    },
  );

  it('the connection cut after any statement of a day that is walked again and has changed, what is gone stays and what is new is there (I1)', async () => {
    await atEveryStatement(
      async () => {
        const exporting = fresh(totals);
        await runOnce(exporting);
        exporting.source.lists.set(`${first} 00:00:00`, records(2, 9));
        await server.query(
          `update daywalk.windows set rewalk = true, due_at = clock_timestamp() where kind = 'day'`,
        );
        return exporting;
      },
      async (exporting, gate) => {
        await runOnce({ ...exporting, gate });
        const { state, published } = (await readResults(server, exporting.stream)).get(first) ?? {};
        expect({ state, ids: published?.map(idOf).sort((one, other) => one - other) }).toEqual({
          state: 'complete',
          ids: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
        });
        await clear(server);
      },
      'after',
      3,
    );
  });

  it('the lease stolen at any step, the loser writes nothing about the window (I2)', async () => {
    await atEveryStep(totals, async (at, steps) => {
      const exporting = fresh(totals);
      let stolen: unknown;
      const stop = new AbortController();
      const gate = disturbedAt(at, steps, async () => {
        await steal();
        stolen = await rows();
      });
      await runOnce({
        ...exporting,
        gate,
        signal: stop.signal,
        // Nothing is left but what the thief holds.
        onEvent: (event) =>
          event.kind === 'waiting' && stop.abort(new Error('only the thief is left')),
      }).catch((error: unknown) => expect((error as Error).message).toBe('only the thief is left'));
      if (stolen !== undefined) expect(await rows()).toEqual(stolen);
      await expireLeases(server);
      await runOnce({ ...exporting, owner: 'next' });
      expect(await complaints(server, exporting.source, exporting.stream)).toEqual([]);
      await expectWhole(exporting);
      await clear(server);
    });
  });
});

/** Another process takes every window that is claimed. */
async function steal(): Promise<void> {
  await server.query(
    `update daywalk.windows
        set lease_id = gen_random_uuid(), lease_owner = 'thief', lease_expires = clock_timestamp() + interval '1 hour'
      where lease_id is not null`,
  );
}

/** Everything about the windows that the thief holds. */
async function rows(): Promise<unknown> {
  const windows = await server.query(
    `select * from daywalk.windows where lease_owner = 'thief' order by window_id`,
  );
  const ids = windows.map((window) => window.window_id);
  const walks = await server.query(
    'select * from daywalk.walks where window_id = any ($1) order by walk_id',
    [ids],
  );
  const pages = await server.query(
    'select walk_id, page_no, start, sha256 from daywalk.pages where walk_id = any ($1) order by 1, 2',
    [walks.map((walk) => walk.walk_id)],
  );
  return { windows, walks, pages };
}
