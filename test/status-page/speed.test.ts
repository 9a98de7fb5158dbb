/** Speed: ten years of two streams are one page, made in a fraction of a second, and read once for all who ask. */
import { expect, it, onTestFinished } from 'vitest';
import type { Clock } from '../../src/clock.ts';
import { createTestDatabase } from '../support/database.ts';
import { ask, fillCalendar, patientClock, serveStatus } from '../support/status-scene.ts';

/** The aim is 200 ms, on a machine that does nothing else; a slow or busy one gets as much more as it takes for this. */
const MOST_MS = 1_500;
const YARDSTICKS = 8;
const YARDSTICK = 'select sum(sqrt(n)) from generate_series(1, 400000) as n';

it('ten years of two streams', async () => {
  const database = await createTestDatabase();
  const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
  const first = `${Number(yesterday.slice(0, 4)) - 10}${yesterday.slice(4).replace('02-29', '02-28')}`;
  for (const stream of ['events', 'smart-event'])
    await fillCalendar(database, stream, first, yesterday);
  await database.query('analyze');
  let ticks = 0;
  // Time flies, so that nothing that was kept is fresh enough.
  const hasty: Clock = { ...patientClock, monotonic: () => (ticks += 60_000) };
  const scene = await serveStatus(database.url, {
    streams: ['events', 'smart-event'],
    clock: hasty,
  });
  onTestFinished(() => scene.close());
  const took: number[] = [];
  const yardsticks: number[] = [];
  for (let turn = 0; turn < 9; turn++) {
    const before = performance.now();
    await database.query(YARDSTICK);
    const began = performance.now();
    yardsticks.push(began - before);
    const { status, body } = await ask(scene.url, '/', { headers: { 'accept-encoding': 'gzip' } });
    took.push(performance.now() - began);
    expect(status).toBe(200);
    if (turn === 0) expect(body.length).toBeLessThan(150_000);
  }
  const [median, yardstick] = [took, yardsticks].map((all) => all.sort((a, b) => a - b)[4] ?? 0);
  console.info(
    `ten years of two streams: ${median?.toFixed(0)} ms, the slowest ${took.at(-1)?.toFixed(0)} ms; the yardstick ${yardstick?.toFixed(0)} ms`,
  );
  expect(median).toBeLessThan(Math.max(MOST_MS, YARDSTICKS * (yardstick ?? 0)));
});

it('as many readers as are answered at a time cost the database what one costs', async () => {
  const database = await createTestDatabase();
  await fillCalendar(database, 'events', '2026-01-01', '2026-03-01');
  const scene = await serveStatus(database.url);
  onTestFinished(() => scene.close());
  const answers = await Promise.all(Array.from({ length: 32 }, () => ask(scene.url, '/')));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  const [row] = await database.query<{ connections: number }>(
    `select count(*)::int as connections from pg_stat_activity where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid() and application_name = ''`,
  );
  expect(row?.connections).toBeLessThanOrEqual(2 + 1);
});
