/** Random schedules of the model against the real statements in Postgres: after every step the rows are those of the model. */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { dayWindow } from '../../src/plan/days.ts';
import type { Database } from '../../src/store/database.ts';
import { acquireLease, type Lease, releaseLease, renewLease } from '../../src/store/leases.ts';
import { storePage } from '../../src/store/pages.ts';
import { endWalk, openWalk, proveWindow } from '../../src/store/walks.ts';
import { audit, forbidChanges } from '../support/audit.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { dice } from '../support/dice.ts';
import { tries } from '../support/night.ts';
import { totalProof } from '../support/publishing.ts';
import {
  CONTRACT,
  clear,
  DAY,
  EVERYTHING,
  expireLeases,
  openDatabase,
  pageOf,
  planBareDays,
  records,
  storing,
  TTL_MS,
} from '../support/store.ts';
import { type Answer, PAGES, type Rows, type Statement, wrongRows } from './lease-model.ts';
import { type Recorded, record } from './recorded.ts';
import { begin, type Step, steps, type World } from './worker-model.ts';

// Some thousand statements, one after the other.
vi.setConfig({ testTimeout: 240_000 });

const SCHEDULES = Number(process.env.MODEL_SCHEDULES ?? tries(15, 30));
const STEPS = 60;
/** Schedules in which the window becomes complete: of those drawn it is one of five, so that all of them may miss it. */
const TO_THE_END: [seed: number][] = [[10], [16], [28]];
const BUDGET = { crashes: 4, unknown: 8, shifts: 2, failovers: 0 };

let server: TestDatabase;
beforeAll(async () => {
  server = await createTestDatabase();
  await forbidChanges(server);
});
beforeEach(() => clear(server));

/** The window of a schedule in Postgres, under the names that the model has for leases and walks. */
class RealWindow {
  readonly #database: Database;
  readonly #streamId: number;
  readonly #leases = new Map<number, string>();
  #windowId = 0;

  private constructor(database: Database, streamId: number) {
    this.#database = database;
    this.#streamId = streamId;
  }

  static async plan(database: Database): Promise<RealWindow> {
    const real = new RealWindow(database, await planBareDays(database));
    const [row] = await server.query<{ id: number }>(
      'select window_id::int as id from daywalk.windows',
    );
    real.#windowId = row?.id ?? 0;
    return real;
  }

  /** Executes what the model executes. */
  async execute(statement: Statement): Promise<Answer> {
    const { sql, values } = await record((database) => this.#send(database, statement));
    const rows = await this.#database.query(sql, values);
    switch (statement.kind) {
      case 'acquire':
      case 'renew':
        return rows.length === 1 ? 'done' : statement.kind === 'acquire' ? 'nothing' : 'lost';
      case 'page':
        return rows[0]?.stored === true ? 'done' : 'nothing';
      case 'prove':
        return rows[0]?.outcome === 'proven'
          ? 'done'
          : rows[0]?.outcome === 'lost'
            ? 'lost'
            : 'nothing';
      default:
        return 'done';
    }
  }

  /** The statement as the code sends it. */
  #send(database: Database, { kind, leaseId, walk, at, proof }: Statement): Promise<unknown> {
    const lease: Lease = { windowId: this.#windowId, leaseId: this.#lease(leaseId) };
    // The walks of the only window are numbered from 1 on, and so are their ids.
    const walkId = walk;
    switch (kind) {
      case 'acquire':
        return acquireLease(database, lease.leaseId, 'model', TTL_MS, {
          ...EVERYTHING,
          streamIds: [this.#streamId],
        });
      case 'open':
        return openWalk(database, lease, {
          ...dayWindow(DAY),
          levelFrom: null,
          levelTo: null,
          role: 'whole',
          pageLength: 100,
          ignored: [],
        });
      case 'page': {
        const checkpoint = { walkId, nextStart: at, pages: at, skip: 0 } as const;
        return storePage(
          storing(database, lease),
          checkpoint,
          pageOf(at, records(at + 1, 1), PAGES),
          CONTRACT,
        );
      }
      case 'end':
        return endWalk(database, lease, walkId, {
          outcome: 'shifted',
          reason: 'it shifted',
          end: null,
          claims: [],
          requests: 0,
        });
      case 'prove':
        return proveWindow(
          database,
          lease,
          { walkId, nextStart: at, pages: at },
          totalProof(proof),
        );
      case 'renew':
        return renewLease(database, lease, TTL_MS);
      case 'release':
        return releaseLease(database, lease);
    }
  }

  #lease(hold: number): string {
    const known = this.#leases.get(hold);
    if (known !== undefined) return known;
    const fresh = randomUUID();
    this.#leases.set(hold, fresh);
    return fresh;
  }

  endLease(): Promise<void> {
    return expireLeases(server);
  }

  /** The rows in the words of the model. */
  async rows(): Promise<Omit<Rows, 'counter'>> {
    const [window] = await server.query<{
      lease: string | null;
      expired: boolean | null;
      state: string;
      current: number | null;
    }>(
      `select lease_id as lease, lease_expires < clock_timestamp() as expired, state, current_walk::int as current from daywalk.windows`,
    );
    const walks = await server.query<{
      next: number;
      stored: number[];
      outcome: 'shifted' | 'proven' | null;
      shown: string;
    }>(
      `select k.next_start::int as next, k.outcome, k.shown,
              coalesce(array_agg(p.start::int order by p.fetched_at, p.page_no) filter (where p.walk_id is not null), '{}') as stored
         from daywalk.walks k left join daywalk.pages p on p.walk_id = k.walk_id
        group by k.walk_id order by k.walk_id`,
    );
    const holder = [...this.#leases].find(([, lease]) => lease === window?.lease)?.[0] ?? 0;
    expect(
      walks.map(({ shown, outcome }) => (shown !== 'no') === (outcome === 'proven')),
    ).not.toContain(false);
    return {
      holder,
      leaseId: holder,
      expired: window?.expired ?? false,
      complete: window?.state === 'complete',
      current: window?.current ?? 0,
      walks: walks.map(({ shown: _, ...walk }) => walk),
    };
  }
}

/** Faults and detours come less often than what leads on, or no schedule would come to its end. */
function drawn(next: readonly Step[], random: number): Step {
  const weights = next.map(({ name }) =>
    /dies|given up|never arrives|release|sends renew|sends end|lease ends/.test(name) ? 1 : 5,
  );
  let left = random * weights.reduce((sum, weight) => sum + weight, 0);
  const at = weights.findIndex((weight) => {
    left -= weight;
    return left < 0;
  });
  return next[at] as Step;
}

/** Follows one schedule in both worlds. Returns how many statements Postgres executed, and whether the window became complete. */
async function follow(
  database: Database,
  seed: number,
): Promise<{ statements: number; late: number; complete: boolean }> {
  await clear(server);
  const real = await RealWindow.plan(database);
  const random = dice(seed);
  let world: World = begin(BUDGET);
  let [statements, late] = [0, 0];
  const path: string[] = [];
  for (let taken = 0; taken < STEPS; taken++) {
    const next = steps(world);
    if (next.length === 0) break;
    const step = drawn(next, random());
    path.push(step.name);
    if (step.executes !== undefined) {
      const answer = await real.execute(step.executes);
      statements += 1;
      if (step.worker === undefined) late += 1;
      // Statements without rows of their own answer nothing that anybody reads.
      if (['acquire', 'page', 'prove', 'renew'].includes(step.executes.kind))
        expect({ answer, path }).toEqual({ answer: step.answer, path });
    } else if (step.name === 'the lease ends') await real.endLease();
    world = step.next;
    const { counter: _, ...expected } = world.rows;
    expect({ path, rows: await real.rows() }).toEqual({ path, rows: expected });
    expect(wrongRows(world.rows)).toBeNull();
  }
  expect(await audit(server)).toEqual([]);
  return { statements, late, complete: world.rows.complete };
}

test('the rows are those of the model, whatever comes late, twice or never (I1 to I4)', async () => {
  const database = openDatabase(server.url);
  const came = { statements: 0, late: 0, complete: 0 };
  await fc.assert(
    fc.asyncProperty(fc.integer(), async (seed) => {
      const { statements, late, complete } = await follow(database, seed);
      came.statements += statements;
      came.late += late;
      came.complete += complete ? 1 : 0;
    }),
    { numRuns: SCHEDULES, endOnFailure: true, examples: TO_THE_END },
  );
  console.log(came);
  expect(came.late).toBeGreaterThan(SCHEDULES / 2);
  expect(came.complete).toBeGreaterThan(0);
});

test('a recorded statement is the one that the code sends', async () => {
  const { sql, values }: Recorded = await record((database) =>
    renewLease(database, { windowId: 7, leaseId: 'x' }, 5),
  );
  expect(sql).toMatch(/^update daywalk\.windows/);
  expect(values).toEqual([7, 'x', 5]);
});
