/**
 * Processes that interleave in any way, step by step: what is complete is exact, what was shown stays, nothing hangs, and what decent
 * sources have is proven (I2, I4, I6).
 */
import fc from 'fast-check';
import { beforeAll, it } from 'vitest';
import { audit, forbidChanges } from '../support/audit.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { tries } from '../support/night.ts';
import { letTimePass } from '../support/pass-time.ts';
import { clear, expireLeases } from '../support/store.ts';
import {
  closedDays,
  type Exporting,
  newStream,
  readResults,
  runOnce,
  SETTLE_MS,
  type WindowResult,
} from './exporting.ts';
import { idOf } from './imagined-source.ts';
import { Killed } from './perils.ts';
import { happening, isDecent, LATER, shifts, WorldSource, world } from './random-world.ts';
import { type Cut, type Manner, Scheduler } from './scheduler.ts';

let server: TestDatabase;
const RUNS = Number(process.env.EXPORT_RUNS ?? tries(3, 300));
/** The same cases at each run; `EXPORT_SEED` and `EXPORT_RUNS` try others, and more. */
const SEED = Number(process.env.EXPORT_SEED ?? 7);
const DAY_MS = 86_400_000;
const LOOK = 'update daywalk.windows set due_at = clock_timestamp() where due_at is not null';

beforeAll(async () => {
  server = await createTestDatabase();
  await forbidChanges(server);
});

const step = fc.integer({ min: 0, max: 500 });
const worker = fc.record({
  begins: fc.oneof(fc.constant(0), fc.constant(0), step),
  concurrency: fc.integer({ min: 1, max: 3 }),
  cuts: fc.array(
    fc.record({
      at: fc.integer({ min: 1, max: 80 }),
      when: fc.constantFrom<Cut['when']>('before', 'after', 'late'),
    }),
    { maxLength: 3 },
  ),
  /** How it ends before it is done, and after how many steps; of one that was killed the leases end some steps later. */
  ends: fc.option(
    fc.record({
      how: fc.constantFrom('killed', 'stopped'),
      after: fc.integer({ min: 5, max: 400 }),
      leasesEnd: fc.nat(60),
    }),
    { freq: 2 },
  ),
});
const cases = fc.record({
  world,
  /** Days that were exported before: looks at them are due. */
  known: fc.oneof(fc.constant(0), fc.nat(3)),
  processes: fc.array(worker, { minLength: 2, maxLength: 3 }),
  /** Steps at which all leases end, though their processes live. */
  expiries: fc.array(step, { maxLength: 4 }),
  happenings: fc.oneof(
    fc.array(fc.record({ step, what: happening }), { maxLength: 0 }),
    fc.array(fc.record({ step, what: happening }), { maxLength: 3 }),
  ),
  seed: fc.nat(),
  manner: fc.constantFrom<Manner>('chance', 'bursts', 'ranks'),
  pageLength: fc.constantFrom(8, 50),
  windowRecords: fc.constantFrom(8, 1_000),
});
type Case = typeof cases extends fc.Arbitrary<infer Drawn> ? Drawn : never;

/** One process, from its first step to its last one. */
const ALONE: Pick<Case, 'processes' | 'expiries' | 'manner'> = {
  processes: [{ begins: 0, concurrency: 1, cuts: [], ends: null }],
  expiries: [],
  manner: 'chance',
};

/** Judges what is stored, after each run. */
class Judge {
  readonly wrong: string[] = [];
  readonly #source: WorldSource;
  readonly #stream: string;
  readonly #drawn: Case;
  #shown: ReadonlyMap<string, number> = new Map();

  constructor(source: WorldSource, stream: string, drawn: Case) {
    this.#source = source;
    this.#stream = stream;
    this.#drawn = drawn;
  }

  /** @param isNow no time was made to pass: the marks of a day tell when, so that its entry in the ledger is of then. */
  async judge(when: string, isNow: boolean): Promise<ReadonlyMap<string, WindowResult>> {
    const say = (text: string) => this.wrong.push(`${when}: ${text}`);
    const broken = await audit(server);
    for (const text of broken) if (isNow || !text.startsWith('the ledger')) say(text);
    const { ever, names } = this.#source;
    const results = await readResults(server, newStream({ name: this.#stream }));
    const isShifting = this.#habits.some(shifts);
    const now = new Map<string, number>();
    for (const [day, { published }] of results)
      for (const record of published) {
        now.set(record, (now.get(record) ?? 0) + 1);
        const own = ever.get(record);
        if (own === undefined) say(`${day} shows ${record}, which never was`);
        else if (own !== day && !isShifting) say(`${day} shows ${record} of ${own}`);
      }
    if (names.every((day) => results.get(day)?.state === 'complete'))
      for (const { record, copies } of await this.#twins())
        say(`${record} is shown ${copies} times`);
    for (const [day, { state }] of results)
      if (state === 'complete') for (const text of this.#missing(day, now)) say(text);
    for (const record of this.#shown.keys())
      if (!now.has(record)) say(`${record} is shown no more`);
    this.#shown = now;
    return results;
  }

  /** Once all is calm a decent source has no day that is not complete. */
  demandAll(results: ReadonlyMap<string, WindowResult>): void {
    // A first day that lost its only record looks forgotten.
    if (this.#happens('deletion') || !this.#habits.every(isDecent)) return;
    for (const day of this.#source.names) {
      const { state, lastError } = results.get(day) ?? {};
      if (state !== 'complete') this.wrong.push(`${day} is ${state}: ${lastError}`);
    }
  }

  /** Nobody sees an edit in the middle, nor an arrival for which another record was deleted, or is hidden. */
  #missing(day: string, now: ReadonlyMap<string, number>): string[] {
    const ids = new Set([...now.keys()].map(idOf));
    const isBalanced = this.#happens('deletion') || this.#happens('habit');
    return (this.#source.lists.get(`${day} 00:00:00`) ?? [])
      .filter((record) => !ids.has(idOf(record)) && !(isBalanced && idOf(record) > LATER))
      .map((record) => `${day} is complete and lacks ${record}`);
  }

  /**
   * What is shown more than once: there are no twins. Where a habit changes between the walks of a day and of its midnight, nobody knows
   * that what the day lost there is what the day beside it shows: then only what both show now is wrong.
   */
  #twins(): Promise<{ record: string; copies: number }[]> {
    return server.query(
      `select record::text as record, count(*)::int as copies from daywalk.shown_records
        where stream = $1 and (gone_since is null or not $2) group by record having count(*) > 1`,
      [this.#stream, this.#happens('habit')],
    );
  }

  get #habits() {
    const { habit, later } = this.#drawn.world;
    return this.#happens('habit') ? [habit, later] : [habit];
  }

  #happens(kind: string): boolean {
    return this.#drawn.happenings.some(({ what }) => what.kind === kind);
  }
}

/** Runs the processes of a case, which interleave as it says. @returns what ended those that were neither killed nor stopped. */
async function interleave(drawn: Case, exporting: Exporting, source: WorldSource) {
  const scheduler = new Scheduler(drawn.seed, drawn.manner);
  const failures: Error[] = [];
  let underWay = 0;
  const planned: { readonly at: number; readonly act: () => unknown }[] = [];
  const plan = (at: number, act: () => unknown) => {
    planned.push({ at, act });
    planned.sort((one, other) => one.at - other.at);
  };
  const kill = (owner: string, leasesEnd: number) => {
    scheduler.kill(owner);
    plan(scheduler.step + leasesEnd, () =>
      server.query(`update daywalk.windows set lease_expires = 'epoch' where lease_owner = $1`, [
        owner,
      ]),
    );
  };
  for (const [number, { begins, concurrency, cuts, ends }] of drawn.processes.entries())
    plan(begins, () => {
      const owner = `process ${number}`;
      const stop = new AbortController();
      if (ends !== null)
        plan(scheduler.step + ends.after, () =>
          ends.how === 'killed' ? kill(owner, ends.leasesEnd) : stop.abort(new Killed('stopped')),
        );
      const [gate, clock] = [scheduler.gate(owner, cuts), scheduler.clock(owner)];
      underWay += 1;
      runOnce({ ...exporting, owner, concurrency, gate, clock, signal: stop.signal })
        .catch((error: Error) => {
          if (!(error instanceof Killed)) failures.push(error);
        })
        .finally(() => {
          underWay -= 1;
        });
    });
  for (const { step: at, what } of drawn.happenings) plan(at, () => source.happen(what));
  for (const at of drawn.expiries) plan(at, () => expireLeases(server));
  await scheduler.drive(
    () => underWay > 0,
    async (now) => {
      while ((planned[0]?.at ?? Number.POSITIVE_INFINITY) <= now) await planned.shift()?.act();
    },
    async () => {
      const next = planned.shift();
      await next?.act();
      return next !== undefined;
    },
  );
  return failures;
}

/** @returns what is wrong; empty: nothing. */
async function live(drawn: Case): Promise<string[]> {
  await clear(server);
  const { days } = drawn.world;
  // The hours behind the newest of them are over, which only a cut may show.
  const names = closedDays(days + 1).slice(0, -1);
  const source = new WorldSource(drawn.world, names);
  const stream = newStream();
  const exporting = {
    ...{ server, source, stream, since: names[0] as string, recheckDays: 7 },
    settleMs: SETTLE_MS + DAY_MS,
    // What stands beside a midnight has to fit into a page where dates hide hours: else nobody is told.
    pageLength: source.isByDates ? 50 : drawn.pageLength,
    windowRecords: drawn.windowRecords,
  };
  const judge = new Judge(source, stream.name, drawn);
  const known = Math.min(drawn.known, days - 1);
  if (known > 0) {
    await runOnce({ ...exporting, settleMs: exporting.settleMs + (days - known) * DAY_MS });
    await judge.judge('before', true);
    await letTimePass(server, '90 minutes');
  }
  for (const error of await interleave(drawn, exporting, source))
    judge.wrong.push(`a run ended: ${error.stack}`);
  // Otherwise looks tell of it later.
  const isSteady = drawn.happenings.length === 0;
  if (isSteady) await judge.judge('at once', known === 0);
  await expireLeases(server);
  for (const pause of ['90 minutes', '1 day', '1 day']) {
    await server.query(LOOK);
    await runOnce(exporting);
    if (isSteady) await judge.judge(`${pause} before`, false);
    await letTimePass(server, pause);
  }
  judge.demandAll(await judge.judge('at the end', false));
  return judge.wrong;
}

it('days of processes that interleave in any way are exact, or not complete', {
  timeout: 3_600_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(cases, async (drawn) => {
      const wrong = await live(drawn);
      if (wrong.length === 0) return;
      // Whether it takes several processes.
      const alone = await live({ ...drawn, ...ALONE });
      throw new Error([...wrong, 'and by one process alone:', ...alone].join('\n'));
    }),
    // A smaller case takes many runs to find; the seed is told.
    { numRuns: RUNS, endOnFailure: true, seed: SEED },
  );
});
