/** What it costs to find out what is to be done: the statements of a pass that look at all days, explained and not kept. */
import { readGaps } from '../../src/days/coverage-rows.ts';
import type { Database } from '../../src/store/database.ts';
import { acquireLease, countDue } from '../../src/store/leases.ts';
import { listKnownSpans } from '../../src/store/windows.ts';
import type { TestDatabase } from '../support/database.ts';

/** What some statements took. */
export interface Cost {
  readonly ms: number;
  /** Blocks of 8 kB that were read, from memory or not: a busy machine does not change that. */
  readonly buffers: number;
}

/** What planning costs: the days that are there, and the gaps; and what looking for due windows does: counting, and claiming one. */
export interface PlanCost {
  readonly plan: Cost;
  readonly due: Cost;
}

/** Reads both, for all streams at once. */
export async function readPlanCost(database: TestDatabase): Promise<PlanCost> {
  const streams = await database.query<{ stream_id: number; name: string }>(
    'select stream_id, name from daywalk.streams',
  );
  const streamIds = streams.map((stream) => stream.stream_id);
  const scope = { streamIds, range: null, newestFirst: false };
  const lease = '00000000-0000-4000-8000-000000000000';
  return {
    plan: await costOf(database, async (listening) => {
      await listKnownSpans(listening, streamIds);
      await readGaps(
        listening,
        streams.map(({ name }) => name),
      );
    }),
    due: await costOf(database, async (listening) => {
      await countDue(listening, scope);
      await acquireLease(listening, lease, 'nobody', 1, scope);
    }),
  };
}

interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

async function costOf(
  { pool }: TestDatabase,
  ask: (listening: Database) => Promise<void>,
): Promise<Cost> {
  const statements: Statement[] = [];
  const persist = async (text: string, values: readonly unknown[]) => {
    statements.push({ text, values });
    return [];
  };
  await ask({ persist } as unknown as Database);
  const cost = { ms: 0, buffers: 0 };
  const client = await pool.connect();
  try {
    for (const { text, values } of statements) {
      await client.query('begin');
      const { rows } = await client.query(
        `explain (analyze, buffers, timing off, format json) ${text}`,
        [...values],
      );
      await client.query('rollback');
      const [{ Plan, 'Execution Time': ms }] = rows[0]['QUERY PLAN'];
      cost.ms += ms;
      cost.buffers += Plan['Shared Hit Blocks'] + Plan['Shared Read Blocks'];
    }
  } finally {
    client.release();
  }
  return cost;
}
