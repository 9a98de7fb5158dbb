/** Mutants of leases, checkpoints and commits: what keeps a page from being lost or stored twice. */
import { type Mutant, mutant } from './mutant.ts';

const PAGES = 'src/store/pages.ts';
const STORING = 'migrations/0002_storing.sql';
const LEASES = 'src/store/leases.ts';
const WALKS = 'src/store/walks.ts';
const PUBLISHING = 'migrations/0003_publishing.sql';

const COMMIT = ['test/store/commit.test.ts'];
const UNKNOWN = ['test/store/unknown-outcome.test.ts'];
const STEPS = ['test/walk/every-step.test.ts'];
const LEASE_TESTS = ['test/store/leases.test.ts', 'test/store/acquiring.test.ts'];

/** A place in a template string where code stands. */
const hole = (code: string) => ['$', '{', code, '}'].join('');

/** A page as two calls of which each does a part: the number of requests says which one. */
const ONLY_MOVE = '-page.requests';
const ONLY_STORE = '1000000 + page.requests';
const TWO_CALLS = [
  {
    file: STORING,
    find: 'and exists (select from daywalk.walks k where k.walk_id = walk',
    replace:
      'and exists (select from daywalk.walks k where took_requests >= 1000000 or k.walk_id = walk',
  },
  {
    file: STORING,
    find: /update daywalk\.walks k\n\s+set next_start/,
    replace: 'if took_requests < 1000000 then\n  update daywalk.walks k set next_start',
  },
  {
    file: STORING,
    find: 'requests = k.requests + took_requests',
    replace: 'requests = k.requests + abs(took_requests)',
  },
  {
    file: STORING,
    find: /and \(k\.records_path is null or k\.records_path = list_at\);\n.*\n/,
    replace: '$&  end if;\n  if took_requests < 0 then stored := true; return; end if;\n',
  },
  {
    file: PAGES,
    find: 'const [row] = await database.query<FactsRow & { tried: boolean }>(\n    `call',
    replace:
      'const part = (requests: number) => database.query<FactsRow & { tried: boolean }>(\n    `call',
  },
  { file: PAGES, find: '      page.requests,\n', replace: '      requests,\n' },
];
const inOrder = (first: string, second: string) => ({
  file: PAGES,
  find: '\n    ],\n  );\n  if (row',
  replace: `\n    ],\n  );\n  const [one] = await part(${first});\n  const [row] = one?.stored ? await part(${second}) : [one];\n  if (row`,
});

/** A number that counts on in the process. */
const COUNTED =
  '((globalThis as unknown as { leases?: number }).leases = ((globalThis as unknown as { leases?: number }).leases ?? 0) + 1)';

export const FENCE_MUTANTS: readonly Mutant[] = [
  mutant(
    'a page is stored without a look at the lease',
    STORING,
    'w.lease_id = lease and w.current_walk',
    'w.current_walk',
    COMMIT,
  ),
  {
    name: 'a page is stored without compare-and-set',
    edits: [
      {
        file: STORING,
        find: 'and k.next_start = at_start and k.pages = at_page);',
        replace: ');',
      },
      {
        file: STORING,
        find: /and k\.outcome is null\n\s+and k\.next_start = at_start and k\.pages = at_page/,
        replace: 'and k.outcome is null',
      },
    ],
    tests: COMMIT,
  },
  {
    name: 'compare-and-set looks at the start and not at the page number',
    edits: [
      {
        file: STORING,
        find: 'k.next_start = at_start and k.pages = at_page);',
        replace: 'k.next_start = at_start);',
      },
      {
        file: STORING,
        find: 'and k.next_start = at_start and k.pages = at_page\n',
        replace: 'and k.next_start = at_start\n',
      },
    ],
    tests: COMMIT,
  },
  {
    name: 'compare-and-set looks at the page number and not at the start',
    edits: [
      {
        file: STORING,
        find: 'k.next_start = at_start and k.pages = at_page);',
        replace: 'k.pages = at_page);',
      },
      {
        file: STORING,
        find: 'and k.next_start = at_start and k.pages = at_page\n',
        replace: 'and k.pages = at_page\n',
      },
    ],
    tests: COMMIT,
  },
  {
    name: 'two calls: the checkpoint first, then the page',
    edits: [...TWO_CALLS, inOrder(ONLY_MOVE, ONLY_STORE)],
    tests: STEPS,
  },
  {
    name: 'two calls: the page first, then the checkpoint',
    edits: [...TWO_CALLS, inOrder(ONLY_STORE, ONLY_MOVE)],
    tests: STEPS,
  },
  {
    name: 'a page is stored in a walk that has ended',
    edits: [
      {
        file: STORING,
        find: 'k.window_id = target and k.outcome is null',
        replace: 'k.window_id = target',
      },
      {
        file: STORING,
        find: 'w.lease_id = lease and w.current_walk = walk',
        replace: 'w.lease_id = lease',
      },
    ],
    tests: COMMIT,
  },
  mutant(
    'a page does not renew the lease',
    STORING,
    'set lease_expires = clock_timestamp() + make_interval(secs => ttl_ms / 1000), attempts = 0',
    'set attempts = 0',
    COMMIT,
  ),
  mutant(
    'an unknown outcome is taken for a failure',
    PAGES,
    'if (await isMine()) return { ...facts, stored: true };',
    '',
    UNKNOWN,
  ),
  mutant(
    'an unknown outcome is taken for a success',
    PAGES,
    '(form) => commitPage(storing, checkpoint, page, form, contract));',
    "(form) => commitPage(storing, checkpoint, page, form, contract)).catch((error: unknown) => {\n      if (/OutcomeUnknown|ConnectionLost/.test((error as Error).constructor.name)) return { facts: { records: 3, came: 3, total: 3, lowerBound: false, totalMissing: false, more: false, digest: '0', first: '0', last: '0', continues: true, fits: true, fault: null, listType: 'array', signature: null, wordless: false, frameKnown: false, stored: true }, tried: true };\n      throw error;\n    });",
    UNKNOWN,
  ),
  mutant(
    'any page with this number settles an unknown outcome',
    PAGES,
    'p.page_no = $4 and p.sha256 = $5`',
    'p.page_no = $4 and $5::bytea is not null`',
    COMMIT,
  ),
  mutant(
    'a page settles an unknown outcome though the lease is gone',
    PAGES,
    'where w.window_id = $1 and w.lease_id = $2::uuid\n        and p.walk_id',
    'where w.window_id = $1 and $2::uuid is not null\n        and p.walk_id',
    UNKNOWN,
  ),
  mutant(
    'a connection whose statement was given up serves the next one',
    'src/store/database.ts',
    'else void ended.then(() => client.release(true));',
    'else void ended.then(() => client.release());',
    UNKNOWN,
  ),
  mutant(
    'a statement has no deadline',
    'src/store/database.ts',
    'return (await orAborted(running, deadline, late)).rows;',
    'void late; return (await running).rows;',
    [...UNKNOWN, '-t', 'statement was given up'],
  ),
  mutant(
    'a database that is away is waited for without end',
    'src/store/database.ts',
    'if (away >= patienceMs)',
    'if (away >= patienceMs * 1e6)',
    [...UNKNOWN, '-t', 'stays away'],
  ),
  mutant(
    'the lease id is a counter',
    'src/walk/due.ts',
    'const leaseId = clock.uuid();',
    `const leaseId = \`00000000-0000-4000-8000-${hole(`String(${COUNTED}).padStart(12, '0')`)}\`;`,
    ['test/e2e/several-workers.test.ts'],
  ),
  mutant(
    'a lease ends by the clock of the worker',
    LEASES,
    'lease_expires = clock_timestamp() + make_interval(secs => $3::double precision / 1000),\n           attempts = w.attempts + 1',
    `lease_expires = to_timestamp(${hole('Date.now() / 1000')}) + make_interval(secs => $3::double precision / 1000),\n           attempts = w.attempts + 1`,
    ['test/e2e/bad-clocks.test.ts'],
  ),
  mutant(
    'days close by the clock of the worker',
    'src/store/windows.ts',
    'return database.value(\n    `select extract(epoch from clock_timestamp())::double precision * 1000 as now`,\n  );',
    'return Promise.resolve(Date.now());',
    ['test/e2e/bad-clocks.test.ts'],
  ),
  mutant(
    'a lease that is held may be taken',
    LEASES,
    /and \(w\.lease_expires is null or w\.lease_expires not between .*\)\n( +and \$\{inRange)/,
    '$1',
    LEASE_TESTS,
  ),
  mutant(
    'a lease never ends',
    LEASES,
    /and \(w\.lease_expires is null or w\.lease_expires not between .*\)\n( +and \$\{inRange)/,
    'and w.lease_expires is null\n$1',
    LEASE_TESTS,
  ),
  mutant('a repeated lease takes another window', LEASES, 'and not exists (select from mine)', '', [
    ...UNKNOWN,
    ...LEASE_TESTS,
  ]),
  mutant(
    'leasing does not lock what it chooses',
    LEASES,
    'limit 1\n       for update skip locked',
    'limit 1',
    [...LEASE_TESTS, 'test/walk/together.test.ts'],
  ),
  mutant(
    'a body at which the server breaks off each time is sent for ever',
    'src/store/connection/too-much.ts',
    'points >= TOO_MUCH',
    'points >= 100 * TOO_MUCH',
    ['test/store/too-much.test.ts'],
  ),
  mutant(
    'a server that is away is one that breaks off at a body',
    'src/store/connection/too-much.ts',
    'askElse().catch(() => false)',
    'askElse().catch(() => true)',
    ['test/store/too-much.test.ts'],
  ),
  mutant(
    'what no process gets past is taken again and again',
    'src/walk/due.ts',
    'attempts > FRUITLESS_LEASES',
    'attempts > 10 * FRUITLESS_LEASES',
    ['test/walk/together.test.ts'],
  ),
  mutant(
    'a renewal does not look at the lease id',
    LEASES,
    'set lease_expires = clock_timestamp() + make_interval(secs => $3::double precision / 1000)\n      where window_id = $1 and lease_id = $2::uuid',
    'set lease_expires = clock_timestamp() + make_interval(secs => $3::double precision / 1000)\n      where window_id = $1 and $2::uuid is not null',
    LEASE_TESTS,
  ),
  mutant(
    'a loser gives back a lease that is another one\u2019s',
    LEASES,
    'attempts = greatest(0, attempts - 1)\n      where window_id = $1 and lease_id = $2::uuid',
    'attempts = greatest(0, attempts - 1)\n      where window_id = $1 and $2::uuid is not null',
    LEASE_TESTS,
  ),
  mutant(
    'a loser fails the window of another one',
    LEASES,
    'lease_id = null, lease_owner = null, lease_expires = null\n      where window_id = $1 and lease_id = $2::uuid`,\n    [lease.windowId, lease.leaseId, error, delayMs, judged]',
    'lease_id = null, lease_owner = null, lease_expires = null\n      where window_id = $1 and $2::uuid is not null`,\n    [lease.windowId, lease.leaseId, error, delayMs, judged]',
    LEASE_TESTS,
  ),
  mutant(
    'a walk is opened though one is in progress',
    WALKS,
    'and lease_id = $2::uuid and current_walk is null\n',
    'and lease_id = $2::uuid\n',
    [...UNKNOWN, 'test/model/lease-replay.test.ts'],
  ),
  mutant(
    'a loser ends a walk',
    WALKS,
    'set current_walk = nullif(current_walk, $3)\n        where window_id = $1 and lease_id = $2::uuid',
    'set current_walk = nullif(current_walk, $3)\n        where window_id = $1 and $2::uuid is not null',
    ['test/store/leases.test.ts'],
  ),
  mutant(
    'windows are proven, closed and split without a look at the lease',
    PUBLISHING,
    'where window_id = target and lease_id = lease for update',
    'where window_id = target and lease is not null for update',
    ['test/store/publish.test.ts', 'test/store/cuts.test.ts', 'test/store/splits.test.ts'],
  ),
  mutant(
    'a window is proven without a sum over its pages',
    PUBLISHING,
    ' and daywalk.is_whole(k.walk_id)',
    '',
    ['test/store/publish.test.ts'],
  ),
  mutant(
    'a window is proven without a look at the checkpoint',
    PUBLISHING,
    '(k.next_start = at_start and k.pages = at_page\n                  and (evidence',
    '((evidence',
    ['test/store/publish.test.ts'],
  ),
  mutant(
    'a proof is not compared with what its walk holds',
    PUBLISHING,
    "and (evidence ->> 'kind' = 'union' or (evidence ->> 'records')::bigint = at_start)",
    '',
    ['test/store/publish.test.ts'],
  ),
  mutant(
    'proving that is repeated after a lost answer counts as lost',
    PUBLISHING,
    "where window_id = target and proof = shown) then 'proven' else 'lost' end;",
    "where window_id = target and proof = shown) then 'lost' else 'lost' end;",
    [...UNKNOWN, '-t', 'happens once'],
  ),
  mutant(
    'a split that is repeated after a lost answer counts as lost',
    PUBLISHING,
    "split_reason = why) then 'split' else 'lost' end;",
    "split_reason = why) then 'lost' else 'lost' end;",
    [...UNKNOWN, '-t', 'happens once'],
  ),
  mutant(
    'a lost lease does not stop the walk',
    'src/walk/lease-keeper.ts',
    'if (!held)',
    'if (!held && lease.windowId < 0)',
    ['test/walk/lease-keeper.test.ts'],
  ),
];
