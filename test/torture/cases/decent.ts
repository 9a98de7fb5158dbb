/** Decent APIs, which must need nothing: known envelopes, their ways to say that there is nothing, and harmless habits. */
import type {
  HookAnswer,
  RecordInput,
  SimulatedRequest,
  Simulator,
} from '../../../simulator/simulator.ts';
import { expectRows } from '../by-hand.ts';
import { type Case, DAY, EXACT, type Scene } from '../case.ts';
import { type EmptyAnswer, ENVELOPES, type EnvelopeName, wrap } from '../envelopes.ts';
import { lengthOf, listing, startOf } from '../listing.ts';
import { between, spread, timeOf } from '../records.ts';

const LAST = '2026-03-03';
const MIDNIGHT = timeOf('2026-03-02 00:00:00');

/** Two days with records, one of them without, and some on both sides of a midnight. */
const RECORDS = [...spread(230), ...between(120, timeOf(`${LAST} 00:00:00`), 86_400_000, 1_000)];

/** How an answer is made of what the request asks for. */
interface Habit {
  readonly envelope?: EnvelopeName;
  readonly empty?: EmptyAnswer;
  /** JSON text; null: none; absent: what there is. */
  readonly total?: (count: number, start: number) => string | null;
  /** Beyond this a total says no more, but that there may be more. */
  readonly counted?: number;
  /** Changes what is asked for before it is looked up. */
  readonly asked?: (request: SimulatedRequest) => Partial<Record<'fromDate' | 'toDate', string>>;
  readonly refused?: (request: SimulatedRequest) => HookAnswer | undefined;
  /** Takes the offset for the number of a page. */
  readonly byNumber?: true;
  /** Adds to a record what changes from answer to answer. */
  readonly field?: (offset: number, request: SimulatedRequest) => string;
}

/** Answers in a habit; newest first. */
const answering =
  (habit: Habit) =>
  (request: SimulatedRequest, simulator: Simulator): HookAnswer => {
    const refusal = habit.refused?.(request);
    if (refusal !== undefined) return refusal;
    const query = { ...request.query, ...habit.asked?.(request) };
    const all = listing(simulator, { ...request, query });
    const length = lengthOf(request);
    const start = habit.byNumber
      ? Math.floor(startOf(request) / length) * length
      : startOf(request);
    const page = all.slice(start, start + length);
    const { counted = Infinity, field } = habit;
    const told = Math.min(all.length, counted);
    return wrap(
      habit.envelope ?? 'datatables',
      {
        records: page.map((text, index) =>
          field === undefined ? text : `${text.slice(0, -1)},${field(start + index, request)}}`,
        ),
        total: habit.total === undefined ? String(told) : habit.total(told, start),
        start,
        length,
        more: start + page.length < all.length,
        atLeast: told < all.length,
      },
      habit.empty,
    );
  };

const habitual = (
  name: string,
  server: string,
  habit: Habit,
  more: Partial<Case> = {},
  sim: Scene['sim'] = {},
): Case => ({
  name,
  server,
  expect: EXACT,
  to: LAST,
  scene: () => ({ sim: { records: RECORDS, ...sim }, respond: answering(habit) }),
  ...more,
});

const none = () => null;
const NAMES: Readonly<Record<EnvelopeName, string>> = {
  array: 'a bare array',
  datatables: 'DataTables',
  elasticsearch: 'Elasticsearch',
  wazuh: 'Wazuh',
  spring: 'Spring Data',
  laravel: 'Laravel',
  django: 'Django REST',
  odata: 'OData',
  items: 'items and total',
  nested: 'result.rows and result.total',
};

/** The times of a request, moved apart by so many seconds. */
const padded =
  (seconds: number) =>
  ({ query }: SimulatedRequest) => ({
    fromDate: moved(query.fromDate, -seconds),
    toDate: moved(query.toDate, seconds),
  });
/** The part of a range that lies in the dates of UTC that it names, by a clock so many seconds ahead of UTC. */
const within = ({ fromDate = '', toDate = '' }: SimulatedRequest['query'], ahead: number) => {
  const first = moved(`${fromDate.slice(0, 10)} 00:00:00`, ahead);
  const last = moved(`${toDate.slice(0, 10)} 23:59:59`, ahead);
  return { fromDate: first > fromDate ? first : fromDate, toDate: last < toDate ? last : toDate };
};
const moved = (wall = '', seconds: number) => wallOf(timeOf(wall) + seconds * 1_000);
const wallOf = (time: number) => new Date(time).toISOString().slice(0, 19).replace('T', ' ');
const minute = (wall = '', seconds: string) => `${wall.slice(0, 17)}${seconds}`;

/** The same event with its flag set. */
const asRead = (text: string): RecordInput => ({
  text: text.replace('"x":1.10', '"x":1.10,"read":true'),
  time: Date.parse(/"timestamp":"([^"]+)"/.exec(text)?.[1] ?? ''),
});

const NEAR = [
  ...RECORDS,
  ...between(40, MIDNIGHT - 60_000, 120_000, 5_000),
  ...between(41, MIDNIGHT + 3_600_000, 80_000_000, 9_000),
];

export const decent: readonly Case[] = [
  ...ENVELOPES.map((envelope) =>
    habitual(`the envelope of ${NAMES[envelope]}`, `answers as ${NAMES[envelope]} does`, {
      envelope,
      ...(envelope === 'array' ? { total: none } : {}),
    }),
  ),
  ...(['spring', 'laravel', 'django', 'odata'] as const).map((envelope) =>
    habitual(
      `the envelope of ${NAMES[envelope]}, no totals`,
      `answers as ${NAMES[envelope]} does where it does not count`,
      { envelope, total: none },
    ),
  ),
  ...(['null', '{}', '""', 'absent', '204', 'message', '404'] as const).flatMap((empty) =>
    (['datatables', 'nested'] as const).map((envelope) =>
      habitual(
        `nothing is ${empty}, ${NAMES[envelope]}`,
        `says ${empty} where a window has no records`,
        { envelope, empty },
      ),
    ),
  ),
  habitual(
    'no next on the last page',
    'links to the next page, but from the last one; newest first',
    { envelope: 'odata' },
  ),
  habitual('totals on the first page only', 'tells the total where start is 0, else none', {
    total: (count, start) => (start === 0 ? String(count) : null),
  }),
  habitual('totals as text', 'tells totals as JSON strings', { total: (count) => `"${count}"` }),
  habitual(
    'totals that stop at 10,000',
    'counts to 10,000 and not further, and says so',
    { envelope: 'elasticsearch', counted: 10_000 },
    { to: DAY, options: { pageLength: 1_000 }, kills: false, most: 400 },
    { records: spread(10_400) },
  ),
  habitual('paging by number', 'takes start for the number of a page', { byNumber: true }),
  habitual('paging by number, no totals', 'takes start for the number of a page; no totals', {
    byNumber: true,
    envelope: 'array',
    total: none,
  }),
  ...([true, false] as const).map((totals) =>
    habitual(
      `windows under a minute refused${totals ? '' : ', no totals'}`,
      'answers 400 to a window shorter than a minute',
      {
        ...(totals ? {} : { total: none }),
        refused: ({ query }) =>
          timeOf(query.toDate ?? '') - timeOf(query.fromDate ?? '') < 59_000
            ? { status: 400, body: '{"error":"the range is too short"}' }
            : undefined,
      },
    ),
  ),
  ...[1, 30].map((seconds) =>
    habitual(
      `edges padded by ${seconds} s`,
      `shows ${seconds} s more on either side of a window`,
      { asked: padded(seconds) },
      {},
      { records: NEAR },
    ),
  ),
  habitual(
    'rounding to minutes, outwards',
    'shows every minute that a window touches',
    {
      asked: ({ query }) => ({
        fromDate: minute(query.fromDate, '00'),
        toDate: minute(query.toDate, '59'),
      }),
    },
    {},
    { records: NEAR },
  ),
  ...[-5, 5.5].map((zone) =>
    habitual(
      `kept by the dates of UTC, asked by a clock of UTC${zone > 0 ? '+' : ''}${zone}`,
      'opens the indices of those dates only that a range names',
      { asked: ({ query }) => within(query, zone * 3_600) },
      {},
      { records: NEAR },
    ),
  ),
  habitual(
    'rounding to minutes, down',
    'takes both ends for the beginning of their minute',
    {
      asked: ({ query }) => ({
        fromDate: minute(query.fromDate, '00'),
        toDate: minute(query.toDate, '00'),
      }),
    },
    {},
    { records: NEAR },
  ),
  habitual(
    'row numbers',
    'numbers the rows of every answer',
    {
      field: (offset) => `"row":${offset + 1}`,
    },
    { volatile: ['row'] },
  ),
  habitual(
    'ages',
    'tells how long ago a record was, anew in every answer',
    {
      field: (_, { number }) => `"age":"${number} seconds ago"`,
    },
    { volatile: ['age'] },
  ),
  ...([true, false] as const).map(
    (identified): Case => ({
      name: `read flags that change${identified ? ', id_path set' : ''}`,
      server:
        'marks 20 events as read after the days were complete, one of them where a look sees it',
      expect: EXACT,
      to: LAST,
      rewalk: true,
      most: 400,
      ...(identified
        ? { streams: [{ name: 'events', resource: 'events', filters: {}, idPath: ['id'] }] }
        : {}),
      scene: () => ({
        sim: { records: RECORDS },
        later: [
          async ({ simulator, passDay }) => {
            const all = simulator.matching({ from: `${DAY} 00:00:00`, to: `${DAY} 23:59:59` });
            const read = new Set(all.slice(0, 20));
            simulator.remove(({ text }) => read.has(text));
            simulator.insert([...read].map((text) => asRead(text)));
            await passDay();
          },
          ({ passDay }) => passDay(),
        ],
        check: expectRows('daywalk.events where gone_since is not null', identified ? 0 : 20),
      }),
    }),
  ),
];
