/** Bodies that are no page, pages in other envelopes, and JSON that `jsonb` has trouble with. */
import type { RecordInput } from '../../../simulator/simulator.ts';
import { REFUSED, TAKEN } from '../../support/json-corpus.ts';
import { CHANGED, told } from '../../support/jsonb-corpus.ts';
import { type Case, DAY, EXACT, failed, quarantined } from '../case.ts';
import { datatables, listing, paged, startOf } from '../listing.ts';
import { spread, timeOf } from '../records.ts';

const NOON = timeOf(`${DAY} 12:00:00`);
const sim = { records: spread(950) };
const isText = (body: unknown): body is string => typeof body === 'string';

/** One record that holds this JSON text, among others. */
const holding = (value: string | Uint8Array, index = 0): RecordInput => ({
  text: Buffer.concat([
    Buffer.from(`{"timestamp":"2026-03-01T12:00:00.000+0000","id":"held${index}","x":`),
    Buffer.from(value),
    Buffer.from('}'),
  ]),
  time: NOON,
});

/** Lists in lists. */
const lists = (depth: number, inside = '') => `${'['.repeat(depth)}${inside}${']'.repeat(depth)}`;

/** What is left of them in `jsonb`: 500 levels with the three around them, then a string with the beginning. */
const cutLists = (depth: number) =>
  lists(497, `"${'['.repeat(1_000)}… (cut by daywalk, ${2 * (depth - 497)} bytes)"`);

const among = (...records: readonly RecordInput[]) => ({
  sim: { records: [...spread(250), ...records] },
});

/** A body instead of a page from the third one on: for a while, or for ever. */
function interrupted(what: string, body: string | Uint8Array, reason: RegExp): Case[] {
  const instead = (always: boolean) => {
    let left = 2;
    return {
      sim,
      respond: (request: Parameters<typeof startOf>[0]) =>
        (always ? request.number > 4 : startOf(request) >= 150 && left-- > 0)
          ? { body }
          : undefined,
    };
  };
  return [
    {
      name: `${what}, for a while`,
      server: `${what} twice, at the third page`,
      expect: EXACT,
      scene: () => instead(false),
    },
    {
      name: `${what}, always`,
      server: `${what} from the fifth request on`,
      expect: failed(reason),
      scene: () => instead(true),
    },
  ];
}

/** A page in another encoding: whole, as the server holds it. */
const encoded = (
  name: string,
  server: string,
  expect: Case['expect'],
  encode: (page: string) => Uint8Array,
): Case => ({
  name,
  server,
  expect,
  scene: () => ({
    sim,
    respond: (request, simulator) => {
      const list = listing(simulator, request);
      const page = datatables(paged(list, request), list.length).body as string;
      return { body: encode(page) };
    },
  }),
});

/** A total as this text, with an honest list. */
const totalAs = (name: string, server: string, total: (count: number) => string): Case => ({
  name,
  server,
  expect: EXACT,
  scene: () => ({
    sim,
    respond: (request, simulator) => {
      const list = listing(simulator, request);
      return datatables(paged(list, request), total(list.length));
    },
  }),
});

const corpus = Object.values(TAKEN)
  .filter(isText)
  .filter((text) => text.length < 200_000);
const changed = Object.values(CHANGED)
  .map(([received, , becomes]) => [received, becomes] as const)
  .filter((pair): pair is readonly [string, string] => isText(pair[0]) && isText(pair[1]))
  .filter(
    ([received, becomes]) =>
      received.length < 100_000 && !/^\ufeff/.test(received) && !becomes.includes('[['),
  )
  // Keys of records are told apart, those around the list are not.
  .filter(([received]) => !/^\{"[^"]*\\u/.test(received));

export const body: readonly Case[] = [
  {
    name: 'a corpus of JSON',
    server: `records that hold ${corpus.length} texts at the edges of JSON`,
    expect: EXACT,
    scene: () => among(...corpus.map(holding)),
    fast: true,
  },
  {
    name: 'a corpus that jsonb refuses',
    server: `records that hold ${changed.length} texts that jsonb refuses`,
    expect: quarantined(/nul|surrogate/),
    stored: (text) => {
      const held = /^(\{"timestamp":"[^"]*","id":"held(\d+)","x":)/.exec(text);
      return held === null ? text : `${held[1]}${changed[Number(held[2])]?.[1]}}`;
    },
    scene: () => among(...changed.map(([received], index) => holding(received, index))),
  },
  ...Object.entries(REFUSED)
    .filter(([name]) => ['nothing', 'an open list', 'UTF-32'].includes(name))
    .flatMap(([name, refused]) => interrupted(`no JSON (${name})`, refused, /JSON|empty|nothing/i)),
  ...interrupted('HTML login', '<!DOCTYPE html><html><body>Sign in</body></html>', /HTML|JSON/),
  ...interrupted('200 with an error object', '{"error":"search backend unavailable"}', /error/),
  ...interrupted(
    'an error beside an empty list',
    '{"error":"shard failed","recordsTotal":950,"recordsFiltered":950,"data":[]}',
    /error/,
  ),
  ...interrupted(
    'null for the list',
    '{"draw":0,"recordsTotal":950,"recordsFiltered":950,"data":null}',
    /null|no new window becomes complete/,
  ),
  ...interrupted(
    'another envelope',
    '{"items":[{"id":1}],"count":1}',
    /record list|where|whatever/,
  ),
  ...interrupted('a number for the page', '42', /number|list|JSON/),
  ...interrupted(
    'a list of words',
    '{"draw":0,"recordsTotal":950,"recordsFiltered":950,"data":["a","b"]}',
    /./,
  ),
  totalAs('total as a string', 'writes the total as a string', (count) => `"${count}"`),
  totalAs('total with decimals', 'writes the total as 950.0', (count) => `${count}.0`),
  totalAs(
    'total with thousands separators',
    'writes the total as a text with commas',
    (count) => `"${count.toLocaleString('en-US')},000"`,
  ),
  totalAs('total null', 'writes null for the total', () => 'null'),
  totalAs('total negative', 'writes −1 for the total', () => '-1'),
  totalAs('total zero with records', 'writes 0 for the total, beside records', () => '0'),
  ...(['array', 'datatables', 'hits', 'nested', 'list'] as const).map(
    (envelope): Case => ({
      name: `envelope ${envelope}`,
      server: `wraps its pages as ${envelope}`,
      expect: EXACT,
      scene: () => ({ sim: { ...sim, envelope } }),
    }),
  ),
  ...(['array', 'datatables', 'hits', 'nested', 'list'] as const).flatMap((envelope) =>
    (['exact', 'none'] as const).map(
      (totals): Case => ({
        name: `empty day, ${envelope}, totals ${totals}`,
        server: `has no records; ${envelope}, totals ${totals}`,
        // In an envelope that nobody knows the first answer of all must hold a record.
        expect: envelope === 'nested' ? failed(/words not seen before/) : EXACT,
        scene: () => ({ sim: { records: [], envelope, totals } }),
        kills: false,
      }),
    ),
  ),
  {
    name: 'a smart-event stream',
    server: 'has both resources',
    expect: EXACT,
    streams: [
      { name: 'events', resource: 'events', filters: {} },
      { name: 'smart-event', resource: 'smart-event', filters: {} },
    ],
    scene: () => ({ sim: { eventsPerDay: 450, alertsPerDay: 230 } }),
  },
  {
    name: 'U+0000',
    server: 'has \\u0000 in records',
    expect: quarantined(/nul/),
    stored: (text) =>
      text.replace('{"\\u0000"', `{"\\ufffd${told('"\\u0000"')}"`).replaceAll('\\u0000', '\\ufffd'),
    scene: () => among(holding('"a\\u0000b"'), holding('{"\\u0000":1}', 1)),
  },
  {
    name: 'lone surrogates',
    server: 'has halves of surrogate pairs in records',
    expect: quarantined(/surrogate/),
    stored: (text) => text.replaceAll(/\\ud800|\\udfff/g, '\\ufffd'),
    scene: () => among(holding('"a\\ud800b"'), holding('"\\udfff"', 1)),
  },
  {
    name: 'invalid UTF-8',
    server: 'has bytes in records that are not UTF-8',
    expect: quarantined(/utf8/),
    scene: () =>
      among(holding(Buffer.from([0x22, 0xff, 0x22])), holding(Buffer.from([0x22, 0xc0, 0x22]), 1)),
  },
  encoded('UTF-16', 'sends UTF-16 with a byte order mark', quarantined(/utf16/), (page) =>
    Buffer.from(`\ufeff${page}`, 'utf16le'),
  ),
  {
    name: 'HTML login beyond the second page',
    server: 'answers with a login page wherever start is beyond 150',
    expect: failed(/HTML/),
    scene: () => ({
      sim: { ...sim, faults: [{ kind: 'html', when: (request) => startOf(request) >= 150 }] },
    }),
  },
  encoded(
    'a byte order mark',
    'begins every page with a byte order mark',
    quarantined(/bom/),
    (page) => Buffer.from(`\ufeff${page}`),
  ),
  {
    name: 'numbers too large',
    server: 'has 1e999999 in records',
    expect: quarantined(/number/),
    stored: (text) => text.replaceAll('1e999999', '"1e999999"'),
    scene: () => among(holding('1e999999'), holding('[-1,1e999999]', 1)),
  },
  {
    name: 'depth 20,000',
    server: 'has lists in lists, 20,000 deep, in a record',
    expect: quarantined(/depth|deep/),
    stored: (text) => text.replace(lists(20_000), cutLists(20_000)),
    scene: () => ({
      ...among(holding(lists(20_000))),
      check: async ({ query, complain }) => {
        const [row] = await query<{ n: number; kept: number }>(
          `select (select count(*)::integer from daywalk.events) as n,
                  (select count(*)::integer from daywalk.pages where bytes is not null and position(repeat('[', 19000) in convert_from(bytes, 'UTF8')) > 0) as kept`,
        );
        if (row?.n !== 251) complain(`${row?.n} records where there are 251`);
        if ((row?.kept ?? 0) < 1) complain('the exact bytes of the deep record are not kept');
      },
    }),
  },
  {
    name: 'numbers and keys that JavaScript loses',
    server: 'has 64-bit integers, 1.10, duplicate keys and __proto__ in records',
    expect: EXACT,
    scene: () =>
      among(
        holding('18446744073709551615'),
        holding('[1.10,1e2,-0,0.1000000000000000055511151231257827]', 1),
        holding('{"a":1,"a":2,"__proto__":{"x":1}}', 2),
      ),
  },
];
