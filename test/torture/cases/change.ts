/** Lists that change: while they are walked, and after their day was complete. */
import type { RecordInput, SimulatorOptions } from '../../../simulator/simulator.ts';
import { type Case, DAY, EXACT, type Stage } from '../case.ts';
import { between, inOneSecond, recordText, spread, timeOf } from '../records.ts';

const records = () => spread(950);
const NEXT_DAY = '2026-03-02';
const NOON = timeOf(`${DAY} 12:00:00`);
const pass = (stage: Stage) => stage.passDay();

/** Changes during the walks, that end; then what is complete is looked at, or walked again where a look cannot tell. */
const during = (
  name: string,
  server: string,
  sim: SimulatorOptions,
  more: Partial<Case> = {},
): Case[] =>
  (['exact', 'none'] as const).map((totals) => ({
    name: `${name}, totals ${totals}`,
    server: `${server}; totals ${totals}`,
    expect: EXACT,
    most: 600,
    scene: () => ({ sim: { records: records(), totals, ...sim }, later: [pass, pass] }),
    ...more,
  }));

/** A change after the day was complete, found by looking again. */
const afterwards = (
  name: string,
  server: string,
  change: (stage: Stage) => void,
  changes: { appeared: number; gone: number },
  sim: SimulatorOptions = {},
  more: Partial<Case> = {},
): Case[] =>
  (['exact', 'none'] as const).map((totals) => ({
    ...more,
    name: `${name}, totals ${totals}`,
    server: `${server}; totals ${totals}`,
    expect: EXACT,
    scene: () => ({
      sim: { records: records(), totals, ...sim },
      later: [
        async (stage: Stage) => {
          change(stage);
          await stage.passDay();
        },
        // What a walk lacks is gone when a second one lacks it, too.
        pass,
      ],
      check: async ({ query, complain }) => {
        const [found] = await query<{ appeared: number; gone: number }>(
          `select coalesce(sum(appeared), 0)::integer as appeared, coalesce(sum(gone), 0)::integer as gone
             from daywalk.publications`,
        );
        if (found?.appeared !== changes.appeared || found.gone !== changes.gone)
          complain(`noted ${JSON.stringify(found)} where ${JSON.stringify(changes)} was changed`);
        const gone = await query('select from daywalk.events where gone_since is not null');
        if (gone.length !== changes.gone)
          complain(`${gone.length} records are gone where ${changes.gone} vanished`);
      },
    }),
  }));

const late = (count: number, from = NOON): RecordInput[] =>
  between(count, from, 3_600_000, 100_000);
const removeIds =
  (...ids: readonly number[]) =>
  ({ simulator }: Stage) => {
    simulator.remove(({ text }) => ids.some((id) => text.includes(`"id":"e${id}"`)));
  };

export const change: readonly Case[] = [
  ...during('arrivals at the top', 'gets 12 records at the newest end while it is walked', {
    arrivals: { every: 2, count: 1, where: 'newest', limit: 12 },
  }),
  ...during('arrivals at the bottom', 'gets 12 records at the oldest end while it is walked', {
    arrivals: { every: 2, count: 1, where: 'oldest', limit: 12 },
  }),
  ...during('arrivals inside', 'gets 12 records anywhere while it is walked', {
    arrivals: { every: 2, count: 1, where: 'inside', limit: 12 },
  }),
  ...during(
    'arrivals inside, oldest first',
    'gets 12 records anywhere while it is walked; oldest first',
    {
      order: 'oldest',
      arrivals: { every: 2, count: 1, where: 'inside', limit: 12 },
    },
  ),
  ...during(
    'deletions of rows already passed',
    'loses 8 of its newest records while it is walked',
    {
      deletions: { every: 3, count: 1, where: 'newest', limit: 8 },
    },
  ),
  ...during('deletions at the bottom', 'loses 8 of its oldest records while it is walked', {
    deletions: { every: 3, count: 1, where: 'oldest', limit: 8 },
  }),
  ...during(
    'one deleted, one added',
    'loses a record and gets another one, 8 times, so that the total stays',
    {
      deletions: { every: 3, count: 1, where: 'newest', limit: 8 },
      arrivals: { every: 3, count: 1, where: 'oldest', limit: 8 },
    },
    { rewalk: true },
  ),
  ...during(
    'one deleted, one added inside',
    'loses a record and gets another one inside, 8 times',
    {
      deletions: { every: 3, count: 1, where: 'inside', limit: 8 },
      arrivals: { every: 3, count: 1, where: 'inside', limit: 8 },
    },
    { rewalk: true },
  ),
  {
    name: 'arrivals that end with the first run',
    server: 'gets a record after every page of the first run',
    expect: EXACT,
    most: 2_000,
    scene: () => ({
      sim: { records: spread(450), arrivals: { every: 1, count: 1, where: 'newest' } },
      later: [
        async (stage) => {
          stage.simulator.set({ arrivals: null });
          await stage.passDay();
        },
        pass,
      ],
    }),
  },
  ...afterwards(
    'late arrivals',
    'gets 30 records after the day was complete',
    ({ simulator }) => simulator.insert(late(30)),
    { appeared: 30, gone: 0 },
  ),
  ...afterwards(
    'late arrivals in an empty day',
    'gets 30 records after the day was complete and empty',
    ({ simulator }) => simulator.insert(late(30)),
    { appeared: 30, gone: 0 },
    { records: [] },
    // Of an empty day everything is asked that a day may need.
    { most: 125 },
  ),
  ...afterwards(
    'vanished records',
    'loses 5 records after the day was complete',
    removeIds(10, 20, 500, 501, 900),
    {
      appeared: 0,
      gone: 5,
    },
  ),
  ...afterwards(
    'all records of the newer day vanish',
    'loses all records of the second of two days after both were complete',
    ({ simulator }) => {
      simulator.remove(({ time }) => time >= timeOf(`${NEXT_DAY} 00:00:00`));
    },
    { appeared: 0, gone: 120 },
    { records: [...spread(450), ...spread(120, NEXT_DAY)] },
    { to: NEXT_DAY, most: 220 },
  ),
  ...afterwards(
    'a changed record at the end of the list',
    'changes its oldest record after the day was complete',
    (stage) => {
      const [oldest] = stage.simulator.matching({ from: `${DAY} 00:00:00`, to: `${DAY} 23:59:59` });
      stage.simulator.remove(({ text }) => text === oldest);
      const time = timeOf(`${DAY} 00:00:00`);
      stage.simulator.insert([{ text: recordText(time, 'changed', 9), time }]);
    },
    { appeared: 1, gone: 1 },
    {},
    // Its walks, and twelve hours beside each midnight.
    { most: 300 },
  ),
  {
    name: 'a changed record in the middle, walked again by hand',
    server:
      'changes a record in the middle after the day was complete, which one request cannot see',
    expect: EXACT,
    rewalk: true,
    scene: () => ({
      sim: { records: records() },
      later: [
        (stage) => {
          removeIds(400)(stage);
          stage.simulator.insert([{ text: recordText(NOON, 'changed', 9), time: NOON }]);
        },
        pass,
      ],
      check: async ({ query, complain }) => {
        const gone = await query('select from daywalk.events where gone_since is not null');
        if (gone.length !== 1) complain(`${gone.length} records are gone where one was changed`);
      },
    }),
  },
  ...(['exact', 'none'] as const).map(
    (totals): Case => ({
      name: `late arrivals in a split day, totals ${totals}`,
      server: `pages 300 deep, and gets 30 records after the day was complete; totals ${totals}`,
      expect: EXACT,
      most: 700,
      scene: () => ({
        sim: { records: spread(1_500), totals, offsetCap: { limit: 300, answer: 400 } },
        later: [
          async (stage) => {
            stage.simulator.insert(late(30));
            await stage.passDay();
          },
        ],
      }),
    }),
  ),
  ...(['exact', 'none'] as const).map(
    (totals): Case => ({
      name: `vanished records in a split day, totals ${totals}`,
      server: `pages 300 deep, and loses 5 records after the day was complete; totals ${totals}`,
      expect: EXACT,
      most: 700,
      scene: () => ({
        sim: { records: spread(1_500), totals, offsetCap: { limit: 300, answer: 400 } },
        later: [
          async (stage) => {
            removeIds(10, 20, 500, 501, 900)(stage);
            await stage.passDay();
          },
          pass,
        ],
      }),
    }),
  ),
  {
    name: 'late arrivals in a second split by level',
    server:
      'has 1,500 records in one second, pages 400 deep, and gets 16 records in that second after the day was complete',
    expect: EXACT,
    most: 900,
    scene: () => ({
      sim: {
        records: [...spread(200), ...inOneSecond(1_500, `${DAY} 12:00:00`)],
        offsetCap: { limit: 400, answer: 400 },
      },
      later: [
        async (stage) => {
          stage.simulator.insert(
            Array.from({ length: 16 }, (_, level) => ({
              text: recordText(NOON + 500, `late${level}`, level),
              time: NOON + 500,
            })),
          );
          await stage.passDay();
        },
      ],
    }),
  },
  ...(['exact', 'none'] as const).map(
    (totals): Case => ({
      name: `a complete day that must be split, totals ${totals}`,
      server: `grows from 500 to 2,000 records after the day was complete, and pages 600 deep; totals ${totals}`,
      expect: EXACT,
      most: 900,
      scene: () => {
        let grown = false;
        return {
          sim: { records: spread(500), totals, offsetCap: { limit: 600, answer: 400 } },
          later: [
            async (stage) => {
              stage.simulator.insert(between(1_500, timeOf(`${DAY} 00:00:00`), 86_000_000, 10_000));
              grown = true;
              await stage.passDay();
            },
          ],
          watch: async ({ query, complain }) => {
            if (!grown) return;
            const [seen] = await query<{ n: number }>(
              'select count(*)::integer as n from daywalk.events',
            );
            if (seen?.n !== 500 && seen?.n !== 2_000)
              complain(`readers saw ${seen?.n} records while the day was walked again`);
          },
        };
      },
    }),
  ),
  {
    name: 'a complete day behind a broken server',
    server: 'answers an error object to every request after the day was complete',
    expect: EXACT,
    scene: () => ({
      sim: { records: records() },
      later: [
        async ({ simulator, passDay }) => {
          simulator.set({ faults: [{ kind: 'error-object' }] });
          await passDay();
        },
      ],
    }),
  },
];
