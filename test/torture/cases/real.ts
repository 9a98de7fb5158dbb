/** Real events, where the file is there: a source that is as unhelpful as a source can be and still whole. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { loadDataset } from '../../../simulator/dataset.ts';
import { addDays } from '../../../src/plan/days.ts';
import { type Case, EXACT } from '../case.ts';
import { between } from '../records.ts';

const FILE = fileURLToPath(
  new URL('../../../../shared/data/security-events.ndjson.gz', import.meta.url),
);

/** So many days in a row are exported: those that have the most events. */
const DAYS = 60;

/** The first of the days with the most events, the last of them, and on how many of them there are any. */
async function densestDays(): Promise<{ first: string; last: string; busy: number }> {
  const counts = new Map<string, number>();
  for (const { time } of (await loadDataset(FILE)).records) {
    const day = new Date(time).toISOString().slice(0, 10);
    counts.set(day, (counts.get(day) ?? 0) + 1);
  }
  const spans = [...counts.keys()].map((first) => {
    const last = addDays(first, DAYS - 1);
    const within = [...counts].filter(([day]) => day >= first && day <= last);
    return { first, last, busy: within.length, events: within.reduce((sum, [, n]) => sum + n, 0) };
  });
  return spans.reduce((best, span) => (span.events > best.events ? span : best));
}

const SPAN = existsSync(FILE) ? await densestDays() : null;

const cases: Case[] = [];
if (SPAN === null) console.warn(`no real events: ${FILE} is not there, their cases are left out`);
else {
  const { first, last, busy } = SPAN;
  cases.push({
    name: 'real events',
    server: `real events on ${busy} of ${DAYS} days; an empty page beyond 1,000, clamp 100, no totals, newest first; 200 more arrive after the first recheck`,
    expect: EXACT,
    from: first,
    to: last,
    options: { pageLength: 1000 },
    mostRatio: 40,
    scene: () => ({
      sim: {
        dataset: FILE,
        totals: 'none',
        clamp: 100,
        offsetCap: { limit: 1000, answer: 'empty' },
      },
      later: [
        (stage) => stage.passDay(),
        async (stage) => {
          const middle = Date.parse(`${addDays(last, 0)}T00:00:00Z`);
          stage.simulator.insert(between(200, middle, 3_600_000, 500_000));
          await stage.passDay();
        },
      ],
    }),
  });
}

export const real: readonly Case[] = cases;
