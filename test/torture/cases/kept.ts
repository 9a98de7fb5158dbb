/** Sources that lose, double and change what they have shown: once shown, it is kept, once and under its day. */
import type { RecordInput, SimulatedRequest, Simulator } from '../../../simulator/simulator.ts';
import { around } from '../../../src/plan/split.ts';
import { expectRows, isWholeDay } from '../by-hand.ts';
import { type Case, EXACT, failed, type Stage } from '../case.ts';
import { datatables, listing, paged } from '../listing.ts';
import { between, recordText, spread, timeOf } from '../records.ts';

const SECOND = '2026-03-02';
const THIRD = '2026-03-03';
const passDay = (stage: Stage) => stage.passDay();

const lost: readonly Case[] = [
  {
    name: '700 events that vanish',
    server: 'loses the 700 events of its second day after three days were complete',
    expect: EXACT,
    to: THIRD,
    most: 300,
    scene: () => ({
      sim: { records: [...spread(50), ...spread(700, SECOND), ...spread(50, THIRD)] },
      later: [
        async ({ simulator, passDay }) => {
          const [from, to] = [timeOf(`${SECOND} 00:00:00`), timeOf(`${THIRD} 00:00:00`)];
          simulator.remove(({ time }) => time >= from && time < to);
          await passDay();
        },
        ({ passDay }) => passDay(),
      ],
      check: async (stage) => {
        await expectRows(
          `daywalk.events where day = '${SECOND}' and gone_since is not null`,
          700,
        )(stage);
        await expectRows(`daywalk.coverage where gone = 700 and state = 'complete'`, 1)(stage);
        const [run] = await stage.query<{ outcome: string }>(
          'select outcome from daywalk.runs order by run_id desc limit 1',
        );
        if (run?.outcome !== 'gaps') stage.complain(`the last run says ${run?.outcome}`);
      },
    }),
  },
  {
    name: 'a source that has nothing any more',
    server: 'loses all events of both days after they were complete',
    expect: failed(/no new window becomes complete/),
    most: 250,
    to: SECOND,
    scene: () => ({
      sim: { records: [...spread(700), ...spread(300, SECOND)] },
      later: [
        async ({ simulator, passDay }) => {
          simulator.remove(() => true);
          await passDay();
        },
        ({ passDay }) => passDay(),
      ],
      check: expectRows('daywalk.events where gone_since is null', 1_000),
    }),
  },
];

const MIDNIGHT = timeOf(`${SECOND} 00:00:00`);
const at = (time: number, serial: string, level = 5): RecordInput => ({
  text: recordText(time, serial, level),
  time,
});

/** Shows so many seconds more on either side of every window. */
const padded = (simulator: Simulator, request: SimulatedRequest, seconds: number) => {
  const { fromDate = '', toDate = '' } = request.query;
  const query = {
    ...request.query,
    fromDate: around(fromDate, -seconds, 0).from,
    toDate: around(toDate, 0, seconds).to,
  };
  const list = listing(simulator, { ...request, query });
  return datatables(paged(list, request), list.length);
};

const midnights: readonly Case[] = [
  {
    name: 'a real twin near a midnight that both days show',
    server:
      'shows 3 s more on either side of a window; of 52 events two equal ones are 1.5 s before midnight',
    expect: EXACT,
    to: SECOND,
    scene: () => ({
      sim: {
        records: [
          ...spread(25),
          ...between(25, MIDNIGHT + 60_000, 80_000_000, 100),
          at(MIDNIGHT - 1_500, 'twin'),
          at(MIDNIGHT - 1_500, 'twin'),
        ],
      },
      respond: (request, simulator) => padded(simulator, request, 3),
      check: expectRows('daywalk.events', 52),
    }),
  },
  {
    name: 'an event at midnight, edited between the walks of both days',
    server:
      'shows 1 s more on either side of a window; one of 103 events is at midnight, and edited when the second day is asked for',
    expect: EXACT,
    to: SECOND,
    streams: [{ name: 'events', resource: 'events', filters: {}, idPath: ['id'] }],
    options: { concurrency: 1 },
    scene: () => {
      let edited = false;
      return {
        sim: {
          records: [
            ...spread(51),
            ...between(51, MIDNIGHT + 60_000, 80_000_000, 100),
            at(MIDNIGHT, 'midnight'),
          ],
        },
        respond: (request, simulator) => {
          if (!edited && isWholeDay(request) && request.query.fromDate?.startsWith(SECOND)) {
            edited = true;
            simulator.remove(({ text }) => text.includes('"emidnight"'));
            simulator.insert([at(MIDNIGHT, 'midnight', 9)]);
          }
          return padded(simulator, request, 1);
        },
        later: [passDay, passDay],
        check: async (stage) => {
          await expectRows('daywalk.events', 103)(stage);
          await expectRows(
            `(select distinct record ->> 'id' from daywalk.events) as ids`,
            103,
          )(stage);
        },
      };
    },
  },
  {
    name: 'events at midnight',
    server: 'has 40 events in the first second of a day, one of them at 00:00:00 sharp',
    expect: EXACT,
    to: SECOND,
    scene: () => ({
      sim: {
        records: [...spread(150), ...between(40, MIDNIGHT, 1_000, 200), ...spread(50, SECOND)],
      },
      check: expectRows(`daywalk.events where day = '${SECOND}'`, 90),
    }),
  },
];

export const kept: readonly Case[] = [...lost, ...midnights];
