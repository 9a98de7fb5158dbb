/** What the frame of an answer says, in Postgres: failures in any spelling, claims of more, and what empty answers are recognised by. */
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { spelled } from '../../src/walk/rules/places.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let server: TestDatabase;
beforeAll(async () => {
  server = await createTestDatabase();
});

interface Says {
  fault: string | null;
  more: boolean;
}

async function says(
  body: unknown,
  path: readonly string[] = ['data'],
  status = 200,
): Promise<Says> {
  const [row] = await server.query<Says>('select * from daywalk.frame_says($1::jsonb, $2, $3)', [
    JSON.stringify(body),
    path,
    status,
  ]);
  if (row === undefined) throw new Error('it said nothing');
  return row;
}

async function signature(
  body: unknown,
  path: readonly string[] = ['data'],
  status = 200,
): Promise<{ signature: string; wordless: boolean }> {
  const [row] = await server.query<{ signature: string; wordless: boolean }>(
    `select * from daywalk.frame_of($1::jsonb, $2, '{total}', '{relation}', $3)`,
    [JSON.stringify(body), path, status],
  );
  if (row === undefined) throw new Error('it has none');
  return row;
}

describe('a failure', () => {
  const R = [{ id: 1 }];
  it.each<[unknown, string[]?]>([
    [{ error: 'no such index', data: R }],
    [{ failed_shards: 1, data: R }],
    [{ failed_splits: 1, data: R }],
    [{ failed_tenants: ['t-7'], data: R }],
    [{ responseState: 'TIMED_OUT', data: R }],
    [{ Error: { code: 1 }, data: R }],
    [{ errors: [{ message: 'x' }], data: R }],
    [{ error: 1, data: { items: R } }, ['data', 'items']],
    [{ data: { items: R, error: 'half of it' } }, ['data', 'items']],
    [{ success: false, data: R }],
    [{ Success: 'false', data: R }],
    [{ OK: 0, data: R }],
    [{ status: 'error', data: R }],
    [{ errmsg: '查询未成功', data: [] }],
    [{ status: 'Search_Failed', data: [] }],
    [{ status: '503 Service Unavailable', data: [] }],
    [{ status: false, message: 'limit', data: [] }],
    [{ message: 'search backend unavailable', code: 503, data: [] }],
    [{ statusCode: '429', data: [] }],
    [{ code: 1042, data: [] }],
    [{ code: 503, data: R }],
    [{ code: 50001, data: R }],
    // Why there are none: beside records such words may be of anything.
    ...[
      ...['Please slow down', 'Rate limit exceeded', 'Too many requests, try again later'],
      ...['Query timed out', 'The search service is busy', 'Daily quota exhausted'],
    ].map((message): [unknown] => [{ message, total: 0, data: [] }]),
    [{ meta: { reason: 'request was throttled' }, data: [] }],
    // Mimecast, Pinot and Kusto, Sumo Logic, ManageEngine.
    [{ meta: { status: 200 }, fail: [{ errors: [{ code: 'err_timeout' }] }], data: R }],
    [{ exceptions: [{ errorCode: 427, message: 'a server did not respond' }], data: R }],
    [{ Exceptions: ['Query result set has exceeded the limits'], data: R }],
    [{ state: 'DONE GATHERING RESULTS', pendingErrors: ['a partition is away'], data: R }],
    [{ response_status: { status: 'failed', status_code: 4000 }, data: R }],
    [{ queryTimedOut: true, data: R }],
    [{ requestTimedOut: true, data: R }],
    [{ meta: { hasTimedOut: true }, data: R }],
    [{ failed: 5, succeeded: 7, data: [] }],
    [{ errors: ['x'], failed: 'two shards', data: R }],
    [{ failed: true, data: R }],
    // No success, though they speak of it.
    [{ errorMessage: 'The operation was not completed successfully', data: R }],
    [{ error: '2 of 3 shards succeeded', data: R }],
    [{ error: 'Partially successful', errmsg: 'unsuccessful', data: R }],
    [{ error: 'ok, but the index is away', data: R }],
    [{ errorCode: '0x80004005', data: R }],
    [{ error: 'Fehler', data: R }],
    [{ state: 'failover failed', data: R }],
    [{ status: 'NOT_OK', data: R }],
    [{ meta: { status_code: 500 }, data: [] }],
    [{ status: { code: 500 }, data: [] }],
    [{ timed_out: true, hits: { hits: R } }, ['hits', 'hits']],
    [{ 'timed-Out': 'true', data: R }],
    [{ _shards: { total: 5, successful: 4, failed: 1 }, hits: { hits: R } }, ['hits', 'hits']],
    [{ _shards: { total: 5, successful: 4, failed: 0 }, hits: { hits: R } }, ['hits', 'hits']],
    [{ hits: { _shards: { failed: '2' }, hits: R } }, ['hits', 'hits']],
    [{ error: 'x' }, []],
    // Elasticsearch and OpenSearch across clusters, where one that is away may be skipped.
    [{ _clusters: { total: 2, successful: 1, skipped: 1 }, hits: { hits: [] } }, ['hits', 'hits']],
  ])('%j is seen', async (body, path) => {
    expect((await says(body, path)).fault).not.toBeNull();
  });

  it.each<[unknown, string[]?]>([
    [{ error: 0, errors: [], success: true, ok: 1, status: 'success', data: R }],
    [{ error: null, errmsg: 'ok', errcode: 0, code: 200, data: R }],
    [{ error: { code: 0, message: '' }, code: 20000, data: R }],
    [{ error: 'No error', data: [] }],
    [{ error: { code: 0, message: 'Success.' }, data: [] }],
    [{ error_code: '0000', data: [] }],
    [{ error: 'N/A', errors: '-', errmsg: '请求成功', errorMessage: 'Successful', data: R }],
    [{ status: 200, statusText: 'OK', state: 'no errors', data: R }],
    [{ _shards: { total: 5, successful: 5, skipped: 1, failed: 0 }, timed_out: false, data: R }],
    [{ data: [{ error: 'a record may tell of one', status: 500 }] }],
    [{ errors: R, total: 1 }, ['errors']],
    // Lists of messages and warnings may be what is asked for.
    [{ messages: [{ type: 'ERROR', text: 'x' }] }, ['messages']],
    [
      { data: { warnings: [{ level: 'fatal', text: 'results are incomplete' }] } },
      ['data', 'warnings'],
    ],
    [{ other: { error: 'not on the way' }, data: R }],
    // Beside records: what is counted, and codes of success.
    [{ errors: 3, warnings: 2, data: R }],
    [{ failed: 5, succeeded: 0, data: R }],
    [{ meta: { errors: 3 }, failures: '2', data: R }],
    [{ code: 10000, msg: 'success', data: R }],
    [{ code: 1000, data: R }],
    // Success in other words, also after the words of its own list of errors.
    [{ status: 'NO_ERROR', state: 'no_failures', result: 'NoError', data: R }],
    [{ code: 'ERROR_SUCCESS', statusText: 'error: none', data: R }],
    [{ errorCode: '0x0', errorMessage: 'The operation completed successfully.', data: R }],
    [{ errcode: '0x00000000', errmsg: 'request:ok', error: 'ERROR_SUCCESS', data: [] }],
    [{ error: 'S_OK', errorMessage: 'Successfully processed', errmsg: 'no-error', data: [] }],
    [{ error: { code: '0', text: 'The request has succeeded' }, data: [] }],
    [{ errorMessage: 'Kein Fehler', errormsg: 'Aucune erreur', err: 'sin errores', data: [] }],
    [{ state: 'failover', status: 'FAIL_SAFE', data: R }],
    [{ status: 'completed without errors', result: 'finished, 0 errors', data: R }],
    // What is cut within a record.
    [{ fields_truncated: true, payloadTruncated: true, has_partial_payloads: true, data: R }],
    ...[
      ...[
        'No events. Try again with another filter.',
        'No failed logins',
        'rate limit: 29 of 30 left',
      ],
      ...['Nothing timed by this sensor', 'no data'],
    ].map((message): [unknown] => [{ message, data: [] }]),
    [{ message: 'log-in throttled, then the service was busy', detail: 'timed out', data: R }],
    [{ meta: { status: 200 }, fail: [], exceptions: [], pendingErrors: [], data: R }],
    [
      {
        exceptions: 3,
        fail: 2,
        queryTimedOut: false,
        response_status: { status: 'success' },
        data: R,
      },
    ],
    [R, []],
    [null],
    ['error'],
  ])('%j is none', async (body, path) => {
    expect(await says(body, path)).toEqual({ fault: null, more: false });
  });

  it('names what tells of it, and its value', async () => {
    expect((await says({ meta: { Error: ['broken'] }, data: [] })).fault).toBe(
      'meta.Error: ["broken"]',
    );
  });

  it('is not the 404 itself where a 404 tells it in words', async () => {
    const words = { error: 'Not Found', status: 404, success: false, message: 'no events' };
    expect((await says(words, ['data'], 404)).fault).toBeNull();
    expect((await says(words)).fault).not.toBeNull();
    expect((await says({ ...words, code: 503 }, ['data'], 404)).fault).not.toBeNull();
  });
});

it.each([
  { truncated: true },
  { partial: 'true' },
  { hasMore: true },
  { has_more: 1 },
  { pageInfo: { hasNextPage: true } },
  { status: 'partial' },
  // Solr, GitHub, Exchange.
  { responseHeader: { status: 0, partialResults: true } },
  { responseHeader: { status: 0, partialResults: 'omitted' } },
  { incomplete_results: true },
  { MoreDataAvailable: true },
  // Splunk, BigQuery, and others.
  { preview: true },
  { jobComplete: false },
  { is_running: true },
  { dispatchState: 'RUNNING' },
  { done: false },
  { jobStatus: 'running' },
  { query_status: 'IN_PROGRESS' },
  { results_truncated: true },
  { searchTruncated: true },
  { limit_reached: true },
  { info: { truncated: true } },
  { stats: { partial: true, failed: 'many' } },
  { completeness: 'partial' },
  { degraded: true },
])('%j claims that there is more', async (key) => {
  expect(await says({ ...key, data: [] })).toEqual({ fault: null, more: true });
});
it('is claimed or not, and null claims nothing, whatever any key says', async () => {
  const name = fc.constantFrom(
    ...['has_more', 'hasMore', 'more', 'partial', 'truncated', 'hasNext', 'incomplete_results'],
    ...['status', 'state', 'result', 'outcome', 'code', 'success', 'ok', 'error', 'errors'],
    ...['timed_out', '_shards', 'meta', 'pageInfo', 'responseHeader', 'messages', 'warnings'],
    ...['type', 'query', 'summary', 'queryInfo', 'x', 'complete', 'cancelled'],
  );
  const value = fc.oneof(
    fc.constant(null),
    fc.jsonValue({ maxDepth: 2 }),
    fc.dictionary(name, fc.oneof(fc.constant(null), fc.jsonValue({ maxDepth: 1 }))),
  );
  await fc.assert(
    fc.asyncProperty(name, value, fc.boolean(), async (key, said, withRecords) => {
      const { more } = await says({ [key]: said, data: withRecords ? [{ id: 1 }] : [] });
      expect(more).toBeTypeOf('boolean');
      const nothing = await says({ [key]: null, data: withRecords ? [{ id: 1 }] : [] });
      expect(nothing).toEqual({ fault: null, more: false });
    }),
    { numRuns: 300 },
  );
});
it('has_more: false, or a link to a next page, does not', async () => {
  const none = { has_more: false, next: 'x', nextPage: 1, more: '', partialResults: false };
  const others = {
    done: 0,
    completed: 7,
    allowPartialResults: true,
    rate_limit_reached: true,
    status: 'running',
    stats: { files_truncated: 1 },
    search: 'running',
    info: 'done',
    partialMatch: true,
    partialResultsAllowed: true,
    is_partial_enabled: true,
    has_more_info: true,
    moreDetails: true,
  };
  expect((await says({ ...none, ...others, data: [] })).more).toBe(false);
});

describe('beside no records', () => {
  /** What an empty answer says in other places than its list: nothing, or that it is no answer. */
  const empty = (frame: object, status = 200) =>
    says({ total: 0, ...frame, data: [] }, ['data'], status);

  it.each<[object]>([
    // Work goes on.
    ...[
      ...['PENDING', 'QUEUED', 'RUNNING', 'WAIT', 'IN_PROGRESS', 'PROCESSING', 'ACCEPTED'],
      ...['STARTED', 'not-ready', 'Searching…', 'Waiting for an executor', 'running (45%)'],
    ].map((status): [object] => [{ status }]),
    [{ state: 'still running', job_id: 'a81-22' }],
    [{ meta: { state: 'pending' } }],
    [{ job: { id: 7, status: 'RUNNING' } }],
    [{ message: 'in progress' }],
    [{ message: 'The search is still running. Poll again.' }],
    [{ message: 'Results are not ready yet' }],
    [{ info: 'query is queued' }],
    // What was asked for is kept where it was not looked for.
    [{ status: 'ARCHIVED' }],
    [{ status: 'rehydrating' }],
    [{ archived: true, location: 's3://cold/2026/03' }],
    [{ meta: { is_frozen: true } }],
    [{ offline: 'true' }],
    ...[
      'Data for this date has been archived. Submit a restore request to view it.',
      'The data you asked for was moved to cold storage',
      'Events older than 30 days are archived.',
      'No events online: the range is already archived',
      'Index is closed. Open it to search.',
      'This range must be restored first',
      'Logs are kept in the archive tier',
      'Not available: rehydration takes 12 hours',
      'These events are no longer available online',
      'A closed index cannot be searched',
    ].map((message): [object] => [{ message }]),
    [{ info: 'frozen tier: not searched' }],
    [{ warnings: ['cold indices were not queried'] }],
    [{ notes: { storage: [{ text: 'the index is not loaded' }] } }],
    [{ code: 'INDEX_CLOSED' }],
  ])('%j is no answer', async (frame) => {
    expect((await empty(frame)).fault).not.toBeNull();
    expect((await empty(frame, 404)).fault).not.toBeNull();
    // Beside records a service may run, and other things be archived; so where answers with records are like this one.
    expect((await beside(frame)).fault).toBeNull();
    const [known] = await server.query<Says>(
      `select * from daywalk.frame_says($1::jsonb, '{data}', 200, true)`,
      [JSON.stringify({ total: 0, ...frame, data: [] })],
    );
    expect(known?.fault).toBeNull();
  });

  it.each<[object]>([
    ...[
      ...['No archived events found', '0 events (archive included)', 'no events are archived'],
      ...['No events found in the archive', 'No events are stored in the archive'],
      ...['Archive searched: 0 hits', 'No data', 'Not found', 'Search completed: no results'],
      ...['No closed incidents', '3 closed incidents were merged', 'Processing complete'],
      ...['no frozen data for this day', 'Running totals: none', 'The waiting list is empty'],
      ...['no query is running', 'Data was restored from a backup', 'All tiers were searched'],
      ...[
        'no such index [logs-2026.03.01]',
        'Data of this day has been purged',
        'hosts: 3 offline',
      ],
    ].map((message): [object] => [{ message }]),
    ...['ok', 'COMPLETED', 'done', 'no_results', 'empty', 'NO_DATA', 'active', 'processed'].map(
      (status): [object] => [{ status }],
    ),
    [{ archived: 0, frozen: 3, offline: false }],
    [{ archived: [], pending: 4, running: 'no' }],
    [{ facets: { status: ['archived', 'offline'], state: { pending: 4 } } }],
    [{ query: { status: 'archived', from: '2026-03-01' } }],
    [{ info: { status: 'running', uptime: 7 } }],
    [{ job: { name: 'export', status: 'completed' } }],
  ])('%j is an answer', async (frame) => {
    expect(await empty(frame)).toEqual({ fault: null, more: false });
  });

  it('is an answer where an index for each day has none', async () => {
    const words = { error: 'index_not_found', reason: 'no such index [logs-2026.03.01]' };
    expect((await empty(words, 404)).fault).toBeNull();
  });

  it('says nothing where nobody knows yet which list is the one', async () => {
    const lists = { status: 'running', a: [{ id: 1 }], b: [{ id: 2 }] };
    expect((await says(lists, [])).fault).toBeNull();
  });
});

/** What stands beside the list, where its answer has records. */
const beside = (frame: object) => says({ ...frame, data: [{ id: 1 }] });
const message = (type: string, text: string) => ({ messages: [{ type, text }] });

describe('beside records', () => {
  it.each<[object]>([
    // Splunk, and others who send messages along.
    [message('ERROR', 'Search results might be incomplete: a peer ended prematurely')],
    [message('FATAL', 'x')],
    [{ messages: [{ type: 'INFO', text: 'fine' }, 'well', { Level: 'error', msg: 'x' }] }],
    [{ warnings: { severity: 'Fatal', detail: 'x' } }],
    [{ meta: { messages: [{ level: 'error' }] } }],
    // What was given up is no answer, in words and as a flag.
    [{ job_status: 'Cancelled' }],
    [{ queryState: 'CANCELED' }],
    [{ searchStatus: 'throttled' }],
    [{ jobStatus: 'FAILED' }],
    [{ isTimedOut: true }],
    [{ timeout: true }],
    [{ reachedTimeout: 'true' }],
    [{ aborted: true }],
    [{ is_cancelled: true }],
    [{ canceled: true }],
    [{ interrupted: true }],
    [{ throttled: true }],
    [{ rateLimited: true }],
    [{ missingNodes: 1 }],
    [{ missing_shards: ['a'] }],
    // Parts of the source that were asked and did not answer.
    [{ managers: { queried: 2, answered: 1, unreachable: ['mgr-02'] } }],
    [{ managers: { queried: 2, answered: 1 } }],
    [{ sources: { asked: ['a', 'b'], responded: ['a'] } }],
    [{ servers: { queried: 40, unreachable: 3 } }],
    [{ _nodes: { total: 3, successful: 2 } }],
    [{ _nodes: { total: 3, successful: 3, failed: 1 } }],
    [{ 'data-sources': { total: 3, successful: 2, skipped: 0 } }],
    [{ meta: { regions: { total: 3, succeeded: 2 } } }],
    [{ shards: { unreachable: 1 } }],
    [{ indices: { missing: ['logs-7'] } }],
    [{ partitions: { unavailable: 2, total: 64 } }],
    [{ unreachable_managers: ['mgr-02'] }],
    [{ failedSources: 1 }],
    [{ missingIndices: ['logs-7'] }],
    [{ unavailable_peers: 2 }],
    [{ searchPeersUnavailable: 'idx-3' }],
    [{ regions_failed: { eu: 'timeout' } }],
    [{ missing_partitions: [0] }],
    [{ dataSourceErrors: 1 }],
    [{ shardFailures: 2 }],
    [{ node_failures: [{ reason: 'x' }] }],
    [{ unreachable: ['projects/p/locations/eu'] }],
    // Objects that tell of the answer.
    [{ search_metadata: { timed_out: true } }],
    [{ searchMetadata: { status: 'Error' } }],
    [{ response: { timedOut: true } }],
    [{ query: { status: 'timeout' } }],
    // CloudWatch, Graylog, and what identifies a search beside its state.
    [{ status: 'Cancelled' }],
    [{ execution: { done: true, cancelled: true } }],
    [{ execution: { completed_exceptionally: true } }],
    [{ search_id: 's-1', state: 'CANCELED' }],
    [{ serverTimedOut: true }],
    [{ hasTimeout: true }],
    [{ nodesNotResponding: ['n-2'] }],
    [{ shards_not_searched: 2 }],
    [{ nodes: { asked: 3, not_responding: 1 } }],
    // Jira, QRadar.
    [{ errorMessages: ['shard 3 failed'] }],
    [{ error_messages: [{ code: 'E1', message: 'a host did not answer' }] }],
    [{ errorInfo: { code: 'E1' } }],
    [{ error_details: 'a shard failed' }],
    [{ failureReason: 'a shard failed' }],
    [{ successful: false }],
    [{ queryStatus: 'KILLED' }],
    [{ search_state: 'interrupted' }],
    [{ failedBackends: ['b-1'] }],
    [{ offline_indexers: ['idx-3'] }],
    [{ nodesDisconnected: { n2: 'since 10:00' } }],
    // Pinot, and what a client of Elasticsearch reads into one object.
    [{ numServersQueried: 3, numServersResponded: 2 }],
    [{ totalShards: 5, successfulShards: 4, failedShards: 0 }],
    [{ totalPartitions: 10, successfulPartitions: 6, prunedPartitions: 3 }],
    [{ totalShards: 5, successfulShards: 4, skippedShards: 1 }],
    [{ backends: { total: 3, successful: 2 } }],
  ])('%j is a failure', async (frame) => {
    expect((await beside(frame)).fault).not.toBeNull();
  });

  it.each<[object]>([
    [message('WARN', 'The search was auto-finalized after its time limit')],
    [{ message: 'Only the first 1,000 results are shown' }],
    [{ msg: 'Partial results: 2 shards did not answer' }],
    [message('WARN', 'Search results might be incomplete for 2 of 5 peers')],
    [{ warnings: ['2 of 5 nodes did not answer'] }],
    [{ warning: 'results are incomplete' }],
    [{ warnings: 'Partial results were returned; try a smaller range.' }],
    [{ meta: { warnings: [{ code: 'W1', message: "Shard 3 didn't respond" }] } }],
    [{ warnings: ['Not all shards were searched'] }],
    [{ warnings: ['The response was truncated at 1048576 bytes'] }],
    [{ warnings: ['The query timed out'] }],
    // A service has other states, an answer these.
    [{ state: 'GATHERING RESULTS' }],
    [{ status: 'EXECUTE' }],
    [{ status: 'executing' }],
    [{ jobStatus: 'Scheduled' }],
    [{ queryState: 'PROCESSING' }],
    [{ search_status: 'NOT STARTED' }],
    [{ dispatchState: 'FINALIZING' }],
    [{ queryStatus: 'degraded' }],
    [{ search_metadata: { status: 'Processing' } }],
    [{ searchedCompletely: false }],
    [{ tooManyEvents: true }],
    [{ maxResultsReached: true }],
    [{ hitLimit: true }],
    [{ isFinal: false }],
    [{ code: 206 }],
    [{ http_code: '206' }],
    [{ meta: { code: 206 } }],
    [{ resultStatus: 'Partial' }],
    [{ response_status: 'INCOMPLETE' }],
    [{ resultsState: 'truncated' }],
    [{ capped: true }],
    [{ resultsCapped: 'true' }],
    [{ partial_failures: ['x'] }],
    [{ partialFailures: 2 }],
    // FortiAnalyzer: how far a search is; LogScale.
    [{ tid: 7, percentage: 45 }],
    [{ percentComplete: 45 }],
    [{ percent_complete: '99.5%' }],
    [{ meta: { completionPercentage: 0.5 } }],
    [{ metaData: { extraData: { hasMoreEvents: 'true' } } }],
    // Objects that tell of the answer, and those that hold what can mean nothing else.
    [{ result_info: { page: 1, truncated: true } }],
    [{ queryInfo: { truncated: true } }],
    [{ resultsetMetadata: { isComplete: false } }],
    [{ summary: { incomplete: true } }],
    [{ statistics: { partial: true } }],
    [{ response: { status: 'partial' } }],
    [{ execution: { status: 'PARTIAL' } }],
    [{ job_info: { status: 'incomplete' } }],
    [{ query: { id: 'q-1', status: 'partial', took: 3 } }],
    [{ warnings: [{ type: 'shard_failure', reason: 'Partial search results.' }] }],
    [{ response: { complete: false } }],
    [{ status: '206 Partial Content' }],
    [{ job: { complete: false } }],
    [{ retrieval: { partialResults: true } }],
    [{ warnings: ['3 search nodes did not respond'] }],
    [{ warnings: ['Shard 4 of logs-7 timed out'] }],
    [{ diagnostics: { results_truncated: true } }],
    [{ resultsComplete: false }],
    [{ data_complete: 'false' }],
    [{ allResultsReturned: false }],
    [{ clipped: true }],
    [{ overflow: true }],
    [{ statusCode: 'PartialSuccess' }],
    // LogRhythm.
    [{ TaskStatus: 'Completed: Max Results' }],
    [{ progressStatus: 'Running' }],
    [{ warnings: ['Results limited to first 500 rows'] }],
    [{ warning: 'Only the first 10000 results are shown' }],
    [{ warnings: ['some data were dropped'] }],
    // Jira, Spring Data, Vespa.
    [{ isLast: false }],
    [{ page: { last: false } }],
    [{ lastPage: 'false' }],
    [{ coverage: { coverage: 60, documents: 5, full: false, degraded: { timeout: true } } }],
    [{ searchProgress: 45 }],
    [{ job_progress: '0.45' }],
    // Trend Vision One, SentinelOne; Carbon Black, whose processes come from several servers.
    [{ progressRate: 30 }],
    [{ progressStatus: 45, responseState: 'RUNNING' }],
    [{ num_found: 9, contacted: 47, completed: 45 }],
    // Typesense, Solr, Algolia, Chronicle, Analytics.
    [{ search_cutoff: true }],
    [{ responseHeader: { segmentTerminatedEarly: true } }],
    [{ timeoutHits: true }],
    [{ tooLargeResponse: true }],
    [{ containsSampledData: true }],
    // Google Workspace, Datadog, Splunk, Sumo Logic.
    [{ warnings: [{ code: 'PARTIAL_DATA_AVAILABLE', message: 'Data for 2026-11-13 is late' }] }],
    [{ meta: { warnings: [{ title: 'One or several indexes are missing or invalid' }] } }],
    [message('WARN', 'Unable to distribute to peer idx1 because peer has status = Down')],
    [{ pendingWarnings: ['Results limited to first 500 rows'] }],
    [message('WARN', 'Unable to distribute to peer idx1')],
    [message('WARN', 'The searching job was cancelled')],
    [{ warnings: ['Result set too large; truncated'] }],
    // Graylog, Solr, and a search whose state is told beside its id.
    [{ execution: { done: false } }],
    [{ jobId: 7, status: 'Running' }],
    [{ maxHitsTerminatedEarly: true }],
    [{ complete: 'no' }],
    [{ summary: { complete: 'no' } }],
    [{ warningMessages: ['Results were truncated'] }],
    [{ warning_message: 'Only the first 1,000 results are shown' }],
    [{ warnings: [{ code: 'PARTIAL_RESULTS', detail: 'x' }] }],
    [{ warnings: ['2 of 5 shards failed', 'one more'] }],
    [{ message: '10 of 1,200 shards failed' }],
    [{ warnings: [{ detail: 'some', type: '1,200 partitions failed' }] }],
    [{ warnings: ['Not all shards responded'] }],
    [{ resultsLimited: true }],
    // Dynatrace, Splunk: beside how far it is, a state is that of the query.
    [{ state: 'RUNNING', progress: 0 }],
    [{ doneProgress: 0.45 }],
    [{ in_progress: true }],
    [{ job: { state: 'RUNNING' } }],
    // Scalyr.
    [{ omittedEvents: 7 }],
    [{ missingData: true }],
    [{ results_omitted: 'true' }],
    // Why it is not whole, in place of a flag.
    [{ partialReason: 'a shard is away' }],
    [{ results_truncated_reason: 'LIMIT' }],
    [{ truncationReason: { bytes: 1_048_576 } }],
    [{ truncated: 'BYTES' }],
    [{ truncated: 'Y' }],
    [{ partial: ['shard-3'] }],
    [{ partial_reason: 'NOT_ALL_SHARDS' }],
    [{ isDataComplete: false }],
    // Huawei Cloud and Alibaba Cloud, of logs.
    [{ isQueryComplete: false }],
    [{ meta: { progress: 'Incomplete' } }],
    [{ timeout_reached: true }],
    [{ deadlineExceeded: true }],
    [{ queryStats: { partial: true } }],
    [{ notice: 'Results are truncated' }],
    [{ notices: ['Some results may be missing'] }],
    [{ note: 'Results are limited to the last 1000 events' }],
    [{ notes: ['Results limited to 10,000 records'] }],
  ])('%j claims that there is more', async (frame) => {
    expect(await beside(frame)).toEqual({ fault: null, more: true });
  });

  it.each<[object]>([
    // Messages that say nothing against the list.
    [message('INFO', 'Your time range was substituted; results are incomplete elsewhere')],
    [message('WARN', 'The field "sourcetype" is deprecated')],
    [{ messages: [{ code: '0', message: 'OK' }] }],
    [{ messages: ['partial results are never shown'] }],
    [{ messages: [{ type: 'errors_of_last_week', text: '3' }] }],
    [{ message: 'All selected events were returned' }],
    [{ message: 'Results are limited to 1000 per request' }],
    [{ message: ['the rows are limited to these'] }],
    [{ warnings: [] }],
    [{ warnings: 2, warning: null }],
    [
      {
        warnings: [
          'Long values are truncated to 1,000 characters',
          'Field x of 3 events was truncated',
        ],
      },
    ],
    [{ warnings: ['allow_partial_search_results is deprecated'] }],
    [
      {
        warnings: [
          'partial results are deprecated',
          'not all fields are indexed',
          'x is not allowed',
        ],
      },
    ],
    [{ warnings: ['Results are not truncated', 'There are no partial results'] }],
    [{ warnings: ['2 events have incomplete tags', 'parameter timeout is ignored'] }],
    [{ warnings: [{ type: 'info', message: 'results are incomplete' }] }],
    // Of what stands beside it.
    [{ warnings: ['Not all records have a location', 'threat intel query timed out'] }],
    [{ warnings: ['3 requests to the GeoIP backend timed out'] }],
    [
      {
        timeline: { truncated: true },
        histogram: { partial: true },
        related: { incomplete: true },
      },
    ],
    [{ query: { status: 'timeout', start: 0, page: 1 } }],
    [{ state: 'cancelled', order: 5 }],
    [{ job_status: 'not throttled' }],
    [{ warnings: ['GeoIP data is incomplete', 'The license server did not respond'] }],
    [
      {
        messages: [
          { severity: 'no error', text: 'x' },
          { type: 'warn', error: 'x' },
        ],
      },
    ],
    // What is counted, set or skipped for good reason.
    [{ timeout: 30, aborted: 0, cancelled: 3, throttled: 1, interrupted: '2', missingNodes: 0 }],
    [{ timeout: 1, tooManyEvents: false, maxResultsReached: 1, isFinal: true, rateLimited: false }],
    [{ result: 206, total: 206, count: 206, code: 2060 }],
    [{ skipped_shards: 3, skipped: 2 }],
    [{ endReached: true, max_score: 206, searchedCompletely: true }],
    [{ progress: 60, sampled: true, omitted: 12 }],
    // Parts that all answered, were not asked, or are no parts of the source; and what is counted of them.
    [{ managers: { queried: 2, answered: 2, unreachable: [] }, unreachable: [] }],
    [{ shards: { total: 20, queried: 5, successful: 5, unreachable: 0, failed: 0 } }],
    [{ partitions: { total: 20, successful: 5, pruned: 15 }, indices: ['logs-7'] }],
    [{ logins: { total: 10, successful: 7, failed: 3 }, agents: { total: 9, unreachable: 2 } }],
    [{ resources: { total: 10, successful: 7 }, calls: { asked: 5, answered: 3 } }],
    [{ servers: { total: 40, unreachable: 3 }, nodes: { total: 3, ready: 2, unavailable: 1 } }],
    [{ stats: { nodes: { total: 3, successful: 2 }, failed_servers: 3 }, unreachable: 3 }],
    [{ clusters: { 'eu-1': 4, missing: 2 }, peers: 3, regions: null, indexers: 'idx-1' }],
    [{ failed_splits: [], split_errors: null, splits: { total: 8, successful: 8, failed: 0 } }],
    [{ failed_shards: 0, missingIndices: [], unreachable_peers: null, nodes_failed: 'none' }],
    [{ failed_logins: 3, missing_patches: ['KB1'], unreachable_hosts: ['a'] }],
    [{ server_errors: 12, source_errors: 4, node_failures: 3, dataSourceErrors: 0 }],
    [{ partial_failures: [], partialFailures: 0, capped: false, capped_at: 500 }],
    [{ score_capped: true, resultStatus: 'OK', responseStatus: 'complete' }],
    [{ resultsComplete: true, data: 'x', allResultsReturned: true, overflow: 'hidden' }],
    [{ TaskStatus: 'Completed', responseState: 'OK', progressStatus: 100, task: 'partial' }],
    [{ warnings: ['The page is limited to the fields of a role', 'some fields were dropped'] }],
    [{ tenants: 3, all: false, results: 'partial', data_status: 'partial' }],
    // How far a search is that is done, and shares of something.
    [{ tid: 7, percentage: 100 }],
    [{ percentage: 45, histogram: { percentage: 3, percentComplete: 3 } }],
    [{ percentComplete: 100, completion_percent: '100%', percent_done: 1 }],
    [{ percent_complete: null, percentCompleteText: 'half', percent: 45 }],
    [{ progress: 45, searchProgress: 100, query_progress: 1, job_progress_note: '45' }],
    [{ last: true, isLast: true, last_page: 7, lastPage: '/events?page=7', lastUpdated: false }],
    [{ coverage: { coverage: 100, full: true }, full: false }],
    [{ coverage: 45 }],
    [{ metaData: { extraData: { hasMoreEvents: 'false', has_more: true } } }],
    // The state of a service.
    [{ status: 'Running' }],
    [{ status: 'processing', state: 'pending' }],
    [{ status: 'degraded' }],
    [{ status: 'Scheduled', state: 'executed' }],
    [{ jobStatus: 'COMPLETED', queryState: 'DONE GATHERING RESULTS' }],
    [{ status: 'complete', search_metadata: { status: 'Success' } }],
    // Of a thing that runs itself, or is tried out.
    [{ service: 'collector', uptime: 3600, running: true, preview: true }],
    [{ info: { name: 'api', version: '2.0', preview: true, is_running: true, degraded: true } }],
    // What was asked for, and options.
    [{ request: { partial: true, truncated: true, status: 'partial' } }],
    [{ params: { status: 'incomplete', partial: true } }],
    [{ query: { status: 'partial', from: '2026-03-01', to: '2026-03-02' } }],
    [{ query: { status: 'error' }, search: { status: 'running' } }],
    [{ queryParameters: { truncated: true }, search_options: { partial: true } }],
    [{ options: { partial: true }, settings: { truncated: true }, features: { partial: true } }],
    [{ filters: { partial: true }, facets: { truncated: true } }],
    // Things that are so themselves, and what is counted of them.
    [{ incident: { id: 7, partial: true, status: 'incomplete' } }],
    [{ device: { serial: 'x', status: 'partial', complete: false, timed_out: true } }],
    [{ job: { name: 'nightly backup', status: 'partial' } }],
    [{ execution: { id: 'e-1', status: 'TIMED_OUT' }, jobInfo: { id: 3, status: 'failed' } }],
    [{ maxLoginAttemptsReached: true, limits: { max: 3 } }],
    [{ user: { name: 'x', truncated: true } }],
    [{ onboarding: { complete: false }, session: { timed_out: true } }],
    [{ summary: { partial: 1, complete: 5, failed: 3, errors: 2, status: 'error' } }],
    [{ statistics: { truncated: 1, timed_out: 1, cancelled: 2, failed: true } }],
    [{ counts: { partial: 1, incomplete: 3 }, states: { partial: 'x', complete: 0 } }],
    [{ aggregations: { truncated: { doc_count: 5 }, partial: { value: true } } }],
    [{ response: { status: 200, truncated: false }, result_info: { page: 1, errors: 0 } }],
    [{ response: { complete: true }, execution: { status: 'SUCCEEDED' } }],
    [{ progressRate: 100, progressStatus: 100, contacted: 47, completed: 47, remoteErrors: {} }],
    [{ contacted: 47, completed: null, search_cutoff: false, timeoutHits: 3, cutoff: true }],
    [{ error_messages: [], pendingWarnings: ['a field was renamed'], completed: 3 }],
    [{ warnings: ['One field is missing', 'One of the indexed fields is missing or invalid'] }],
    [message('WARN', 'The license peer has status = Down')],
    // A page that is one of several, and what is told of others.
    [{ message: 'Showing 34 of 1234' }],
    [{ message: 'Showing first 34 of 34' }],
    // Of each page, whatever its start is.
    [{ message: 'Showing first 34 of 1234' }],
    [{ warnings: ['The first 500 of 1234 hosts were scanned'] }],
    [{ warnings: ['Event text too long; truncated', 'Result set too large to be cached'] }],
    [{ warnings: ['A previous search was cancelled'] }],
    [message('INFO', 'The search job was cancelled')],
    [{ execution: { done: true, cancelled: false, completed_exceptionally: false } }],
    [{ execution: { done: 1, cancelled: 2 }, job: { id: 3, done: false, cancelled: true } }],
    [{ queryId: 'q-1', status: 'Complete', search_id: null, state: 'done' }],
    [{ complete: 'yes', maxHitsTerminatedEarly: false, sessionTimedOut: true }],
    [{ hasTimeout: false, nodesNotResponding: [], nodesNotMonitored: 3 }],
    [
      {
        errorMessages: [],
        error_info: { code: 0, message: 'OK' },
        errorDetails: '',
        failureReason: null,
      },
    ],
    [{ error_messages: [{ severity: 'INFO', message: 'x' }], successful: 7, results_limited: 3 }],
    [{ warningMessages: ['The value was truncated'], warning_message: '', status: 'killed' }],
    [{ warnings: [{ code: 'FIELDS_TRUNCATED' }, { code: 'partial_results', type: 'info' }] }],
    [{ rateLimited: false, resultsLimited: 'no', rateLimits: { limited: true } }],
    [{ warnings: [{ code: 'UNKNOWN_PARAMETER', name: 'allow_partial_results' }] }],
    [{ warnings: [{ code: 'IGNORED', parameter: 'partial_results' }] }],
    [{ message: 'took 3 ms, 0 of 5 shards failed', warnings: ['0 shards failed'] }],
    [{ warnings: ['0 of 12 partitions failed, 0 of 1,200 shards failed'] }],
    [{ errorMessages: null, error_messages: {}, errorList: { error: [] }, errs: '' }],
    [{ errorMessages: 0, error_messages: [null, ''], failureReason: 'NONE', errorInfo: {} }],
    [{ errorMessages: { error: [] }, failure_reason: 'n/a', errorDetails: [{}] }],
    [{ successful: 0 }],
    [{ warnings: [{ code: 'PARTIAL_RESULTS_DISABLED' }] }],
    // What is whole, in the same words, and what counts something else.
    [{ state: 'SUCCEEDED', progress: 100 }],
    [{ doneProgress: 1, in_progress: false }],
    [{ job: { state: 'DONE' } }],
    [{ omittedEvents: 0, missingData: false, droppedEvents: 4, missing: 3 }],
    [{ partialReason: null, truncationReason: 'NONE', truncated: 'no', partial: '' }],
    [{ truncated: 'N', partial: 'complete', incomplete: 'f' }],
    [{ truncationReason: 'NOT_TRUNCATED', partial_reason: 'PARTIAL_REASON_UNSPECIFIED' }],
    [{ truncated_fields_reason: 'LENGTH', partialMatch: 'prefix' }],
    [{ failedBackends: [], offline_indexers: [], offlineServers: 3 }],
    [{ numServersQueried: 3, numServersResponded: 3, totalNodes: 5 }],
    [{ totalShards: 5, successfulShards: 5, skippedShards: 1, failedShards: 0 }],
    [{ totalServers: 40, respondedNodes: 3 }],
    [{ totalPartitions: 10, successfulPartitions: 7, partitions_pruned: 3 }],
    [{ backends: ['b-1', 'b-2'], meta: { backends: 3 } }],
    [{ backends: { total: 3, successful: 3 } }],
    [{ notice: 'All data is shown', notes: ['No results are missing'] }],
    // What holds of every answer, and what a person wrote.
    [{ note: 'Results are limited to the last 90 days.' }],
    [{ notices: ['Events are restricted to your organization'] }],
    [{ notes: [{ type: 'error', author: 'kim', text: 'The query timed out, asked again' }] }],
    [{ timeoutReached: false, isDataComplete: true, isQueryComplete: true, progress: 'Complete' }],
    // What is watched, and is done by others.
    [{ offline_servers: ['fw-1'], disconnectedSources: ['vpn'], slaDeadlineExceeded: true }],
    [{ notices: [{ severity: 'error', text: 'The licence expires in 3 days' }] }],
    [{ status: 'running', progress: 100 }],
    // How much is, and what is cut within records.
    [{ truncated: { value: false, limit: 10_000 }, partial: { shards: 0, total: 5 } }],
    [{ truncated: ['payload'], incomplete: [{ task: 7 }] }],
  ])('%j is none of it', async (frame) => {
    expect(await beside(frame)).toEqual({ fault: null, more: false });
  });

  it('tells which message it was', async () => {
    const messages = [{ type: 'info' }, { type: 'ERROR', text: 'peer down' }];
    expect((await beside({ messages })).fault).toBe(
      'messages: {"text": "peer down", "type": "ERROR"}',
    );
    expect((await beside({ response: { timed_out: true } })).fault).toBe(
      'response.timed_out: true',
    );
  });

  it('is not the 404 itself, where a message of a 404 says so', async () => {
    expect((await says(message('error', 'no such day'), ['data'], 404)).fault).toBeNull();
  });
});

/** Keys that say nothing, and scalars. */
const quietKey = fc.constantFrom(
  'took',
  'draw',
  'next',
  'max_score',
  'links',
  'x y',
  'ö',
  'info',
  'note',
);
const scalar = fc.oneof(fc.boolean(), fc.integer(), fc.string({ maxLength: 8 }), fc.constant(null));
const quiet = fc.dictionary(
  quietKey,
  fc.oneof(
    scalar,
    fc.array(scalar, { maxLength: 3 }),
    fc.dictionary(quietKey, scalar, { maxKeys: 3 }),
  ),
  { maxKeys: 4, noNullPrototype: true },
);
const way = fc.uniqueArray(fc.constantFrom('data', 'result', 'hits', 'rows'), {
  minLength: 1,
  maxLength: 3,
});
/** Failures as they are spelled. */
const marker = fc
  .tuple(
    fc.constantFrom<[string, readonly unknown[]]>(
      ['error', ['x', 1, true, { a: 'b' }, ['c']]],
      ['errors', ['x', 1, [{ message: 'y' }]]],
      ['success', [false, 'false', 0]],
      ['ok', [false, 'no', 0]],
      ['status', ['error', 'FAILED', 500, '404', false, 'timed out']],
      ['code', [400, 503, '502']],
      ['statusCode', [400, 503, '502']],
      ['timed_out', [true, 'true']],
      ['exception', ['NullPointerException']],
    ),
    fc.nat(),
    fc.array(fc.boolean(), { minLength: 10, maxLength: 10 }),
    fc.boolean(),
  )
  .map(([[name, values], pick, upper, underscored]) => {
    const cased = [...name].map((c, i) => (upper[i] ? c.toUpperCase() : c)).join('');
    return [underscored ? `_${cased}` : cased, values[pick % values.length]] as const;
  });

/** A body with its list at the end of a way, and with what stands beside it on each step. */
function bodyOf(
  path: readonly string[],
  list: unknown,
  beside: readonly Readonly<Record<string, unknown>>[],
): unknown {
  return path.reduceRight<unknown>(
    (inner, key, depth) => ({ ...beside[depth], [key]: inner }),
    list,
  );
}

it('a failure anywhere in a frame is seen, and without one nothing is', async () => {
  await fc.assert(
    fc.asyncProperty(
      way,
      fc.array(quiet, { minLength: 3, maxLength: 3 }),
      marker,
      fc.nat(),
      fc.constantFrom('here', '_shards', 'meta', 'responseHeader'),
      fc.boolean(),
      async (path, beside, [name, value], depth, where, withRecords) => {
        const list = withRecords ? [{ id: 1, error: 'x' }] : [];
        expect((await says(bodyOf(path, list, beside), path)).fault).toBeNull();
        const at = depth % path.length;
        // Beside records a number of errors counts something, but in `_shards`.
        const counts = name.toLowerCase().endsWith('errors') && value === 1;
        fc.pre(!(counts && withRecords && where !== '_shards'));
        const key = where === 'here' ? { [name]: value } : { [where]: { [name]: value } };
        fc.pre(!(path as readonly string[]).includes(name));
        const marked = beside.map((keys, step) => (step === at ? { ...keys, ...key } : keys));
        expect((await says(bodyOf(path, list, marked), path)).fault).not.toBeNull();
      },
    ),
    { numRuns: 300 },
  );
});

it('of an answer with records nothing else in the frame matters', async () => {
  const read = async (body: unknown, path: readonly string[]) => {
    const [row] = await server.query(
      `select came, fault, more, signature, hashes from daywalk.read_page(0, $1::jsonb, 200, $2, null, null, '{}', null)`,
      [JSON.stringify(body), path],
    );
    return row;
  };
  await fc.assert(
    fc.asyncProperty(way, fc.array(quiet, { minLength: 3, maxLength: 3 }), async (path, beside) => {
      const list = [{ id: 1 }, { id: 2 }];
      const plain = await read(bodyOf(path, list, []), path);
      expect(plain).toMatchObject({ came: 2, fault: null, more: false, signature: null });
      expect(await read(bodyOf(path, list, beside), path)).toEqual(plain);
    }),
    { numRuns: 150 },
  );
});

describe('the frame of an answer without records', () => {
  const known = {
    total: 0,
    relation: 'eq',
    message: 'fine',
    took: 3,
    at: '2026-03-05T10:00:00Z',
    data: [],
  };

  it.each<[string, object]>([
    ['records and a total', { ...known, total: 5, data: [{ id: 1 }] }],
    ['another number', { ...known, took: 77 }],
    ['another relation', { ...known, relation: 'gte' }],
    ['a total as text', { ...known, total: '0' }],
    ['another time', { ...known, at: '2031-12-30T23:59:59.123+02:00' }],
    ['another letter case', { ...known, message: 'Fine' }],
  ])('is the same with %s', async (_, body) => {
    expect(await signature(body)).toEqual(await signature(known));
  });

  it.each<[string, unknown]>([
    ['another text', { ...known, message: 'backend unavailable' }],
    ['a text more', { ...known, warning: 'x' }],
    ['a key less', { total: 0, relation: 'eq', message: 'fine', took: 3, data: [] }],
    ['no total', { ...known, total: undefined }],
    ['null for a total', { ...known, total: null }],
    ['null for a list', { ...known, data: null }],
    ['no list', { ...known, data: undefined }],
    ['another type', { ...known, took: 'a while' }],
    ['a list elsewhere', { ...known, data: undefined, items: [] }],
    ['a flag that turned', { ...known, took: true }],
    ['nothing at all', null],
  ])('differs with %s', async (_, body) => {
    expect((await signature(body)).signature).not.toBe((await signature(known)).signature);
  });

  it('differs by its status, by a code, and by how many errors it tells of', async () => {
    const one = await signature({ code: 0, data: [] });
    expect(await signature({ failed: 3, data: [] })).not.toEqual(
      await signature({ failed: 0, data: [] }),
    );
    expect(await signature({ code: 1500, data: [] })).not.toEqual(one);
    expect(await signature({ code: 0, data: [] }, ['data'], 404)).not.toEqual(one);
  });

  it('differs by no number whose name merely holds the word of a code', async () => {
    const timed = (n: number) => ({
      decode_ms: n,
      status_at: n,
      encoder_time: n,
      timing: { decode: n },
    });
    expect(await signature({ ...timed(3), data: [] })).toEqual(
      await signature({ ...timed(77), data: [] }),
    );
    for (const key of ['status', 'http_status', 'errorCode', 'retcode', 'Errno', '_errors'])
      expect(await signature({ [key]: 3, data: [] }), key).not.toEqual(
        await signature({ [key]: 77, data: [] }),
      );
  });

  it('is the same on every day and for every request', async () => {
    const at = (date: string, id: string) => ({ date, request: id, data: [] });
    expect(await signature(at('Mon, 02 Mar 2026 10:00:00 GMT', 'a8f3-00e1'))).toEqual(
      await signature(at('Thursday, 3 September 2026 01:00:00 GMT', 'f00f9')),
    );
  });

  it('tells whether it holds a word', async () => {
    expect((await signature({ total: '0', relation: 'eq', data: [], n: null })).wordless).toBe(
      true,
    );
    expect((await signature({ total: 0, data: [], links: ['x'] })).wordless).toBe(false);
  });

  it('is that of the whole body where lists stand at its top, and of any body', async () => {
    expect((await signature([], [])).signature).toBe((await signature([{ id: 1 }], [])).signature);
    for (const body of [{}, 'x', 3, [[1]], { data: { rows: 1 } }, { data: [{ rows: [] }] }])
      expect((await signature(body, ['data', 'rows'])).signature).toMatch(/^[0-9a-f]{64}$/);
  });
});

it('records are compared without what is ignored in them', async () => {
  const hashes = async (list: unknown, ignored: readonly string[]) => {
    const [row] = await server.query<{ hashes: string[] }>(
      'select daywalk.hashes_of($1::jsonb, $2)::text[] as hashes',
      [JSON.stringify(list), ignored],
    );
    return row?.hashes;
  };
  const one = [{ id: 1, row: 7, a: { 'b/c': 1, d: [{ age: 3 }] } }, { id: 2 }];
  const other = [
    { id: 1, row: 8, a: { 'b/c': 2, d: [{ age: 4 }] } },
    { id: 2, row: 9 },
  ];
  const ignored = ['/row', '/a/b~1c', '/a/d/0/age'];
  expect(await hashes(one, ignored)).toEqual(await hashes(other, ignored));
  expect(await hashes(one, ignored.slice(1))).not.toEqual(await hashes(other, ignored.slice(1)));
  expect(await hashes([{ row: [1] }], ['/row/x'])).toEqual(await hashes([{ row: [1] }], []));

  // Each element that is left out of a list keeps its place.
  const list = (...a: readonly unknown[]) => [{ a }];
  const twice = ['/a/0', '/a/1'];
  expect(await hashes(list(1, 2, 'x'), twice)).toEqual(await hashes(list(3, 4, 'x'), twice));
  expect(await hashes(list(1, 2, 'x'), twice)).not.toEqual(await hashes(list(1, 2, 'y'), twice));
  const within = ['/a/0', '/a/1/age'];
  const aged = (age: number, last: number) => list(age, { age }, { age: last });
  expect(await hashes(aged(1, 9), within)).toEqual(await hashes(aged(3, 9), within));
  expect(await hashes(aged(1, 9), within)).not.toEqual(await hashes(aged(1, 8), within));
});

describe('records in one form', () => {
  const alike = async (one: string, other: string, ignored: readonly string[]) => {
    const [row] = await server.query<{ alike: boolean }>(
      'select daywalk.hashes_of($1::jsonb, $3) = daywalk.hashes_of($2::jsonb, $3) as alike',
      [`[${one}]`, `[${other}]`, ignored],
    );
    return row?.alike;
  };

  it.each([
    ['lists in another order', '{"a":["x","y",[1,2]]}', '{"a":[[2,1],"y","x"]}', true],
    [
      'a list in a list in an object',
      '{"a":{"b":[{"c":[3,4]}]}}',
      '{"a":{"b":[{"c":[4,3]}]}}',
      true,
    ],
    ['zeros behind a number', '{"a":5.0,"b":[1.50]}', '{"a":5,"b":[1.5]}', true],
    ['null and absent', '{"a":{"b":null,"c":1},"d":null}', '{"a":{"c":1}}', true],
    ['null and absent in a list', '{"a":[null,{"b":null}]}', '{"a":[{},null]}', true],
    ['one null less in a list', '{"a":[null,1]}', '{"a":[1]}', false],
    ['empty lists and objects', '{"a":[],"b":{}}', '{"a":[],"b":{}}', true],
    ['another member', '{"a":["x","y"]}', '{"a":["x","z"]}', false],
    ['another copy', '{"a":["x","x","y"]}', '{"a":["x","y","y"]}', false],
    ['another number', '{"a":50}', '{"a":5}', false],
    ['a text that looks like a number', '{"a":"5.0"}', '{"a":"5"}', false],
    ['a large number', '{"a":9007199254740993}', '{"a":9007199254740992}', false],
  ])('%s', async (_, one, other, are) => {
    expect(await alike(one, other, ['[]'])).toBe(are);
    if (one !== other) expect(await alike(one, other, [])).toBe(false);
  });

  it('are the same in Postgres and in JavaScript', async () => {
    const leaf = fc.constantFrom<unknown>(1, 2.5, 10, 'a', 'B', 'é', '1', true, null);
    const value = fc.letrec<{ any: unknown }>((tie) => ({
      any: fc.oneof(
        { maxDepth: 3 },
        leaf,
        fc.array(tie('any'), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom('a', 'b', 'n'), tie('any'), { maxKeys: 3 }),
      ),
    })).any;
    const shuffled = (inner: unknown): unknown => {
      if (Array.isArray(inner)) return inner.map(shuffled).reverse();
      if (inner === null || typeof inner !== 'object') return inner;
      return Object.fromEntries(Object.entries(inner).map(([key, one]) => [key, shuffled(one)]));
    };
    const record = fc.dictionary(fc.constantFrom('a', 'b', 'n'), value, { maxKeys: 3 });
    await fc.assert(
      fc.asyncProperty(record, record, fc.boolean(), async (one, stranger, isShuffled) => {
        const other = isShuffled ? shuffled(one) : stranger;
        for (const ignored of [[], ['[]'], ['[]', '/n']]) {
          const inSql = await alike(JSON.stringify(one), JSON.stringify(other), ignored);
          const [text, otherText] = [one, other].map((each) => spelled(each, new Set(ignored)));
          expect(inSql).toBe(text === otherText);
          if (isShuffled && ignored.length > 0) expect(inSql).toBe(true);
        }
      }),
      { numRuns: 200 },
    );
  });
});

it.each(['{}', '""', 'null'])('%s where lists are is a list of nothing', async (list) => {
  const [row] = await server.query(
    `select list_type, came from daywalk.read_page(0, $1::jsonb, 200, '{data}', null, null, '{}', null)`,
    [`{"data": ${list}}`],
  );
  expect(row).toEqual({ list_type: 'null', came: 0 });
});
