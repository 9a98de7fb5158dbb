/** One record that its source cannot show breaks every page that would hold it: its day fails, and nothing is learned of lengths and depths. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { RequestError, UnavailableError } from '../../src/errors.ts';
import type { PageRequest } from '../../src/model.ts';
import type { TestDatabase } from '../support/database.ts';
import { andAtNight } from '../support/night.ts';
import { freshStore, records } from '../support/store.ts';
import { closedDays, type Exporting, exported, newStream } from './exporting.ts';
import { type Habits, ImaginedSource, pagesByNumber } from './imagined-source.ts';

let server: TestDatabase;
const DAYS = closedDays(4);
const [first = '', second = '', third = ''] = DAYS;

freshStore((store) => {
  ({ server } = store);
});

type Lists = Readonly<Record<string, readonly string[]>>;
/** So many records a day, and 40 on one of its own. */
const listsOf = (count = 40, own = ''): Lists =>
  Object.fromEntries(
    DAYS.map((day, index) => [day, records(1_000 * (index + 1), day === own ? 40 : count)]),
  );
const LISTS = listsOf();

/** Exports all days of a source that answers 500 to some pages; what came of it, and how often the third day was asked for. */
async function exportWith(
  lists: Lists,
  habits: Habits,
  pageLength: number,
  breaks: (request: PageRequest, page: readonly string[]) => boolean,
) {
  const source: ImaginedSource = new ImaginedSource(lists, {
    ...habits,
    before: (_, request) => {
      const list = source.within(request);
      const seen = habits.arrange?.(list, 0, request) ?? list;
      if (breaks(request, seen.slice(request.start, request.start + request.length)))
        throw new UnavailableError('api', 'answered 500');
    },
  });
  const results = await exported({ server, source, stream: newStream(), since: first, pageLength });
  const ofThird = source.asked.filter(
    ({ from, to }) => from === `${third} 00:00:00` && to === `${third} 23:59:59`,
  );
  return {
    states: [...results.values()].map(({ state }) => state),
    parts: Math.max(...[...results.values()].map(({ windows }) => windows)),
    asked: ofThird.length,
    learned: await server.query(
      `select fact, value from daywalk.learned where fact in ('page_length', 'offset_cap')`,
    ),
  };
}

describe('a record that breaks its pages', () => {
  it.each(
    andAtNight<readonly [string, string, Lists, Habits, number, readonly number[]]>(
      [
        ['on the first page', second, LISTS, {}, 30, [12]],
        ['beside another one', second, LISTS, {}, 30, [12, 20]],
        ['of a day that is larger than all others', second, listsOf(3, second), {}, 30, [12]],
        ['further back in a new stream', first, LISTS, {}, 10, [25]],
        ['at the end', second, LISTS, {}, 10, [39]],
      ],
      [
        ['near the beginning', second, LISTS, { totals: 'exact' }, 30, [3]],
        ['on the first page of a new stream', first, LISTS, { totals: 'exact' }, 30, [12]],
        ['further back', second, LISTS, { totals: 'exact' }, 10, [25]],
        ['further back, with pages by number', second, LISTS, { arrange: pagesByNumber }, 10, [25]],
      ],
    ),
  )('fails its day and no other, %s', async (_, day, lists, habits, pageLength, places) => {
    const broken = new Set(places.map((place) => lists[day]?.[place]));
    const whole = await exportWith(lists, habits, pageLength, () => false);
    const result = await exportWith(lists, habits, pageLength, (__, page) =>
      page.some((record) => broken.has(record)),
    );
    const { states, parts, asked, learned } = result;
    expect(states).toEqual(DAYS.map((one) => (one === day ? 'failed' : 'complete')));
    // Two halves, and the cut between them.
    expect(parts).toBeLessThanOrEqual(3);
    // Once more as the day behind another one.
    expect(asked).toBeLessThanOrEqual(whole.asked + 1);
    expect(learned).toEqual([]);
  });
});

describe('a source that answers 500', () => {
  it.each([
    ['to a length above 20', ({ length }: PageRequest) => length > 20, 'page_length', 15],
    ['from a depth of 25 on', ({ start }: PageRequest) => start >= 25, 'offset_cap', 30],
  ])('%s is asked for no more than it gives', async (_, breaks, fact, value) => {
    const { states, learned } = await exportWith(LISTS, {}, 30, breaks);
    expect(states).toEqual(DAYS.map(() => 'complete'));
    expect(learned).toEqual([{ fact, value }]);
  });

  it('to what reaches deeper than 25, where pages are counted by number, is split', async () => {
    const { states, learned } = await exportWith(
      LISTS,
      { arrange: pagesByNumber },
      10,
      ({ start, length }) => start + length > 25,
    );
    expect(states).toEqual(DAYS.map(() => 'complete'));
    expect(learned).toEqual([{ fact: 'offset_cap', value: 20 }]);
  });

  const LONG = ({ length }: PageRequest) => length > 20;
  const DEEP = ({ start, length }: PageRequest) => start + length > 20;
  it.each(
    andAtNight(
      [
        [
          'to a length above 20 is asked for less',
          'the first one',
          first,
          30,
          LONG,
          'page_length',
          15,
        ],
        ['behind 20 records is split', 'one behind it', second, 10, DEEP, 'offset_cap', 20],
      ],
      [
        [
          'to a length above 20 is asked for less',
          'one behind it',
          second,
          30,
          LONG,
          'page_length',
          15,
        ],
        ['behind 20 records is split', 'the first one', first, 10, DEEP, 'offset_cap', 20],
      ],
    ),
  )(
    '%s, where all days but %s are empty in words that nobody knows',
    async (_what, _which, day, pageLength, breaks, fact, value) => {
      const { states, learned } = await exportWith(
        { [day]: records(1, 40) },
        {
          wrap: (page) =>
            `{"served":"eu","data":${page.length === 0 ? 'null' : `[${page.join(',')}]`}}`,
        },
        pageLength,
        breaks,
      );
      expect(states).toEqual(DAYS.map(() => 'complete'));
      expect(learned).toEqual([{ fact, value }]);
    },
  );
});

describe('a page that the database breaks off at', () => {
  /** Exports all days while storing a page `fails` as the body of a trigger says; of the second day only. */
  async function exportInto(fails: string, lists: Lists, more: Partial<Exporting> = {}) {
    await server.query(
      `create or replace function break_off() returns trigger language plpgsql as $do$
       begin
         if new.day = '${second}' then ${fails} end if;
         return new;
       end $do$;
       create trigger break_off before insert on daywalk.pages for each row execute function break_off()`,
    );
    onTestFinished(() => server.query('drop function break_off cascade').then(() => {}));
    const source = new ImaginedSource(lists);
    const exporting = { server, source, stream: newStream(), since: first, pageLength: 30 };
    const results = await exported({ ...exporting, ...more });
    return {
      states: [...results.values()].map(({ state }) => state),
      why: results.get(second)?.lastError,
      learned: await server.query(`select value from daywalk.learned where fact = 'page_length'`),
    };
  }

  const RAISE = `raise 'out of memory' using errcode = '53200';`;
  const ALL = DAYS.map(() => 'complete');

  it('as it has no memory for it, is asked for as shorter ones, and nothing is learned from that for other days', async () => {
    const fails = `if new.records > 10 then ${RAISE} end if;`;
    expect(await exportInto(fails, LISTS)).toEqual({ states: ALL, why: null, learned: [] });
  });

  it('as it is late with it, too', async () => {
    const pad = 'x'.repeat(40_000);
    const list = records(2_000, 40).map((record) => record.replace('}', `, "pad": "${pad}"}`));
    const fails = 'if new.byte_count >= 1000000 then perform pg_sleep(60); end if;';
    const lists = { ...LISTS, [second]: list };
    const result = await exportInto(fails, lists, { statementTimeoutMs: 3_000 });
    expect(result).toEqual({ states: ALL, why: null, learned: [] });
  });

  it.each(andAtNight([12], [0, 1, 39]))(
    'for one record of it, here at %i, fails its day and no other',
    async (place) => {
      const id = 2_000 + place;
      const fails = `if new.body @> '{"data":[{"id":${id}}]}' then ${RAISE} end if;`;
      const { states, why, learned } = await exportInto(fails, LISTS);
      expect(states).toEqual(DAYS.map((day) => (day === second ? 'failed' : 'complete')));
      expect(why).toMatch(
        /^the database breaks off at a page of \d+ bytes.* out of memory \(53200\)/,
      );
      expect(learned).toEqual([]);
    },
  );
});

it('a moment in which each answer tells of a failure teaches no depth', async () => {
  let left = 9;
  let began = false;
  const wrap: Habits['wrap'] = (page, _, { start }) => {
    began ||= start > 10;
    if (began && left-- > 0) return '{"_shards":{"failed":1},"data":[]}';
    return `{"data":[${page.join(',')}]}`;
  };
  const source = new ImaginedSource({ [first]: records(1, 38) }, { wrap });
  await exported({ server, source, stream: newStream(), since: first, pageLength: 7 });
  expect(left).toBeLessThan(1);
  expect(await server.query(`select value from daywalk.learned where fact = 'offset_cap'`)).toEqual(
    [],
  );
});

it('a moment in which the last record is refused teaches no depth, where what is behind it always is', async () => {
  const list = records(1, 7);
  let wasRefused = false;
  const before: Habits['before'] = (_, { start }) => {
    const isRefused = start >= list.length || (start === 6 && !wasRefused);
    wasRefused ||= start === 6;
    if (isRefused) throw new RequestError(404, 'no such page');
  };
  const source = new ImaginedSource({ [first]: list }, { before });
  await exported({ server, source, stream: newStream(), since: first, pageLength: 4 });
  expect(wasRefused).toBe(true);
  expect(await server.query(`select value from daywalk.learned where fact = 'offset_cap'`)).toEqual(
    [],
  );
});
