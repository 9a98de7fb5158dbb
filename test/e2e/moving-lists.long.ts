/** Records come and go while a window is walked: a complete window lacks nothing that was there all the time (I4). */
import { expect, test } from 'vitest';
import type { SimulatorOptions } from '../../simulator/simulator.ts';
import { difference, eachDay, recordTexts, sentTexts } from '../support/multiset.ts';
import { type Scene, setScene } from '../support/scene.ts';

const DAYS = { from: '2026-03-01', to: '2026-03-02' };
const BACKFILL = ['backfill', '--from', DAYS.from, '--to', DAYS.to, '--stream', 'events'];

const WINDOWS = eachDay(DAYS).map((day) => ({
  day,
  from: `${day} 00:00:00`,
  to: `${day} 23:59:59`,
}));

/** What each day's list holds now. */
async function snapshot({ api, database }: Scene): Promise<Map<string, string[]>> {
  const lists = new Map<string, string[]>();
  for (const { day, ...window } of WINDOWS)
    lists.set(day, await sentTexts(database, api.matching(window)));
  return lists;
}

/**
 * Walks while the list moves. What was there before and after must be in a complete window; what came or went in
 * between may be; nothing else is, and nothing twice.
 */
async function walkUnder(
  options: SimulatorOptions,
): Promise<{ scene: Scene; complete: number; reasons: string[] }> {
  const scene = await setScene(options);
  const before = await snapshot(scene);
  const ended = await scene.run(BACKFILL);
  const after = await snapshot(scene);
  const coverage = await scene.database.query<{
    day: string;
    state: string;
    last_error: string | null;
  }>(
    'select day::text as day, state, last_error from daywalk.coverage where day between $1 and $2 and stream = $3',
    [DAYS.from, DAYS.to, 'events'],
  );
  const reasons: string[] = [];
  for (const { day, state, last_error } of coverage) {
    if (state !== 'complete') {
      expect(state).toBe('failed');
      reasons.push(last_error ?? '');
      continue;
    }
    const [first = [], last = []] = [before.get(day), after.get(day)];
    const found = await recordTexts(scene.database, 'events', day);
    const steady = first.filter((text) => last.includes(text));
    expect({ day, missing: difference(steady, found) }).toEqual({ day, missing: [] });
    expect({ day, strange: difference(found, [...new Set([...first, ...last])]) }).toEqual({
      day,
      strange: [],
    });
  }
  expect(ended, ended.stderr).toMatchObject({ code: reasons.length === 0 ? 0 : 3 });
  return { scene, complete: coverage.length - reasons.length, reasons };
}

const PLACES = ['newest', 'oldest', 'inside'] as const;
const TOTALS = ['exact', 'none'] as const;
const cases = PLACES.flatMap((where) => TOTALS.map((totals) => [where, totals] as const));
/** One record after every second page, a few times: the list comes to rest in the end. */
const change = (where: (typeof PLACES)[number]) => ({ every: 2, count: 1, where, limit: 4 });

test.each(cases)('arrivals: %s, totals: %s', async (where, totals) => {
  expect(await walkUnder({ arrivals: change(where), totals })).toMatchObject({ complete: 2 });
});

test.each(cases)('deletions: %s, totals: %s', async (where, totals) => {
  await walkUnder({ deletions: change(where), totals });
});

test.each(TOTALS)('one comes and one goes, totals: %s', async (totals) => {
  await walkUnder({ arrivals: change('oldest'), deletions: change('newest'), totals });
});

test('arrivals that never end: whole for what was there, or failed with the reason; and bounded', async () => {
  const { scene, reasons } = await walkUnder({ arrivals: { every: 1, count: 1, where: 'newest' } });
  for (const reason of reasons)
    expect(reason).toMatch(
      /moved|settle|no end|more than|does not begin|told a total|grows|different records|order does not hold/,
    );
  expect(scene.api.counts.requests).toBeLessThan(2_500);
});
