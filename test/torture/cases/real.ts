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

/** The days of the file that have events. */
async function daysOfFile(): Promise<string[]> {
  const { records } = await loadDataset(FILE);
  return [...new Set(records.map(({ time }) => new Date(time).toISOString().slice(0, 10)))].sort();
}

const DAYS = existsSync(FILE) ? await daysOfFile() : null;

const cases: Case[] = [];
if (DAYS === null) console.warn(`no real events: ${FILE} is not there, their cases are left out`);
else {
  const [first = '', last = ''] = [DAYS[0], DAYS.at(-1)];
  cases.push({
    name: 'real events',
    server: `${DAYS.length} days of real events; an empty page beyond 1,000, clamp 100, no totals, newest first; 200 more arrive after the first recheck`,
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
