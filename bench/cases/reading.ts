/** Case `reading`: counting and scanning the view of records, for a day and for a month. */
import type { Case, Row } from '../case.ts';
import { againstFloor, seconds } from '../rows.ts';
import { inTurn, timed } from '../statistics.ts';
import { dayAfter, FIRST_DAY, type Workload, withExported } from '../workload.ts';

const ROUNDS = 5;
/** Our own: the view may cost so much more than what it cannot do without. */
const MOST = { ratio: 1.4, text: '≤ 1.4 × floor' };

/** The least that must be done: expand the pages of the days. Both sides sum a field, or count. */
const FLOORS = {
  count: `select count(*) from daywalk.pages p cross join lateral jsonb_array_elements(p.body -> 'data') as r (record)
           where p.day between $1::date and $2::date`,
  scan: `select sum((r.record #>> '{rule,level}')::integer) from daywalk.pages p
          cross join lateral jsonb_array_elements(p.body -> 'data') as r (record) where p.day between $1::date and $2::date`,
};
const VIEWS = {
  count: 'select count(*) from daywalk.events where day between $1::date and $2::date',
  scan: `select sum((record #>> '{rule,level}')::integer) from daywalk.events where day between $1::date and $2::date`,
};

export const reading: Case = {
  name: 'reading',
  title: 'Reading',
  about:
    'A month of 10,000 events a day, exported, then read through `daywalk.events`: `count(*)`, and the sum of a field of every record. Floor: the same over the table of pages with nothing but `jsonb_array_elements`, which counts the overlapping records twice and knows nothing of publication. The target is our own.',
  limitMs: 180_000,
  async run(bench) {
    const workload: Workload = {
      days: bench.quick ? 3 : 31,
      pagesPerDay: bench.quick ? 1 : 10,
      pageLength: 1_000,
    };
    const rows = await withExported(bench, workload, async ({ query }) => {
      const to = dayAfter(workload.days - 1);
      await query('vacuum analyze');
      const found: Row[] = [];
      for (const [span, range] of [
        ['a day', [dayAfter(2), dayAfter(2)]],
        ['a month', [FIRST_DAY, to]],
      ] as const)
        for (const kind of ['count', 'scan'] as const) {
          bench.say(`${kind} ${span}`);
          const { view, floor } = await inTurn(bench.quick ? 1 : ROUNDS, {
            view: () => timed(() => query(VIEWS[kind], range)),
            floor: () => timed(() => query(FLOORS[kind], range)),
          });
          found.push(againstFloor({ what: `${kind} ${span}`, format: seconds }, view, floor, MOST));
        }
      return found;
    });
    return { rows, notes: [`${bench.quick ? 1 : ROUNDS} rounds.`] };
  },
  words: {
    reached:
      'What single records are marked with is found when a walk is proven, not when it is read, so the view costs little more than expanding the pages. Records are not materialised: docs/decisions/0013 says why. A count alone is cheap in `daywalk.coverage`.',
    missed:
      'What single records are marked with is found when a walk is proven, not when it is read. What is left is to number the records of a page, to look up their marks, and for few records the joins that find the walks that are shown. Records are not materialised: docs/decisions/0013 says why. A count alone is cheap in `daywalk.coverage`.',
  },
};
