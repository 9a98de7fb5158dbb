/** Two days and the cut between them, however the source treats the edge and changes: each record as often as it has it. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Database } from '../../src/store/database.ts';
import { audit, overlooked } from '../support/audit.ts';
import type { TestDatabase } from '../support/database.ts';
import { letTimePass } from '../support/pass-time.ts';
import { proveCutOf, proveTexts, textsOf, windowOf } from '../support/publishing.ts';
import { clear, DAY, freshStore, planDays } from '../support/store.ts';

const NEXT_DAY = '2026-03-06';

let server: TestDatabase;
let database: Database;

const PLACES = ['day', 'last second', 'first second', 'next day'] as const;

/** An event: what it is, and where it stands. The seconds at midnight are those that a source may show twice, or never. */
interface Event {
  readonly id: number;
  readonly at: (typeof PLACES)[number];
}
/** Records of two places differ, as wherever a record tells its second: one that moved and stayed the same cannot be known. */
const event: fc.Arbitrary<Event> = fc
  .record({ twin: fc.integer({ min: 1, max: 3 }), place: fc.nat({ max: PLACES.length - 1 }) })
  .map(({ twin, place }) => ({ id: twin + 10 * place, at: PLACES[place] as Event['at'] }));

/** What a window shows of the other side's second, and whether it shows its own; an API may come to do otherwise. */
const edges = fc.record({ own: fc.boolean(), others: fc.boolean() });
const round = fc.record({
  edges,
  times: fc.integer({ min: 1, max: 2 }),
  events: fc.array(event, { maxLength: 6 }),
  order: fc.shuffledSubarray(['day', 'next day', 'cut'] as const, { minLength: 3 }),
});

/** How often each id occurs. */
function countsOf(ids: readonly number[]): Map<number, number> {
  const counts = new Map<number, number>();
  for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
}

/** At any edge, in any order, through any change: so many random histories. */
export function cutsHold(runs: number): void {
  freshStore((store) => {
    ({ server, database } = store);
  });

  it('at any edge, in any order, through any change', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(round, { minLength: 1, maxLength: 3 }), async (rounds) => {
        await clear(server);
        const streamId = await planDays(database, [DAY, NEXT_DAY]);
        const day = await windowOf(database, streamId, DAY);
        const nextDay = await windowOf(database, streamId, NEXT_DAY);
        const cut = await windowOf(database, streamId, DAY, 'cut');
        const last = rounds.at(-1) as (typeof rounds)[number];
        const kept = rounds.flatMap((one) => Array<typeof one>(one.times).fill(one));
        for (const {
          events,
          order,
          edges: { own, others },
        } of [...kept, last, last]) {
          const idsAt = (...places: readonly Event['at'][]) =>
            events.filter(({ at }) => places.includes(at)).map(({ id }) => id);
          const before = [
            ...(own ? idsAt('last second') : []),
            ...(others ? idsAt('first second') : []),
          ];
          const after = [
            ...(own ? idsAt('first second') : []),
            ...(others ? idsAt('last second') : []),
          ];
          const across = idsAt('last second', 'first second');
          const corrections = [...new Set([...across, ...before, ...after])].map((id) => {
            const count = (ids: readonly number[]) => countsOf(ids).get(id) ?? 0;
            return count(across) - count(before) - count(after);
          });
          const sum = (sign: 1 | -1) =>
            corrections.reduce((all, one) => all + Math.max(0, sign * one), 0);
          const ask = () =>
            proveCutOf(
              database,
              cut,
              { across: textsOf(across), before: textsOf(before), after: textsOf(after) },
              { records: sum(1), removed: sum(-1) },
            );
          const steps = {
            day: () => proveTexts(database, day, [textsOf([...idsAt('day'), ...before])]),
            'next day': () =>
              proveTexts(database, nextDay, [textsOf([...idsAt('next day'), ...after])]),
            cut: ask,
          };
          await letTimePass(server, '2 hours');
          for (const name of order) await steps[name]();
          // A day that changed makes the cut due.
          await ask();
        }
        const idsOf = async (view: string) =>
          countsOf(
            (
              await server.query<{ id: number }>(
                `select (record ->> 'id')::int as id from daywalk.${view}`,
              )
            ).map(({ id }) => id),
          );
        const now = countsOf(last.events.map(({ id }) => id));
        const seen = await idsOf('events_now');
        expect([...seen].sort()).toEqual([...now].sort());
        const ever = await idsOf('events');
        // Whichever of the three shows it: once for each that there ever was at a time, and no more.
        const most = new Map<number, number>();
        for (const { events } of rounds)
          for (const [id, count] of countsOf(events.map(({ id }) => id)))
            most.set(id, Math.max(most.get(id) ?? 0, count));
        expect([...ever].sort()).toEqual([...most].sort());
        expect(await audit(server)).toEqual([]);
        expect(await overlooked(server)).toEqual([]);
      }),
      {
        numRuns: runs,
        examples: [
          // Of two that only the day behind shows one goes, and both days come to show the other.
          [
            [
              {
                edges: { own: false, others: true },
                times: 1,
                events: [
                  { id: 11, at: 'last second' },
                  { id: 11, at: 'last second' },
                ],
                order: ['day', 'next day', 'cut'],
              },
              {
                edges: { own: true, others: true },
                times: 1,
                events: [{ id: 11, at: 'last second' }],
                order: ['cut', 'next day', 'day'],
              },
            ],
          ],
          // Two at midnight that only the cut knows, and their like in the day behind it; one at midnight is left.
          [
            [
              {
                edges: { own: false, others: false },
                times: 1,
                events: [
                  { id: 4, at: 'first second' },
                  { id: 4, at: 'next day' },
                  { id: 4, at: 'first second' },
                ],
                order: ['day', 'next day', 'cut'],
              },
              {
                edges: { own: false, others: false },
                times: 1,
                events: [{ id: 4, at: 'first second' }],
                order: ['next day', 'cut', 'day'],
              },
            ],
          ],
        ],
      },
    );
  }, 240_000);
}
