/** The model of lease and walk, further than `npm test` goes: every state within larger bounds (I1 to I4). */
import { afterAll, expect, test } from 'vitest';
import { type Exploration, explore } from '../model/explore.ts';
import type { Budget } from '../model/worker-model.ts';
import { markdownTable, writeFigures } from '../support/reliability-page.ts';

const NOTHING: Budget = { crashes: 0, unknown: 0, shifts: 0, failovers: 0 };
const BUDGETS: readonly Budget[] = [
  { ...NOTHING, crashes: 1, unknown: 1 },
  { ...NOTHING, unknown: 1, shifts: 1 },
  { ...NOTHING, crashes: 1, shifts: 1 },
  { ...NOTHING, failovers: 1 },
];
const found: { budget: Budget; came: Exploration; seconds: number }[] = [];

const named = BUDGETS.map((budget) => [JSON.stringify(budget), budget] as const);

test.each(named)('every state with at most %s', (_, budget) => {
  const began = performance.now();
  const came = explore(budget);
  found.push({ budget, came, seconds: Math.round((performance.now() - began) / 1000) });
  expect(came).toMatchObject({ wrong: null, stuck: 0 });
});

afterAll(async () => {
  if (found.length < BUDGETS.length) return;
  const sum = (of: (one: (typeof found)[number]) => number) =>
    found.reduce((total, one) => total + of(one), 0);
  const rows = found.map(({ budget, came, seconds }) => [
    budget.crashes,
    budget.unknown,
    budget.shifts,
    budget.failovers,
    came.states,
    came.steps,
    came.wrong?.what ?? 'nothing',
    came.stuck,
    seconds,
  ]);
  await writeFigures(
    'model',
    [
      `${sum(({ came }) => came.states)} states and ${sum(({ came }) => came.steps)} steps between them were visited.`,
      '',
      markdownTable(
        [
          'crashes#',
          'lost answers#',
          'walks that shift#',
          'failovers#',
          'states#',
          'steps#',
          'wrong',
          'states without a way to the end#',
          'seconds#',
        ],
        rows,
      ),
    ].join('\n'),
  );
});
