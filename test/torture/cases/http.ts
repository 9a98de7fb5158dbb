/** What goes wrong below a page: statuses, connections, codings, waits. */
import { gzipSync } from 'node:zlib';
import { type Fault, startSimulator } from '../../../simulator/simulator.ts';
import { type Case, EXACT, failed, stopped } from '../case.ts';
import { datatables, listing, paged, startOf } from '../listing.ts';
import { spread } from '../records.ts';

const records = () => ({ records: spread(950) });
const patient = { retryTimeMs: 3_000 };

/** A fault that passes, and one that stays, as cases. */
function faulty(
  name: string,
  server: string,
  faults: readonly Fault[],
  more: Partial<Case> = {},
): Case {
  return {
    name,
    server,
    expect: EXACT,
    scene: () => ({ sim: { ...records(), faults: faults.map((fault) => ({ ...fault })) } }),
    ...more,
  };
}

const retryAfter = (value: number | string): Case =>
  faulty(
    `429 with Retry-After ${value}`,
    `answers 429 with Retry-After: ${value} to two requests`,
    [{ kind: 'status', status: 429, retryAfter: value, at: [3, 5] }],
    { source: { retryAfterLimitMs: 60 } },
  );

export const http: readonly Case[] = [
  {
    name: 'honest',
    server: 'nothing wrong',
    expect: EXACT,
    scene: () => ({ sim: records() }),
    fast: true,
  },
  faulty('500 twice', 'answers 500 twice', [{ kind: 'status', status: 500, at: [2, 3] }]),
  faulty('408 and 425', 'answers 408 and 425 once each', [
    { kind: 'status', status: 408, at: [2] },
    { kind: 'status', status: 425, at: [4] },
  ]),
  faulty('5xx for one offset, for a while', 'answers 503 three times at one offset', [
    { kind: 'status', status: 503, times: 2, when: (request) => startOf(request) >= 300 },
  ]),
  faulty(
    '500 for one stretch of offsets, for ever',
    'answers 500 wherever start is from 300 to 399',
    [
      {
        kind: 'status',
        status: 500,
        when: (request) => startOf(request) >= 300 && startOf(request) < 400,
      },
    ],
  ),
  ...[
    0,
    1,
    '0.5',
    '-1',
    'date',
    'date+5',
    'Thu, 01 Jan 1970 00:00:00 GMT',
    'soon',
    '99999999999999999999',
  ].map(retryAfter),
  {
    name: 'a rate limit',
    server: 'refuses more than 60 requests per second, without Retry-After',
    expect: EXACT,
    source: { retryTimeMs: 5_000, retryBaseMs: 20, retryCapMs: 200 },
    realTime: true,
    scene: () => ({
      sim: { ...records(), rateLimit: { perSecond: 60, burst: 2, retryAfter: 'none' } },
    }),
  },
  faulty(
    'a rate limit that never ends',
    'answers 429 from the fifth request on, for ever',
    [{ kind: 'status', status: 429, when: (request) => request.number > 4 }],
    { expect: stopped(/UnavailableError.*429/), source: { retryTimeMs: 200 } },
  ),
  faulty(
    '401 in the middle',
    'refuses the key from the fifth request on',
    [{ kind: 'status', status: 401, when: (request) => request.number > 4 }],
    { expect: stopped(/RefusedError.*401/) },
  ),
  faulty(
    '403 in the middle',
    'answers 403 from the fifth request on',
    [{ kind: 'status', status: 403, when: (request) => request.number > 4 }],
    { expect: stopped(/RefusedError.*403/) },
  ),
  faulty('404', 'answers 404 to everything', [{ kind: 'status', status: 404 }], {
    expect: stopped(/SettingsError.*404/),
  }),
  faulty('a 206', 'answers 206 to everything', [{ kind: 'body', body: '[]', status: 206 }], {
    expect: failed(/206/),
  }),
  {
    name: 'a redirect to another origin',
    server: 'answers 302 with another host from the fifth request on',
    expect: stopped(/redirect to http:\/\/127\.0\.0\.1/),
    scene: async () => {
      const other = await startSimulator({ eventsPerDay: 10 });
      return {
        sim: {
          ...records(),
          faults: [
            {
              kind: 'redirect',
              location: `${other.url}/api/events?key`,
              when: (request) => request.number > 4,
            },
          ],
        },
        check: ({ complain }) => {
          if (other.counts.requests > 0) complain('the redirect was followed, with the key');
        },
        close: () => other.close(),
      };
    },
  },
  faulty('resets', 'resets a third of all connections', [{ kind: 'reset', rate: 0.3 }], {
    source: patient,
  }),
  faulty('hang-ups', 'closes a third of all connections', [{ kind: 'hang-up', rate: 0.3 }], {
    source: patient,
  }),
  faulty(
    'resets in the body',
    'resets in the middle of a third of all bodies',
    [{ kind: 'reset-body', rate: 0.3 }],
    {
      source: patient,
    },
  ),
  faulty(
    'bodies that stop',
    'stops in the middle of two bodies',
    [{ kind: 'stall-body', at: [2, 6] }],
    {
      source: { pageTimeoutMs: 400 },
    },
  ),
  faulty('silence', 'never answers', [{ kind: 'stall' }], {
    source: { pageTimeoutMs: 200, retryTimeMs: 250 },
    expect: stopped(/UnavailableError/),
  }),
  faulty('bodies cut in chunks', 'cuts chunked bodies three times', [
    { kind: 'cut-chunked', at: [3, 8, 13] },
  ]),
  faulty(
    'bodies cut without a sign',
    'cuts bodies three times, in answers that end with the connection',
    [{ kind: 'cut-close', at: [3, 8, 13] }],
  ),
  faulty('a Content-Length too large', 'promises more bytes than it sends, three times', [
    { kind: 'wrong-length', by: 10, at: [3, 8, 13] },
  ]),
  faulty('a Content-Length too small', 'promises fewer bytes than it sends, three times', [
    { kind: 'wrong-length', by: -10, at: [3, 8, 13] },
  ]),
  faulty(
    'a Content-Length too large, always',
    'always promises more bytes than it sends',
    [{ kind: 'wrong-length', by: 10 }],
    {
      expect: stopped(/UnavailableError.*(Content-Length|lost)/),
      source: { pageTimeoutMs: 500, retryTimeMs: 100 },
    },
  ),
  faulty('truncated bodies, for a while', 'sends half a body three times', [
    { kind: 'truncate', at: [3, 8, 13] },
  ]),
  faulty(
    'truncated bodies, always',
    'sends only nine tenths of every body',
    [{ kind: 'truncate', keep: 0.9 }],
    {
      expect: failed(/JSON that is not complete/),
      source: { gzip: false },
    },
  ),
  faulty('truncated gzip, for a while', 'sends half a gzip body three times', [
    { kind: 'truncate-gzip', at: [3, 8, 13] },
  ]),
  faulty(
    'truncated gzip, always',
    'leaves out the last 8 bytes of every gzip body',
    [{ kind: 'truncate-gzip', bytes: 8 }],
    { expect: stopped(/UnavailableError/) },
  ),
  faulty('gzip that is none', 'says gzip and sends plain text three times', [
    { kind: 'false-gzip', at: [3, 8, 13] },
  ]),
  {
    name: 'gzip always',
    server: 'packs every body, asked or not',
    expect: EXACT,
    source: { gzip: false },
    scene: () => ({ sim: { ...records(), gzip: 'always' } }),
  },
  {
    name: 'a gzip bomb',
    server: 'sends 200 MB of spaces packed into 200 kB at the third page',
    expect: failed(/larger|limit|more than/i),
    source: { bodyLimitBytes: 4_000_000 },
    scene: () => {
      const bomb = gzipSync(Buffer.alloc(200_000_000, ' '));
      return {
        sim: { ...records(), gzip: 'never' },
        respond: (request) =>
          startOf(request) >= 150
            ? { body: bomb, headers: { 'content-encoding': 'gzip' } }
            : undefined,
      };
    },
  },
  {
    name: 'timeouts at large lengths',
    server: 'needs 400 ms for more than 40 records, where 200 ms are granted',
    expect: EXACT,
    source: { pageTimeoutMs: 200, retryTimeMs: 250 },
    scene: () => ({
      sim: {
        records: spread(350),
        faults: [{ kind: 'delay', ms: 400, when: (request) => Number(request.query.length) > 40 }],
      },
    }),
  },
  {
    name: 'a drip',
    server: 'sends a page of 100 records too slowly, one of 25 in time',
    expect: EXACT,
    source: { pageTimeoutMs: 300, retryTimeMs: 350 },
    scene: () => ({
      sim: { records: spread(240), faults: [{ kind: 'drip', bytes: 300, ms: 15 }], gzip: 'never' },
    }),
  },
  {
    name: 'another server behind a balancer',
    server: 'a second server that knows nothing answers every fourth request',
    expect: EXACT,
    scene: () => ({
      sim: records(),
      respond: (request, simulator) =>
        request.number % 4 === 0
          ? datatables([], 0)
          : datatables(
              paged(listing(simulator, request), request),
              listing(simulator, request).length,
            ),
    }),
  },
];
