/** What must hold in the end: exact, kept, everything in step, and nothing that grows. */
import { expect } from 'vitest';
import { audit } from '../support/audit.ts';
import type { TestDatabase } from '../support/database.ts';
import { type Days, difference, eachDay } from '../support/multiset.ts';
import { growth, type Reading } from './gauges.ts';
import { CONCURRENCY } from './service.ts';
import type { Site } from './sites.ts';

/** Remembers what is shown from a day on. */
export async function rememberShown({ query }: TestDatabase, from: string): Promise<void> {
  await query(
    `create table if not exists simulated.shown (
       stream text, day date, record text, copies bigint, primary key (stream, day, record))`,
  );
  await query(
    `insert into simulated.shown as s
     select stream, day, md5(record::text), count(*) from daywalk.shown_records where day >= $1::date group by 1, 2, 3
     on conflict (stream, day, record) do update set copies = greatest(s.copies, excluded.copies)`,
    [from],
  );
}

/** Expects that all that was remembered is shown still, but for pruned days (I6). */
export async function expectKept({ query }: TestDatabase): Promise<void> {
  const lost = await query(
    `select s.stream, s.day::text as day, s.record, s.copies, n.copies as now
       from simulated.shown s
       left join (select stream, day, md5(record::text) as record, count(*) as copies
                    from daywalk.shown_records group by 1, 2, 3) as n using (stream, day, record)
      where coalesce(n.copies, 0) < s.copies
        and not exists (select from daywalk.coverage c where c.stream = s.stream and c.day = s.day and c.state = 'pruned')
      limit 5`,
  );
  expect(lost, 'shown before and not any more').toEqual([]);
}

/**
 * Expects of a site that each record of its API is there once and nothing else, ten years and all (I4, I5, I6): in the view, but
 * for pruned days, and in the record table, which outlives pruned days where it is kept for ever. Returns how many the API has.
 */
export async function expectExact(
  { query }: TestDatabase,
  { name, api, tableOutlives }: Site,
  days: Days,
): Promise<number> {
  const sent = eachDay(days).flatMap((day) =>
    api
      .listed({ resource: 'events', from: `${day} 00:00:00`, to: `${day} 23:59:59` })
      .map((text) => ({ day, text })),
  );
  const rows = await query<{ day: string; line: string }>(
    `select day, day || ' ' || text::jsonb::text as line from unnest($1::text[], $2::text[]) as t (day, text)`,
    [sent.map(({ day }) => day), sent.map(({ text }) => text)],
  );
  const states = await query<{ day: string; state: string }>(
    'select day::text as day, state from daywalk.coverage where stream = $1',
    [name],
  );
  const pruned = new Set(states.filter(({ state }) => state === 'pruned').map(({ day }) => day));
  const whole = states.filter(({ state }) => state === 'complete' || state === 'pruned');
  expect(
    difference(
      eachDay(days),
      whole.map(({ day }) => day),
    ),
  ).toEqual([]);
  const all = rows.map(({ line }) => line);
  const unpruned = rows.filter(({ day }) => !pruned.has(day)).map(({ line }) => line);
  const found = async (relation: string, condition: string) => {
    const lines = await query<{ line: string }>(
      `select day || ' ' || record::text as line from ${relation} where ${condition} and gone_since is null`,
    );
    return lines.map(({ line }) => line);
  };
  const expectSame = (what: string, lines: readonly string[], wanted: readonly string[]) => {
    expect(difference(lines, wanted), `${what}: records that are not the API's`).toEqual([]);
    expect(difference(wanted, lines), `${what}: records that are missing`).toEqual([]);
  };
  expectSame(name, await found('daywalk.shown_records', `stream = '${name}'`), unpruned);
  const table = await found(`daywalk.${name}_records`, 'true');
  expectSame(`table of ${name}`, table, tableOutlives ? all : unpruned);
  return all.length;
}

/** Expects tables and ledger in step, no lease held, and every invariant kept. */
export async function expectInStep(database: TestDatabase): Promise<void> {
  const { query } = database;
  const found = {
    leases: await query('select * from daywalk.windows where lease_id is not null'),
    walks: await query('select * from daywalk.walks where outcome is null'),
    tables: await query('select * from daywalk.tables where behind <> 0 or faults <> 0'),
    ledger: await query('select * from daywalk.ledger_check where not ok'),
    unsealed: await query('select * from daywalk.ledger_due'),
    prunings: await query('select * from daywalk.prunings where removed_at is null'),
    audit: await audit(database),
  };
  for (const [what, rows] of Object.entries(found)) expect(rows.slice(0, 5), what).toEqual([]);
}

/** Expects that the measured worker holds at the end what it held before, and that planning reads no more than it did. */
export function expectFlat(readings: readonly Reading[]): void {
  const [rss, heap] = [growth(readings, 'rss'), growth(readings, 'heap')];
  expect(heap.second).toBeLessThanOrEqual(heap.first * 1.15 + 4);
  expect(rss.second).toBeLessThanOrEqual(rss.first * 1.15 + 10);
  const [files, timers] = [growth(readings, 'files'), growth(readings, 'timers')];
  expect(files.second).toBeLessThanOrEqual(files.first + 5);
  expect(timers.second).toBeLessThanOrEqual(timers.first + 10);
  expect(growth(readings, 'connections').second).toBeLessThanOrEqual(CONCURRENCY + 3);
  const third = Math.floor(readings.length / 3);
  for (const what of ['plan', 'due'] as const) {
    const median = (part: readonly Reading[]) =>
      part.map((reading) => reading[what].buffers).sort((a, b) => a - b)[
        Math.floor(part.length / 2)
      ] ?? 0;
    const [first, last] = [median(readings.slice(0, third)), median(readings.slice(-third))];
    expect(last, `buffers of ${what}`).toBeLessThanOrEqual(first * 2 + 100);
  }
}
