/** Servers that stop some of the work, which must not stop the rest: one bad day, lengths that fail, clocks, plans and answers that come and go. */
import { mixFraction, seedNumber } from '../../../simulator/random.ts';
import { byHand } from '../by-hand.ts';
import { type Case, EXACT, failed } from '../case.ts';
import { datatables, lengthOf, listing, paged, startOf } from '../listing.ts';
import { spread } from '../records.ts';

const BAD = '2026-03-03';
const DAYS = ['2026-03-01', '2026-03-02', BAD, '2026-03-04', '2026-03-05'] as const;
const FIVE_DAYS = DAYS.flatMap((day) => spread(60, day));
const FIFTH = '2026-03-05';

/** As many as there are in practice before another day is asked: on this clock hundreds take no time. */
const FEW_TRIES = { retryTimeMs: 30 } as const;

/** Moves every time in the database on: as its clock says, everything has happened in the future. */
const CLOCK_BACK = '-26 hours';

export const stuck: readonly Case[] = [
  {
    name: 'one day that always answers 500',
    server: 'answers 500 wherever the third of five days is asked for',
    expect: failed(/500/),
    to: FIFTH,
    most: 900,
    source: FEW_TRIES,
    scene: () => ({
      sim: { records: FIVE_DAYS },
      respond: ({ query }) =>
        `${query.fromDate} ${query.toDate}`.includes(BAD)
          ? { status: 500, body: '{"error":"internal error"}' }
          : undefined,
      check: async ({ query, complain }) => {
        const days = await query<{ day: string; state: string; shown: number }>(
          `select day::text, state, records::integer as shown from daywalk.coverage where day between '2026-03-01' and '2026-03-05' order by day`,
        );
        const told = days.map(({ day, state, shown }) => `${day} ${state} ${shown}`).join(', ');
        for (const { day, state, shown } of days) {
          if (day !== BAD && shown !== 60) complain(`not all is shown: ${told}`);
          if ((day === DAYS[0] || day === FIFTH) && state !== 'complete')
            complain(`a healthy day is not complete: ${told}`);
        }
      },
    }),
  },
  byHand(
    'a length above 100 answered with 500',
    'answers 500 to a length above 100',
    spread(700),
    () => (request, list) =>
      lengthOf(request) > 100
        ? { status: 500, body: '{"error":"internal error"}' }
        : datatables(paged(list, request), list.length),
    { options: { pageLength: 1_000 }, source: FEW_TRIES, most: 212 },
  ),
  byHand(
    'a moment of 400s',
    'answers 400 to a length above 31 from the third request to the twelfth',
    DAYS.flatMap((day) => spread(300, day)),
    () => (request, list) =>
      lengthOf(request) > 31 && request.number >= 3 && request.number <= 12
        ? { status: 400, body: '{"error":"not now"}' }
        : datatables(paged(list, request), list.length),
    { to: FIFTH },
  ),
  {
    name: 'a depth that is lowered after a day was proven',
    server:
      'pages 400 deep since its first day of 1,390 events was complete; its second day answers only then',
    expect: EXACT,
    to: '2026-03-02',
    most: 900,
    source: FEW_TRIES,
    scene: () => {
      let lowered = false;
      return {
        sim: { records: [...spread(1_390), ...spread(700, '2026-03-02')] },
        respond: (request, simulator) => {
          if (!lowered)
            return `${request.query.toDate}`.startsWith('2026-03-02 2')
              ? { status: 500, body: '{"error":"internal error"}' }
              : undefined;
          const list = listing(simulator, request);
          return startOf(request) + lengthOf(request) > 400
            ? { status: 400, body: '{"error":"the result window is too large"}' }
            : datatables(paged(list, request), list.length);
        },
        later: [
          async ({ passDay }) => {
            lowered = true;
            await passDay();
          },
        ],
      };
    },
  },
  {
    name: 'the clock of the database set back',
    server:
      'nothing wrong, but the clock of the database is set back by a day at the seventh request',
    expect: EXACT,
    to: '2026-03-02',
    most: 160,
    options: { concurrency: 1, aheadBytes: 0 },
    scene: () => {
      let left = 7;
      return {
        sim: { records: [...spread(450), ...spread(450, '2026-03-02')] },
        watch: async (stage) => {
          left -= 1;
          if (left === 0) await stage.pass(CLOCK_BACK);
        },
        // What was planned is due when the clock says so again.
        later: [({ pass }) => pass('26 hours')],
      };
    },
  },
  {
    name: 'planned windows that a failover loses',
    server:
      'nothing wrong, but the database loses all that was planned and stored, at the third request',
    expect: EXACT,
    to: FIFTH,
    options: { concurrency: 1, aheadBytes: 0 },
    scene: () => {
      let left = 3;
      return {
        sim: { records: FIVE_DAYS },
        watch: async ({ query }) => {
          left -= 1;
          if (left !== 0) return;
          await query('delete from daywalk.pages');
          await query('update daywalk.windows set current_walk = null');
          await query('delete from daywalk.walks');
          await query('delete from daywalk.windows');
        },
      };
    },
  },
  ...(['exact', 'none'] as const).map(
    (totals): Case =>
      byHand(
        `one answer in five empty by chance, totals ${totals}`,
        `has 700 events, and answers with nothing now and then, a fifth of all requests; totals ${totals}`,
        spread(700),
        () => {
          // The same answer to the first, second … time that a request is asked, in whatever order they come.
          const times = new Map<string, number>();
          return (request, list) => {
            const { fromDate, toDate } = request.query;
            const key = [fromDate, toDate, request.query.start, request.query.length].join();
            const time = times.get(key) ?? 0;
            times.set(key, time + 1);
            const empty = mixFraction(seedNumber(key), time) < 0.2;
            return datatables(
              empty ? [] : paged(list, request),
              totals === 'exact' ? list.length : null,
            );
          };
        },
        { most: 900 },
      ),
  ),
];
