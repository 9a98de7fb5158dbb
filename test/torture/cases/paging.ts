/** Servers that page in their own way: clamps, caps, orders, totals that mean something else. */
import { mixFraction } from '../../../simulator/random.ts';
import type { SimulatorOptions } from '../../../simulator/simulator.ts';
import { type Case, EXACT, failed } from '../case.ts';
import { datatables, lengthOf, listing, paged, plainList, startOf } from '../listing.ts';
import { spread } from '../records.ts';
import { capped } from './caps.ts';

const records = spread(950);

const simple = (
  name: string,
  server: string,
  sim: SimulatorOptions,
  more: Partial<Case> = {},
): Case => ({
  name,
  server,
  expect: EXACT,
  scene: () => ({ sim: { records, ...sim } }),
  ...more,
});

/** With exact totals and without any. */
const bothTotals = (
  name: string,
  server: string,
  sim: SimulatorOptions,
  more: Partial<Case> = {},
): Case[] => [
  simple(`${name}, totals`, `${server}; totals are exact`, sim, more),
  simple(`${name}, no totals`, `${server}; no totals`, { ...sim, totals: 'none' }, more),
];

export const paging: readonly Case[] = [
  ...bothTotals('clamp 30', 'gives at most 30 records a page', { clamp: 30 }),
  ...bothTotals(
    'clamp 1',
    'gives one record a page',
    { clamp: 1, records: spread(40) },
    { mostRatio: 8 },
  ),
  simple('clamp 1, nothing in the day', 'gives one record a page, and has none', {
    clamp: 1,
    records: [],
  }),
  simple('one record', 'has one record', { records: spread(1) }),
  simple('one record, no totals', 'has one record; no totals', {
    records: spread(1),
    totals: 'none',
  }),
  simple('exactly one page', 'has as many records as a page', { records: spread(100) }),
  simple('exactly one page, no totals', 'has as many records as a page; no totals', {
    records: spread(100),
    totals: 'none',
  }),
  ...(['totals', 'no totals'] as const).flatMap((totals) =>
    ([0, 0.5] as const).map(
      (least): Case => ({
        name: `random short pages from ${least}, ${totals}`,
        server: `gives pages of random length, at least ${least} of what was asked for; ${totals}`,
        expect: EXACT,
        // Which pages are short hangs on how many requests came before: 95 to 576 of them were seen with forty seeds.
        mostRatio: 60,
        scene: () => ({
          sim: { records },
          respond: (request, simulator) => {
            const list = listing(simulator, request);
            const share = least + (1 - least) * mixFraction(1, request.number);
            const page = paged(list, request).slice(
              0,
              Math.max(1, Math.ceil(lengthOf(request) * share)),
            );
            return datatables(page, totals === 'totals' ? list.length : null);
          },
        }),
      }),
    ),
  ),
  ...([400, 413, 422] as const).flatMap((status) =>
    bothTotals(`length above 40 refused with ${status}`, `answers ${status} to a length above 40`, {
      maxLength: { limit: 40, status },
    }),
  ),
  ...bothTotals(
    'start ignored',
    'gives the first page whatever start is',
    { ignoreStart: true },
    {
      expect: failed(/whatever `start` is/),
    },
  ),
  ...bothTotals(
    'start ignored, clamp 1',
    'gives the first record whatever start is',
    { ignoreStart: true, clamp: 1 },
    {
      expect: failed(/start/),
    },
  ),
  simple(
    'start ignored, one page',
    'ignores start, and has 60 records',
    { ignoreStart: true, records: spread(60) },
    {
      expect: failed(/no walk came to a quiet end|start/),
    },
  ),
  {
    name: 'the same page again, once',
    server: 'answers the fourth page with the third one, once',
    expect: EXACT,
    scene: () => {
      let left = 1;
      return {
        sim: { records },
        respond: (request, simulator) => {
          const list = listing(simulator, request);
          const again = startOf(request) >= 280 && startOf(request) < 320 && left-- > 0;
          const start = startOf(request) - (again ? 99 : 0);
          return datatables(list.slice(start, start + lengthOf(request)), list.length);
        },
      };
    },
  },
  ...(['totals', 'no totals'] as const).flatMap((totals) =>
    (['once', 'always'] as const).map(
      (often): Case => ({
        name: `an empty page in the middle, ${often}, ${totals}`,
        server: `gives an empty page where start is about 300, ${often}; ${totals}`,
        expect: EXACT,
        scene: () => {
          let left = 1;
          return {
            sim: { records },
            respond: (request, simulator) => {
              const list = listing(simulator, request);
              const hit =
                startOf(request) >= 290 &&
                startOf(request) <= 310 &&
                (often === 'always' || left-- > 0);
              return datatables(
                hit ? [] : paged(list, request),
                totals === 'totals' ? list.length : null,
              );
            },
          };
        },
      }),
    ),
  ),
  ...bothTotals(
    'unstable order',
    'shuffles records of the same second in every request',
    {
      order: 'unstable',
      records: spread(950).map((record, index) =>
        typeof record === 'string'
          ? record
          : {
              ...record,
              time: Math.floor(Number(record.time) / 3_600_000) * 3_600_000 + (index % 2),
            },
      ),
    },
    { most: 1_300 },
  ),
  ...bothTotals(
    'shuffled in every request',
    'has no order at all',
    { order: 'shuffled', records: spread(450) },
    { most: 600 },
  ),
  ...bothTotals('oldest first', 'gives the oldest record first', { order: 'oldest' }),
  simple(
    'total of another filter',
    'tells the total of all days',
    {
      records: [...spread(450), ...spread(200, '2026-03-02')],
      envelope: 'list',
      totals: 'unfiltered',
    },
    { expect: failed(/told a total of/) },
  ),
  simple(
    'total of another filter, switched off',
    'tells the total of all days; total_path is none',
    {
      records: [...spread(450), ...spread(200, '2026-03-02')],
      envelope: 'list',
      totals: 'unfiltered',
    },
    { streams: [{ name: 'events', resource: 'events', filters: {}, totalPath: null }] },
  ),
  simple('total before and after the filter', 'tells both totals of DataTables', {
    records: [...spread(450), ...spread(200, '2026-03-02')],
    totals: 'unfiltered',
  }),
  simple(
    'total of the page',
    'tells how many records the page has',
    { totals: 'page' },
    { fast: true },
  ),
  simple(
    'total one too large',
    'tells one more than there are',
    { totals: { off: 1 } },
    { expect: failed(/told a total of/) },
  ),
  simple('total one too small', 'tells one fewer than there are', { totals: { off: -1 } }),
  simple('total 300 with gte', 'counts to 300 only and says so', {
    envelope: 'hits',
    totals: { cap: 300 },
  }),
  simple('total 300 without a word', 'counts to 300 only, where a page ends', {
    totals: { cap: 300 },
  }),
  simple(
    'total 298 without a word',
    'counts to 298 only, where a page ends that begins with the last record',
    {
      totals: { cap: 298 },
    },
  ),
  simple('total 333 without a word', 'counts to 333 only', { totals: { cap: 333 } }),
  simple(
    'total 10,000 with gte',
    'counts to 10,000 of 12,000 only and says so',
    {
      records: spread(12_000),
      envelope: 'hits',
      totals: { cap: 10_000 },
    },
    { options: { pageLength: 1000 } },
  ),
  simple(
    'total 10,000 without a word',
    'counts to 10,000 of 12,000 only',
    {
      records: spread(12_000),
      totals: { cap: 10_000 },
    },
    { options: { pageLength: 1000 } },
  ),
  ...bothTotals('exactly 1,000 records', 'has exactly 1,000 records', { records: spread(1000) }),
  ...bothTotals(
    'exactly 10,000 records',
    'has exactly 10,000 records',
    { records: spread(10_000) },
    {
      options: { pageLength: 1000 },
    },
  ),
  ...bothTotals(
    'pages of 10,000 records',
    'gives 10,000 records a page',
    { records: spread(23_000) },
    {
      options: { pageLength: 10_000 },
    },
  ),
  {
    name: 'a hole in large windows, no totals',
    server: 'leaves out every tenth record of windows with more than 200; no totals',
    expect: EXACT,
    // Each of its many windows, without a total, is asked what comes behind its last record.
    most: 320,
    scene: () => ({
      sim: { records },
      respond: (request, simulator) => {
        const list = listing(simulator, request);
        const shown = list.length > 200 ? list.filter((_, index) => index % 10 !== 3) : list;
        return plainList(paged(shown, request));
      },
    }),
  },
  ...capped,
];
