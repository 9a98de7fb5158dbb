/** Fetching ahead changes nothing but the time: the same pages, in the same order, from sources that answer in any order (I1, I3, I4). */
import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { RequestError, UnavailableError } from '../../src/errors.ts';
import { forbidChanges } from '../support/audit.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { tries } from '../support/night.ts';
import { clear, expireLeases, records } from '../support/store.ts';
import { imagined, isHonest, sourceOf } from './any-source.ts';
import { closedDays, complaints, newStream, readResults, runOnce } from './exporting.ts';
import { ImaginedSource } from './imagined-source.ts';
import { type Gate, Killed, killedAt, openGate } from './perils.ts';

let server: TestDatabase;
const [day = ''] = closedDays(1);
const RUNS = Number(process.env.EXPORT_RUNS ?? tries(1, 3));
/** The same cases at each run; `EXPORT_SEED` and `EXPORT_RUNS` try others, and more. */
const SEED = Number(process.env.EXPORT_SEED ?? 7);

beforeAll(async () => {
  server = await createTestDatabase();
  await forbidChanges(server);
});

/** Requests wait before they are answered and before the answer comes, each for another while. */
function withLatencies(waits: readonly number[], inner: Gate = openGate): Gate {
  let number = 0;
  const wait = () => systemClock.sleep(waits[number++ % waits.length] ?? 0);
  return async (statement, act) => {
    if (statement !== null) return inner(statement, act);
    await wait();
    const answer = await inner(statement, act);
    await wait();
    return answer;
  };
}

const latencies = fc.array(fc.integer({ min: 0, max: 6 }), { minLength: 1, maxLength: 9 });

/** Everything that is stored, window by window (which are walked side by side), in the order in which it was committed. */
const commits = () =>
  server.query(
    `select w.kind, w.from_time::text as "from", w.to_time::text as "to", k.number, k.from_time::text as "walkFrom", k.to_time::text as "walkTo", p.page_no, p.start, p.length,
            p.records, encode(p.sha256, 'hex') as sha256
       from daywalk.pages p
       join daywalk.walks k on k.walk_id = p.walk_id
       join daywalk.windows w on w.window_id = k.window_id
      order by w.from_time, w.to_time, w.level_from nulls first, p.fetched_at, k.walk_id, p.page_no`,
  );

it('a list that holds still gives the same pages in the same order, and exact totals the same requests', {
  timeout: 300_000,
}, async () => {
  const still = fc.record({
    count: fc.integer({ min: 0, max: 60 }),
    totals: fc.constantFrom('exact', 'exact', 'none', 'bound', 'beyond', 'page'),
    clamp: fc.option(fc.integer({ min: 1, max: 7 }), { nil: undefined }),
    pageLength: fc.integer({ min: 1, max: 9 }),
    concurrency: fc.integer({ min: 1, max: 5 }),
    waits: latencies,
  });
  await fc.assert(
    fc.asyncProperty(still, async (drawn) => {
      const { count, totals, clamp, pageLength, concurrency, waits } = drawn;
      const run = async (aheadBytes: number) => {
        await clear(server);
        const habits = clamp === undefined ? { totals } : { totals, clamp };
        const source = new ImaginedSource({ [day]: records(1, count) }, habits);
        const stream = newStream();
        const gate = withLatencies(waits);
        const since = day;
        await runOnce({ server, source, stream, since, pageLength, concurrency, gate, aheadBytes });
        expect(await complaints(server, source, stream)).toEqual([]);
        const { published, lastError } = (await readResults(server, stream)).get(day) ?? {};
        return { commits: await commits(), published, lastError, requests: source.asked.length };
      };
      const without = await run(0);
      const ahead = await run(1_000_000);
      if (totals === 'exact') expect(ahead).toEqual(without);
      const { requests } = ahead;
      expect({ ...ahead, requests: 0 }).toEqual({ ...without, requests: 0 });
      // Totals that promise too much cost what is under way when the list ends; no total a quarter of the pages.
      const most = 2 * concurrency * ahead.commits.length;
      expect(requests - without.requests).toBeLessThanOrEqual(
        totals === 'beyond' || totals === 'bound' ? most : ahead.commits.length / 4,
      );
    }),
    { numRuns: RUNS, endOnFailure: true, seed: SEED },
  );
});

it('a list that moves, a source that fails and processes that are killed: exactly the records, or not complete', {
  timeout: 600_000,
}, async () => {
  const busy = fc.record({
    drawn: imagined,
    concurrency: fc.integer({ min: 2, max: 5 }),
    waits: latencies,
  });
  await fc.assert(
    fc.asyncProperty(busy, async ({ drawn, concurrency, waits }) => {
      await clear(server);
      const source = sourceOf(drawn, day);
      const stream = newStream();
      const { pageLength } = drawn;
      for (const kill of [...drawn.kills, 0, 0, 0]) {
        const inner = kill === 0 ? openGate : killedAt(kill, { taken: 0 });
        const gate = withLatencies(waits, inner);
        const exporting = { server, source, stream, since: day, pageLength, concurrency, gate };
        const ended = await runOnce(exporting).catch((error: unknown) => error);
        if (ended instanceof Error && !isExpected(ended)) throw ended;
        expect(await complaints(server, source, stream)).toEqual([]);
        expect(await outOfOrder()).toEqual([]);
        await expireLeases(server);
        await server.query(
          'update daywalk.windows set due_at = clock_timestamp() where due_at is not null',
        );
      }
      const result = (await readResults(server, stream)).get(day);
      if (isHonest(drawn)) expect(result).toMatchObject({ state: 'complete' });
      else expect(result?.state).toMatch(/complete|failed/);
    }),
    { numRuns: RUNS, endOnFailure: true, seed: SEED },
  );
});

/** Pages that were committed before one that stands before them. */
const outOfOrder = () =>
  server.query(
    `select p.walk_id, p.page_no from daywalk.pages p
       join daywalk.pages q on q.walk_id = p.walk_id and q.page_no < p.page_no and q.fetched_at > p.fetched_at`,
  );

const isExpected = (error: Error): boolean =>
  error instanceof Killed || error instanceof UnavailableError || error instanceof RequestError;
