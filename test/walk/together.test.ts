/** Several processes on one database: every window is walked by one of them at a time, and none writes after it lost (I2). */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { forbidChanges } from '../support/audit.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startPostgresProxy } from '../support/postgres-proxy.ts';
import { clear, records } from '../support/store.ts';
import {
  closedDays,
  complaints,
  type Exporting,
  newStream,
  readResults,
  runOnce,
} from './exporting.ts';
import { ImaginedSource } from './imagined-source.ts';
import type { Gate } from './perils.ts';

let server: TestDatabase;

beforeAll(async () => {
  server = await createTestDatabase();
  await forbidChanges(server);
});
beforeEach(() => clear(server));

const days = closedDays(8);
const lists = () =>
  Object.fromEntries(days.map((day, index) => [day, records(100 * index, (index * 7) % 23)]));

/** Waits before and after every step, now and then for long. */
function paused(longestMs: number): Gate {
  const pause = () => systemClock.sleep(Math.random() < 0.1 ? longestMs : Math.random() * 4);
  return async (_, act) => {
    await pause();
    const result = await act();
    await pause();
    return result;
  };
}

/** The same, and the timer's renewals come too late to keep a lease. */
function pausedWithoutRenewals(longestMs: number): Gate {
  const pause = paused(longestMs);
  return (sql, act) =>
    sql !== null && /^\s*update daywalk\.windows\s+set lease_expires/.test(sql)
      ? systemClock.sleep(longestMs).then(() => pause(sql, act))
      : pause(sql, act);
}

/** Runs several processes at once on the same days. */
async function runTogether(count: number, exporting: Exporting): Promise<void> {
  await Promise.all(
    Array.from({ length: count }, (_, index) =>
      runOnce({ ...exporting, owner: `process ${index}` }),
    ),
  );
}

it('a process does not wait for a window of its own, of which it does not know yet that it is its own', async () => {
  const source = new ImaginedSource(lists(), { totals: 'exact' });
  let looked = () => {};
  const otherHasLooked = new Promise<void>((resolve) => {
    looked = resolve;
  });
  let first = true;
  const waits: unknown[] = [];
  await runOnce({
    server,
    source,
    stream: newStream(),
    since: days.at(-1) ?? '',
    concurrency: 2,
    // The answer to the claim comes late, when the other worker has found nothing to claim and has looked who holds it.
    gate: async (sql, act) => {
      const result = await act();
      if (sql?.includes('min(lease_owner)')) looked();
      if (first && sql?.includes('skip locked') && Array.isArray(result) && result.length > 0) {
        first = false;
        await otherHasLooked;
      }
      return result;
    },
    onEvent: (event) => event.kind === 'waiting' && waits.push(event),
  });
  expect(first).toBe(false);
  expect(waits).toEqual([]);
});

it('a process that looks for work while another one claims it, or has all that is due changed, does not end for that', async () => {
  const [day = ''] = closedDays(1);
  const source = new ImaginedSource({ [day]: records(1, 5) }, { totals: 'exact' });
  const other = await server.pool.connect();
  let isLocked = false;
  const waits: unknown[] = [];
  const report = await runOnce({
    server,
    source,
    stream: newStream(),
    since: day,
    gate: async (sql, act) => {
      if (!isLocked && sql?.includes('skip locked')) {
        isLocked = true;
        await other.query('begin');
        await other.query('select from daywalk.windows for update');
      }
      const result = await act();
      if (sql?.includes('min(lease_owner)')) await other.query('rollback');
      return result;
    },
    onEvent: (event) => event.kind === 'waiting' && waits.push(event),
  }).finally(() => other.release());
  expect(report.gaps).toEqual([]);
  expect(waits).toEqual([]);
});

describe('two processes', () => {
  it('with leases that last share the windows and ask for no page twice', async () => {
    const source = new ImaginedSource(lists(), { totals: 'exact' });
    const exporting = {
      server,
      source,
      stream: newStream(),
      since: days[0] ?? '',
      concurrency: 3,
      pageLength: 5,
      gate: paused(30),
    };
    await runTogether(2, exporting);
    expect(await complaints(server, source, exporting.stream)).toEqual([]);
    const results = [...(await readResults(server, exporting.stream)).values()];
    expect(results.map(({ state, walks }) => `${state} ${walks}`)).toEqual(
      days.map(() => 'complete 1'),
    );
    const asked = source.asked
      .filter(({ from, to }) => from.endsWith('00:00:00') && to.endsWith('23:59:59'))
      .map((request) => `${request.from} ${request.start} ${request.length}`);
    // The first day is empty, and its first page is asked for again until that is believed; shorter questions are for known answers.
    const pages = asked.filter(
      (request) => request.endsWith(' 5') && !request.startsWith(days[0] ?? ''),
    );
    expect(pages.filter((request, index) => pages.indexOf(request) !== index)).toEqual([]);
  });

  it('whose leases end in the middle of everything lose and double nothing', async () => {
    const source = new ImaginedSource(lists());
    // A pause of up to 240 ms outlives a lease of 60 ms, which is renewed each 20 ms while a page is fetched.
    const exporting = {
      server,
      source,
      stream: newStream(),
      since: days[0] ?? '',
      concurrency: 3,
      pageLength: 5,
      gate: pausedWithoutRenewals(240),
      leaseTtlMs: 60,
    };
    await runTogether(3, exporting);
    expect(await complaints(server, source, exporting.stream)).toEqual([]);
    // A window that was claimed ten times in vain is left alone for a while.
    await server.query(
      `update daywalk.windows set due_at = clock_timestamp() where state = 'failed'`,
    );
    await runOnce({ ...exporting, gate: (_, act) => act(), leaseTtlMs: 60_000 });
    expect(await complaints(server, source, exporting.stream)).toEqual([]);
    const results = [...(await readResults(server, exporting.stream)).values()];
    expect(results.map(({ state }) => state)).toEqual(days.map(() => 'complete'));
    const [taken] = await server.query(
      'select max(lease_number)::int as most from daywalk.windows',
    );
    expect(taken?.most).toBeGreaterThan(1);
  });
});

describe('a worker that is told to stop', () => {
  it('gives its windows back at once, and another goes on from the checkpoint', async () => {
    const stop = new AbortController();
    const source = new ImaginedSource(
      { [days[0] ?? '']: records(1, 14) },
      {
        before: async (_, __, number) => {
          if (number === 3) stop.abort(new Error('stopped'));
        },
      },
    );
    const exporting = { server, source, stream: newStream(), since: days[0] ?? '', pageLength: 4 };
    await expect(runOnce({ ...exporting, signal: stop.signal })).rejects.toThrow('stopped');
    expect(
      await server.query(`select from daywalk.windows where lease_id is not null or attempts > 0`),
    ).toEqual([]);
    await runOnce(exporting);
    expect(await complaints(server, source, exporting.stream)).toEqual([]);
    expect((await readResults(server, exporting.stream)).get(days[0] ?? '')).toMatchObject({
      state: 'complete',
      walks: 1,
    });
  });
});

describe('a claim whose first copy arrives late', () => {
  it('leaves no window to a lease that nobody knows', async () => {
    const proxy = await startPostgresProxy(server.url);
    const held = proxy.ambush('hold', /for update skip locked/);
    const [first = '', second = ''] = closedDays(2);
    const source = new ImaginedSource({ [first]: records(1, 5), [second]: records(6, 3) });
    // The lease that nobody knows ends soon; until then the run waits for it.
    const exporting = { server, source, stream: newStream(), since: first, leaseTtlMs: 2_000 };
    const report = await runOnce({
      ...exporting,
      server: { ...server, url: proxy.url },
      statementTimeoutMs: 1_000,
      gate: async (statement, act) => {
        const result = await act();
        // The first window is done, so that no window has the lease any more that the held claim names.
        if (statement !== null && /daywalk\.prove_window/.test(statement)) {
          held.release();
          await held.executed;
        }
        return result;
      },
    });
    await proxy.close();
    expect(report.gaps).toEqual([]);
    expect(await complaints(server, source, exporting.stream)).toEqual([]);
  });
});

it.each([
  ['a day', 'day', true],
  ['a look at a day', 'day', false],
  ['a cut', 'cut', false],
])('%s that no process gets past has failed, and the others go on', async (_, kind, rewalk) => {
  const [first = '', second = ''] = closedDays(2);
  const lists = { [first]: records(1, 5), [second]: records(11, 3) };
  const source = new ImaginedSource(lists, { totals: 'exact' });
  const exporting = { server, source, stream: newStream(), since: first, recheckDays: 7 };
  await runOnce(exporting);
  const again = (attempts: number) =>
    server.query(
      `update daywalk.windows
          set due_at = clock_timestamp(), rewalk = $1,
              attempts = case when kind = $2 and coalesce(midnight, day) = $3 then $4 else 0 end`,
      [rewalk, kind, first, attempts],
    );
  const states = () =>
    server.query(
      `select kind, last_error as "lastError" from daywalk.windows where state <> 'complete'`,
    );
  await again(9);
  await runOnce(exporting);
  expect(await states()).toEqual([]);
  await again(10);
  await runOnce(exporting);
  const lastError = expect.stringMatching(/^taken by workers 11 times without a new page: /);
  expect(await states()).toEqual([{ kind, lastError }]);
  await again(0);
  await runOnce(exporting);
  expect(await states()).toEqual([]);
  expect(await complaints(server, source, exporting.stream)).toEqual([]);
});
