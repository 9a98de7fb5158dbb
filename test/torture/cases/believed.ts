/** Servers behind which days were once called complete that were not; with the figures of then. */
import type { HookAnswer, SimulatedRequest } from '../../../simulator/simulator.ts';
import { byHand, expectRows, isWholeDay } from '../by-hand.ts';
import { type Case, DAY, EXACT, failed } from '../case.ts';
import { datatables, lengthOf, listing, paged, startOf } from '../listing.ts';
import { inOneSecond, spread } from '../records.ts';

const SECOND = '2026-03-02';

/** Every fifth record is missing, and the frame says so. */
const broken = (list: readonly string[], request: SimulatedRequest, marker: string): HookAnswer => {
  const shown = list.filter((_, index) => index % 5 !== 2);
  return {
    body: `{"total":${shown.length},"data":[${paged(shown, request).join(',')}],${marker}}`,
  };
};
const whole = (list: readonly string[], request: SimulatedRequest): HookAnswer => ({
  body: `{"total":${list.length},"data":[${paged(list, request).join(',')}]}`,
});

const MARKERS = [
  '"_shards":{"total":5,"successful":4,"skipped":0,"failed":1}',
  '"status":"error"',
  '"ok":false',
  '"Error":"one shard is down"',
] as const;

const markers = MARKERS.flatMap((marker): Case[] => [
  byHand(
    `${marker} from the second answer on`,
    'shows 560 of 700 events from the second request on, and says that something failed',
    spread(700),
    () => (request, list) =>
      request.number === 1 ? whole(list, request) : broken(list, request, marker),
    { expect: failed(/tells of a failure|words not seen before|other words than/) },
  ),
  {
    name: `${marker} after the day was complete`,
    server: 'shows 560 of 700 events and says that something failed, when it is walked again',
    expect: failed(/tells of a failure/),
    rewalk: true,
    scene: () => {
      let failing = false;
      return {
        sim: { records: spread(700) },
        respond: (request, simulator) => {
          const list = listing(simulator, request);
          return failing && request.number > 1
            ? broken(list, request, marker)
            : whole(list, request);
        },
        later: [
          () => {
            failing = true;
          },
        ],
        check: expectRows('daywalk.events where gone_since is null', 700),
      };
    },
  },
]);

/** From the ninth request on all answers are those of an outage, until the run is over. */
const outage = (
  name: string,
  body: string,
  good: (list: readonly string[], request: SimulatedRequest) => HookAnswer,
): Case => ({
  name,
  server: `answers ${body} to everything from the ninth request of the first run on`,
  expect: EXACT,
  to: SECOND,
  scene: () => {
    let over = false;
    return {
      sim: { records: [...spread(700), ...spread(700, SECOND)] },
      respond: (request, simulator) =>
        request.number > 8 && !over ? { body } : good(listing(simulator, request), request),
      later: [
        async (stage) => {
          await expectRows(`daywalk.coverage where state = 'complete'`, 0)(stage);
          over = true;
          await stage.passDay();
        },
      ],
    };
  },
});

const otherShapes: readonly Case[] = [
  outage(
    'an outage with another list',
    '{"message":"search backend unavailable","code":503,"data":[]}',
    (list, request) => ({
      body: `{"took":3,"result":{"total":${list.length},"rows":[${paged(list, request).join(',')}]}}`,
    }),
  ),
  outage('an outage without the total', '{"draw":1,"data":[]}', (list, request) =>
    datatables(paged(list, request), list.length),
  ),
];

/** Shows the newest 300 of 1,000 events; the total as JSON, by the offset. */
const contradicted = (name: string, server: string, total: (start: number, n: number) => string) =>
  byHand(name, `shows the newest 300 of 1,000 events; ${server}`, spread(1_000), () => {
    return (request, list) => ({
      body: `{"hits":{${total(startOf(request), list.length)}"hits":[${paged(list.slice(0, 300), request).join(',')}]}}`,
    });
  });

const running = (name: string, server: string, shown: (list: readonly string[]) => number) =>
  byHand(name, `${server}; totals are start + rows`, spread(700), () => (request, list) => {
    const page = paged(list.slice(0, shown(list)), request);
    // The third page comes short.
    const rows = startOf(request) > 190 && startOf(request) < 210 ? page.slice(0, 11) : page;
    return datatables(rows, startOf(request) + rows.length);
  });

const totals: readonly Case[] = [
  contradicted(
    '300 of 1,000, the total on the first page only',
    'only the first page tells the total',
    (start, n) => (start === 0 ? `"total":${n},` : ''),
  ),
  contradicted(
    '300 of 1,000, a lower bound on the last page',
    'the total of the first page is exact, that of later ones a lower bound',
    (start, n) =>
      `"total":{"value":${start === 0 ? n : Math.min(n, 300)},"relation":"${start === 0 ? 'eq' : 'gte'}"},`,
  ),
  running('running totals and a short page', 'gives a short third page', (list) => list.length),
  {
    ...running('running totals and a cap of 300', 'shows the newest 300 of 700 events', () => 300),
    most: 350,
  },
  byHand(
    'a round cap after a larger day',
    'shows 1,200 events of the first day, and the newest 1,000 of 2,400 of the second; no totals',
    [...spread(1_200), ...spread(2_400, SECOND)],
    () => (request, list) => {
      const cap = request.query.fromDate?.startsWith(SECOND) ? 1_000 : Infinity;
      return datatables(paged(list.slice(0, cap), request), null);
    },
    { to: SECOND },
  ),
];

const HIDDEN = /"id":"e\d*[37]7"/;

/** Pages 400 deep, and the parts of the day lack some of the events that its total counts. */
const short =
  (more: (request: SimulatedRequest) => HookAnswer | undefined = () => undefined) =>
  (request: SimulatedRequest, list: readonly string[]): HookAnswer => {
    const refusal = more(request);
    if (refusal !== undefined) return refusal;
    const shown = isWholeDay(request) ? list : list.filter((text) => !HIDDEN.test(text));
    if (startOf(request) + lengthOf(request) > 400)
      return { status: 400, body: '{"error":"the result window is too large"}' };
    return datatables(paged(shown, request), shown.length);
  };
const SHORT = '1,390 events are counted, and the parts of the day hold 1,362; pages 400 deep';
const SUMS = failed(/1362 records, and the total says 1390/);

const parts: readonly Case[] = [
  byHand('parts that hold less than the total', SHORT, spread(1_390), () => short(), {
    expect: SUMS,
    most: 900,
  }),
  byHand(
    'parts that answer 500 first, and hold less than the total',
    `${SHORT}; parts answer 500 at first`,
    spread(1_390),
    () => {
      let left = 9;
      return short((request) =>
        !isWholeDay(request) && left-- > 0 ? { status: 500, body: '{"error":"busy"}' } : undefined,
      );
    },
    { expect: SUMS, most: 900 },
  ),
  {
    name: 'parts that hold less than the total, split anew',
    server: `${SHORT}; then 15 more are counted and held, and the window is due again`,
    expect: failed(/1377 records, and the total says 1405/),
    most: 2_000,
    scene: () => ({
      sim: { records: spread(1_390) },
      respond: (request, simulator) => short()(request, listing(simulator, request)),
      later: [
        async ({ simulator, passDay }) => {
          simulator.insert(inOneSecond(15, `${DAY} 04:00:00`));
          await passDay();
        },
      ],
    }),
  },
  {
    name: 'a published walk, and then parts that hold less',
    server: `shows all 1,390 events; when the day is walked again: ${SHORT}`,
    expect: SUMS,
    rewalk: true,
    most: 2_000,
    scene: () => {
      let falls = false;
      return {
        sim: { records: spread(1_390) },
        respond: (request, simulator) => {
          const list = listing(simulator, request);
          return falls ? short()(request, list) : datatables(paged(list, request), list.length);
        },
        later: [
          () => {
            falls = true;
          },
        ],
        check: expectRows('daywalk.events where gone_since is null', 1_390),
      };
    },
  },
];

export const believed: readonly Case[] = [...markers, ...otherShapes, ...totals, ...parts];
