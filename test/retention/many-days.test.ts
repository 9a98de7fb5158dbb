/** What pruning reads where there are ten years of days: for each day the rows of that day, and not those of all others. */
import { expect, test } from 'vitest';
import { listOldDays, type PruningKind } from '../../src/retention/rows.ts';
import type { Database } from '../../src/store/database.ts';
import { createTestDatabase } from '../support/database.ts';
import { fillCalendar } from '../support/status-scene.ts';

/** Blocks of 8 kB; it takes about 15, and all walks are 200 or more. */
const MOST_BUFFERS = 60;

interface Explained {
  readonly 'QUERY PLAN': readonly [{ readonly Plan: Readonly<Record<string, number>> }];
}

test.each<PruningKind>(['day', 'superseded'])(
  'listing what goes (%s) reads few blocks for each day',
  async (kind) => {
    const database = await createTestDatabase();
    await fillCalendar(database, 'events', '2016-01-01', '2025-12-31');
    await database.query('analyze');
    let [text, values]: [string, readonly unknown[]] = ['', []];
    const persist = async (...statement: [string, readonly unknown[]]) => {
      [text, values] = statement;
      return [];
    };
    const limits = [{ stream: 'events', olderThanMs: 0 }];
    await listOldDays({ persist } as unknown as Database, kind, limits);
    const rows = await database.query<Explained>(
      `explain (analyze, buffers, format json) ${text}`,
      values,
    );
    const { Plan } = (rows[0] as Explained)['QUERY PLAN'][0];
    const days = 3653;
    expect(
      ((Plan['Shared Hit Blocks'] ?? 0) + (Plan['Shared Read Blocks'] ?? 0)) / days,
    ).toBeLessThan(MOST_BUFFERS);
  },
);
