/** Clients of the served archive who want another answer than the true one: each question has its answer worked out beside it. */
import { beforeAll, expect } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { ARCHIVE_DAY, ARCHIVE_KEY, serveStored, storeDays } from '../support/served-archive.ts';
import { ask } from '../support/status-scene.ts';
import { clear } from '../support/store.ts';
import { attack } from './attacking.ts';

/** What a value may hold that means something to somebody on the way. */
const VALUES = [
  'web',
  '?',
  'a?b&agent=c',
  'a&b=c',
  '\\',
  '\\\\"',
  'a"b',
  "' or 1=1 --",
  '%41',
  'a+b c',
  '$.** ? (@ == 1)',
  '*',
  '_',
  'ünï😀',
  '<b>',
];
const RECORDS = VALUES.flatMap((agent, index) =>
  [0, 1, 2].map((by) => ({
    agent: { name: agent },
    manager: { name: VALUES[(index * 2 + by) % VALUES.length] ?? '' },
  })),
);
const DATES = `fromDate=${ARCHIVE_DAY}%2000:00:00&toDate=${ARCHIVE_DAY}%2023:59:59`;

/** How a client, or a gateway that adds a filter, may write one text in a query. */
const WRITTEN: readonly ((text: string) => string)[] = [
  encodeURIComponent,
  // Only what cannot stand in a request line as it is, or would end the value.
  (text) =>
    encodeURIComponent(text).replace(/%(?:3F|5C|22|27|28|29|2A|24|3D|3C|3E)/g, decodeURIComponent),
  (text) =>
    Array.from(Buffer.from(text), (byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
];

let server: TestDatabase;
beforeAll(async () => {
  server = await createTestDatabase();
});

async function serveRecords() {
  await clear(server);
  await storeDays(server, { [ARCHIVE_DAY]: [RECORDS] });
  return serveStored(server);
}

attack(
  'filters of the archive with ?, &, backslashes, quotes and jsonpath in them: the exact number',
  async () => {
    const { total } = await serveRecords();
    // Each pair is written in one way, so that each way meets all values on both sides.
    return VALUES.flatMap((agent, row) =>
      VALUES.map((manager, column) => ({
        name: `agent ${agent}, manager ${manager}`,
        count: 2,
        run: async () => {
          const write = WRITTEN[(row + column) % WRITTEN.length] ?? String;
          const expected = RECORDS.filter(
            (record) => record.agent.name === agent && record.manager.name === manager,
          ).length;
          const [one, other] = [`agent=${write(agent)}`, `manager=${write(manager)}`];
          expect(await total(`${one}&${other}`)).toBe(expected);
          expect(await total(`&${other}&&hideread=0&search=&%61${one.slice(1)}&`)).toBe(expected);
        },
      })),
    );
  },
  20,
);

attack('searches of the archive for such texts: the exact number', async () => {
  const { total } = await serveRecords();
  return VALUES.flatMap((value) =>
    WRITTEN.map((write, way) => ({
      name: `${value}, written in way ${way}`,
      run: async () => {
        const holds = (text: string) => text.toLowerCase().includes(value.toLowerCase());
        const expected = RECORDS.filter(
          ({ agent, manager }) => holds(agent.name) || holds(manager.name),
        ).length;
        expect(await total(`search=${write(value)}`)).toBe(expected);
      },
    })),
  );
});

/** Requests that no archive can answer: an error that says so, never a list or a zero. */
const WRONG: readonly [status: number, ...queries: string[]][] = [
  [
    400,
    'agent=a&agent=b',
    'agent=a&agent=',
    'agent=&agent=a',
    'agent=a&%61gent=b',
    'agent=a&agen%74=b',
    `fromDate=${ARCHIVE_DAY}%2000:00:00`,
    'length=1&length=2',
    'agent[]=a',
    'agent[name]=a',
    'Agent=a',
    'agent%20=a',
    'agent%00=a',
    '?agent=a',
    '??agent=a',
    ';agent=a',
    '__proto__=a',
    'constructor=a',
    'tenant=a',
    'limit=1',
    'agent=%00',
    'agent=%',
    'agent=%zz',
    'agent=%c3%28',
    'agent=%ff',
    `agent=${'a'.repeat(1_001)}`,
    `search=${'%5C'.repeat(1_500)}`,
    ...['-1', '0', '1e3', '0x10', '1.5', '%201', '1;2', '%D9%A1', '99999999999999999', '10001'].map(
      (length) => `length=${length}`,
    ),
    ...['-1', '1e3', '%2B1', 'NaN', 'null'].map((start) => `start=${start}`),
    'hideread=2',
    'hideread=true',
    'rule_level=x',
    'rule_level=-1',
    'filters=a',
    'organization=a',
  ],
  [
    422,
    'rule_level=1',
    'rule_level_from=1',
    'rule_level_to=1',
    'hideread=1',
    'agent=web&rule_level=3',
  ],
  [414, `search=${'\\'.repeat(8_000)}`, `agent=${'?'.repeat(9_000)}`],
];

attack(
  'parameters that are unknown, twice, too long, broken, or on fields that no record has',
  async () => {
    const { get } = await serveRecords();
    return WRONG.flatMap(([status, ...queries]) =>
      queries.flatMap((query) =>
        [query, `agent=&${query}`.replace('agent=&agent', 'manager=&agent'), `${query}&search=web`]
          .filter((text) => status !== 414 || text.length > 8_000)
          .map((text) => ({
            name: text.slice(0, 80),
            run: async () => expect((await get(text)).status).toBe(status),
          })),
      ),
    );
  },
);

attack('paths, methods and keys that are not the right ones', async () => {
  const { url } = await serveRecords();
  const key = { 'x-api-key': ARCHIVE_KEY };
  const paths = [
    '/',
    '/api',
    '/api/events/',
    '//api/events',
    '/api//events',
    '/api/./events',
    '/api/x/../events',
    '/api/%65vents',
    '/api/events%00',
    '/api/EVENTS',
    '/api/events;a=b',
    '/api/events#',
    '/api/__proto__',
    '\\api\\events',
    'http://localhost/api/events',
    '*',
  ];
  const keys: Record<string, string>[] = [
    {},
    { 'x-api-key': '' },
    { 'x-api-key': ARCHIVE_KEY.slice(0, -1) },
    { 'x-api-key': `${ARCHIVE_KEY}x` },
    { 'x-api-key': ARCHIVE_KEY.toUpperCase() },
    { 'x-api-key': `${ARCHIVE_KEY}, ${ARCHIVE_KEY}` },
    { 'x-api-key': `wrong, ${ARCHIVE_KEY}` },
    { 'x-api-keys': ARCHIVE_KEY },
    { authorization: `Bearer ${ARCHIVE_KEY}` },
    { cookie: `x-api-key=${ARCHIVE_KEY}` },
  ];
  const refused = (path: string, headers: Record<string, string>, method = 'GET') => ({
    name: `${method} ${path} ${JSON.stringify(headers)}`,
    run: async () => {
      const { status, body } = await ask(url, `${path}?${DATES}`, { headers, method });
      expect([400, 401, 404, 405]).toContain(status);
      expect(body).not.toContain('"web"');
    },
  });
  return [
    ...paths.map((path) => refused(path, key)),
    ...keys.map((headers) => refused('/api/events', headers)),
    ...['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND'].map((method) =>
      refused('/api/events', key, method),
    ),
  ];
});
