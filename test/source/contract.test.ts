/** The contract: what is found in known shapes, and what is refused with a setting that decides. */
import { describe, expect, test } from 'vitest';
import { EnvelopeError, NoRecordsError } from '../../src/errors.ts';
import { type ContractHints, findContract } from '../../src/source/find-contract.ts';
import { mayBeTotalName, parseTotal, totalCandidates } from '../../src/source/total.ts';

const R = [{ id: 1 }, { id: 2 }];
const look = (value: unknown, hints?: ContractHints) =>
  findContract(Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)), hints);
const found = (value: unknown, hints?: ContractHints): (string | null)[] => {
  const { recordsPath, totalPath, relationPath } = look(value, hints);
  return [recordsPath, totalPath, relationPath].map((path) => path?.join('.') ?? null);
};
const refused = (value: unknown, hints?: ContractHints): string => {
  try {
    look(value, hints);
  } catch (error) {
    if (error instanceof EnvelopeError) return `${error.message} | ${error.hint}`;
    throw error;
  }
  throw new Error(`found in ${JSON.stringify(value)}`);
};

describe('found: known shapes', () => {
  const total = { value: 9, relation: 'gte' };
  test.each<[string, unknown, (string | null)[]]>([
    ['a bare list', R, ['', null, null]],
    ['an empty bare list', [], ['', null, null]],
    ['a byte order mark', `\ufeff${JSON.stringify({ data: R })}`, ['data', null, null]],
    [
      'DataTables',
      { draw: 1, recordsTotal: 99, recordsFiltered: 9, data: R },
      ['data', 'recordsFiltered', null],
    ],
    ['DataTables, unfiltered only', { recordsTotal: 99, data: R }, ['data', 'recordsTotal', null]],
    [
      'DataTables, empty',
      { recordsTotal: 99, recordsFiltered: 0, data: [] },
      ['data', 'recordsFiltered', null],
    ],
    [
      'DataTables with another list',
      { recordsFiltered: 2, data: R, x: [{ a: 1 }] },
      ['data', 'recordsFiltered', null],
    ],
    [
      'DataTables 1.9',
      { iTotalRecords: 9, iTotalDisplayRecords: 2, aaData: R },
      ['aaData', 'iTotalDisplayRecords', null],
    ],
    [
      'Elasticsearch 7',
      { took: 1, timed_out: false, _shards: { total: 5, failed: 0 }, hits: { total, hits: R } },
      ['hits.hits', 'hits.total.value', 'hits.total.relation'],
    ],
    [
      'Elasticsearch 6',
      { hits: { total: 9, max_score: 1.5, hits: R } },
      ['hits.hits', 'hits.total', null],
    ],
    [
      'Elasticsearch, empty',
      { hits: { total: { value: 0, relation: 'eq' }, hits: [] } },
      ['hits.hits', 'hits.total.value', 'hits.total.relation'],
    ],
    ['Elasticsearch without a total', { hits: { hits: R } }, ['hits.hits', null, null]],
    [
      'Elasticsearch with aggregations',
      { hits: { total: 2, hits: R }, aggregations: { a: { buckets: R } } },
      ['hits.hits', 'hits.total', null],
    ],
    [
      'Wazuh',
      {
        data: {
          affected_items: R,
          total_affected_items: 9,
          total_failed_items: 0,
          failed_items: [],
        },
        message: 'ok',
        error: 0,
      },
      ['data.affected_items', 'data.total_affected_items', null],
    ],
    [
      'Wazuh, empty',
      { data: { affected_items: [], total_affected_items: 0, failed_items: [] }, error: 0 },
      ['data.affected_items', 'data.total_affected_items', null],
    ],
    [
      'Spring Data',
      { content: R, page: { size: 2, totalElements: 9, totalPages: 5, number: 0 } },
      ['content', 'page.totalElements', null],
    ],
    [
      'Spring Data, as it was',
      { content: R, totalElements: 9, last: true, sort: [{ direction: 'DESC' }], size: 2 },
      ['content', 'totalElements', null],
    ],
    [
      'Laravel',
      { current_page: 1, data: R, links: [{ url: null, label: '1' }], per_page: 2, total: 9 },
      ['data', 'total', null],
    ],
    [
      'Laravel, empty',
      { data: [], links: { next: null }, meta: { links: [{ label: '1' }], total: 0 } },
      ['data', 'meta.total', null],
    ],
    ['facets beside events', { events: R, facets: [{ name: 'a' }] }, ['events', null, null]],
    ['Django REST', { count: 9, next: null, previous: null, results: R }, ['results', null, null]],
    ['OData', { '@odata.count': 9, value: R }, ['value', '@odata.count', null]],
    [
      'Directus',
      { meta: { total_count: 99, filter_count: 9 }, data: R },
      ['data', 'meta.filter_count', null],
    ],
    [
      'CrowdStrike',
      { meta: { pagination: { total: 9 } }, errors: [], resources: R },
      ['resources', 'meta.pagination.total', null],
    ],
    [
      'CrowdStrike, empty',
      { meta: { pagination: { total: 0 } }, errors: [], resources: [] },
      ['resources', 'meta.pagination.total', null],
    ],
    [
      'Cloudflare',
      { result: R, result_info: { total_count: 9 }, errors: [], messages: [] },
      ['result', 'result_info.total_count', null],
    ],
    ['GraphQL', { data: { logins: R }, errors: [] }, ['data.logins', null, null]],
    [
      'API Platform',
      {
        'hydra:member': R,
        'hydra:totalItems': 9,
        'hydra:search': { 'hydra:mapping': [{ variable: 'from' }] },
      },
      ['hydra:member', 'hydra:totalItems', null],
    ],
    [
      'API Platform 4',
      { member: R, totalItems: 9, search: { mapping: [{ variable: 'from' }] } },
      ['member', 'totalItems', null],
    ],
    [
      'Solr',
      { response: { numFound: 9, start: 0, docs: R } },
      ['response.docs', 'response.numFound', null],
    ],
  ])('%s', (_, value, paths) => expect(found(value)).toEqual(paths));
});

describe('found: any other with one list', () => {
  test.each<[string, unknown, (string | null)[]]>([
    ['an unknown name', { whatever: R }, ['whatever', null, null]],
    ['four keys deep', { a: { b: { c: { d: R } } } }, ['a.b.c.d', null, null]],
    ['lists in records do not count', { x: [{ tags: R }], total: 1 }, ['x', 'total', null]],
    ['lists of words do not count', { columns: ['a'], rows: R }, ['rows', null, null]],
    ['a total as text', { items: R, total: '12' }, ['items', 'total', null]],
    ['a nested total', { items: R, meta: { total: 9 } }, ['items', 'meta.total', null]],
    [
      'a twice nested total',
      { items: R, meta: { pagination: { total_count: 9 } } },
      ['items', 'meta.pagination.total_count', null],
    ],
    ['a known name beside a wrong total', { data: R, total: 0 }, ['data', 'total', null]],
    ['an empty one beside another', { total: 0, a: [], b: R }, ['a', 'total', null]],
    ['a total one level up', { body: { items: R }, Total: 9 }, ['body.items', 'Total', null]],
    [
      'two that agree: the nearest',
      { body: { items: R, total: 9 }, total: 9, meta: { total: 9 } },
      ['body.items', 'body.total', null],
    ],
    [
      'a total with its relation',
      { events: R, total: { value: 9, relation: 'eq' } },
      ['events', 'total.value', 'total.relation'],
    ],
    ['count may be this page', { items: R, count: 2 }, ['items', null, null]],
    [
      '"1,234", -1, 1.5 and null are no totals',
      { items: R, total: '1,234', meta: { total: -1 }, page: { total: 1.5 }, total_count: null },
      ['items', null, null],
    ],
    [
      'a field called __proto__',
      '{"__proto__":{"items":[{"a":1}],"total":1}}',
      ['__proto__.items', '__proto__.total', null],
    ],
  ])('%s', (_, value, paths) => expect(found(value)).toEqual(paths));

  test.each([
    'data',
    'items',
    'results',
    'records',
    'events',
    'rows',
    'alerts',
    'docs',
    'entries',
    'list',
  ])('empty under the known name %s', (name) =>
    expect(found({ [name]: [] })).toEqual([name, null, null]),
  );

  test('empty under an unknown name beside a total of 0', () => {
    expect(found({ things: [], total: 0 })).toEqual(['things', 'total', null]);
    expect(found({ a: { things: [] }, meta: { total: '0' } })).toEqual([
      'a.things',
      'meta.total',
      null,
    ]);
  });
});

describe('refused: the list', () => {
  test.each<[string, unknown, string]>([
    ['no list', { message: 'hello' }, 'found no list. The body is an object with message'],
    ['an empty object', {}, 'no list. The body is an empty object'],
    ['a text', '"x"', 'the body is a string'],
    ['null', 'null', 'the body is null'],
    ['null under a known name', { data: null, total: 7 }, 'data is null'],
    ['null in DataTables', { data: null, recordsFiltered: 7 }, 'data is null'],
    ['null in hits', { hits: { hits: null, total: 7 } }, 'hits.hits is null'],
    ['words', { data: ['a'] }, 'data is a list of 1, of which 0 are objects'],
    ['a bare list of words', [1], 'a list of 1, of which 0 are objects'],
    ['a mixture', { data: [{}, null] }, 'data is a list of 2, of which 1 are objects'],
    ['two lists', { events: R, others: R }, 'no list that holds the records beyond doubt'],
    ['two empty lists', { a: [], b: [] }, 'a is an empty list; b is an empty list'],
    ['two known empty lists', { data: { rows: [], items: [] } }, 'data.rows is an empty list'],
    ['an unknown empty list', { things: [] }, 'things is an empty list'],
    ['an unknown empty list and a total', { things: [], total: 5 }, 'things is an empty list'],
    [
      'a lesser list beside the empty one',
      { items: [], buckets: [{ a: 1 }] },
      'items is an empty list; buckets is a list of 1 objects',
    ],
    [
      'a lesser list beside null',
      { records: null, notes: [{ a: 1 }] },
      'records is null; notes is a list of 1 objects',
    ],
    [
      'two unknown ones, one of them empty',
      { a: [], b: R },
      'a is an empty list; b is a list of 2 objects',
    ],
    ['warnings only', { warnings: [{ code: 1 }] }, 'warnings is a list of 1 objects'],
    ['links only', { links: [{ rel: 'next' }], total: 0 }, 'links is a list of 1 objects'],
    ['links beside an unknown list', { links: [{ rel: 'next' }], tags: R }, 'beyond doubt'],
    ['objects beside a total of 0', { total: 0, things: R }, 'things is a list of 2 objects'],
    ['too deep', { a: { b: { c: { d: { e: R } } } } }, 'a.b.c.d.e is a list of 2 objects'],
    [
      'a lesser list beside one that is too deep',
      { x: R, a: { b: { c: { d: { e: R } } } } },
      'beyond doubt',
    ],
  ])('%s', (_, value, told) => {
    const message = refused(value);
    expect(message).toContain(told);
    expect(message).toContain('records_path');
  });
});

describe('no records: it may be an empty window, once other answers are known', () => {
  test.each<[string, unknown, ContractHints?]>([
    ['a message', { message: 'no events' }],
    ['a 204', 'null'],
    ['null where records are expected', { data: null, total: 0 }],
    ['no list where the settings say', { message: 'none' }, { recordsPath: ['data'] }],
    ['null where the settings say', { rows: null }, { recordsPath: ['rows'] }],
    ['an unknown empty list', { things: [] }],
    ['no total where the settings say', { data: [] }, { totalPath: ['total'] }],
    ['totals that differ', { items: [], total: 0, meta: { total: 9 } }],
    ['links only', { data: null, links: [{ rel: 'self' }] }],
    ['a list of something else', { total: 0, managers: R }],
    ['one elsewhere than the settings say', { total: 0, managers: R }, { recordsPath: ['data'] }],
  ])('%s', (_, value, hints) => {
    expect(() => look(value, hints)).toThrow(NoRecordsError);
  });

  test.each<[string, unknown, ContractHints?]>([
    ['two lists', { events: R, others: R }],
    ['words under the name of records', { data: ['a'] }],
    ['a list elsewhere than the settings say', { items: R }, { recordsPath: ['data'] }],
    ['an object where the settings say', { data: {} }, { recordsPath: ['data'] }],
    ['no JSON', '{"data":'],
    ['no total where the settings say, beside records', { data: R }, { totalPath: ['total'] }],
  ])('not so %s', (_, value, hints) => {
    expect(() => look(value, hints)).toThrow(EnvelopeError);
    expect(() => look(value, hints)).not.toThrow(NoRecordsError);
  });
});

describe('what may be a total and is not taken', () => {
  test.each<[unknown, string[], string[]]>([
    [{ result: { rows: R, count: 9 } }, ['result', 'rows'], ['result.count 9']],
    [
      { items: R, meta: { size: '50', found: 9 }, page: 3 },
      ['items'],
      ['meta.size 50', 'meta.found 9'],
    ],
    [{ items: R, count: 'many', total: 9 }, ['items'], []],
    [R, [], []],
  ])('%j', (body, recordsPath, told) => {
    const found = totalCandidates(body, recordsPath, mayBeTotalName);
    expect(found.map(({ path, total }) => `${path.join('.')} ${total}`)).toEqual(told);
  });
});

describe('refused: the total', () => {
  test('several that differ', () => {
    const message = refused({ items: R, total: 9, meta: { total: 10 } });
    expect(message).toContain('total is 9; meta.total is 10');
    expect(message).toMatch(/total_path .*"none"/);
    expect(refused({ total: 9, meta: { items: R, total: 10 } })).toMatch(
      /: meta.total is 10; total is 9 \|/,
    );
  });
});

describe('given paths', () => {
  const body = { a: { rows: R, n: '7', seen: { value: 3, relation: 'gte' } }, total: 9, b: R };
  test('decide', () => {
    expect(found(body, { recordsPath: ['b'] })).toEqual(['b', 'total', null]);
    expect(found(body, { recordsPath: ['a', 'rows'], totalPath: ['a', 'n'] })).toEqual([
      'a.rows',
      'a.n',
      null,
    ]);
    expect(found(body, { recordsPath: ['b'], totalPath: null })).toEqual(['b', null, null]);
    expect(found(body, { recordsPath: ['b'], totalPath: ['a', 'seen', 'value'] })).toEqual([
      'b',
      'a.seen.value',
      'a.seen.relation',
    ]);
    expect(found(R, { recordsPath: [] })).toEqual(['', null, null]);
    expect(found({ x: [] }, { recordsPath: ['x'] })).toEqual(['x', null, null]);
  });

  test.each<[ContractHints, string]>([
    [{ recordsPath: ['a', 'lines'] }, 'there is no a.lines: a is an object with rows, n, seen'],
    [{ recordsPath: ['a', 'rows', '0'] }, 'there is no a.rows.0: a.rows is a list of 2 objects'],
    [{ recordsPath: ['a'] }, 'a is an object with rows, n, seen, not a list of objects'],
    [{ recordsPath: [] }, 'the body itself is an object'],
    [{ recordsPath: ['constructor'] }, 'there is no constructor'],
    [
      { recordsPath: ['b'], totalPath: ['a', 'seen'] },
      'a.seen is an object with value, relation, not a whole number',
    ],
    [
      { recordsPath: ['b'], totalPath: ['sum'] },
      'there is no sum: the body itself is an object with a, total, b',
    ],
  ])('%j does not fit', (hints, told) => expect(refused(body, hints)).toContain(told));
});

describe('not JSON', () => {
  test.each([
    ['cut', '{"data":[{"a":1},', 'not complete JSON: 17 bytes'],
    ['empty', '', 'not complete JSON: 0 bytes'],
    ['a trailing comma', '{"data":[],}', 'not complete JSON: 12 bytes'],
    ['two documents (B09)', '{"a":1}\n{"a":2}', 'not complete JSON: 15 bytes'],
    ['NaN', '{"a":NaN}', 'not complete JSON: 9 bytes'],
    ['a list without an end', '{"data":[{"a":"]}', 'not complete JSON: 17 bytes'],
  ])('%s', (_, text, told) => expect(refused(text)).toContain(told));

  test('is quoted on one line and without secrets', () => {
    const message = refused('{"a":"k3y-s3cret\u0007\r\n', { secrets: ['k3y-s3cret'] });
    expect(message).toContain('it begins "{"a":"***"');
  });

  test('broken UTF-8 does not matter here (B07)', () => {
    const body = Buffer.from('{"data":[{"a":"\xff"}]}', 'latin1');
    expect(findContract(body).recordsPath).toEqual(['data']);
  });

  test('nesting without end does not matter', () => {
    const deep = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`;
    expect(refused(deep)).toContain('no list');
    expect(found(`{"data":[{"a":${'['.repeat(9000)}${']'.repeat(9000)}}]}`)).toEqual([
      'data',
      null,
      null,
    ]);
  });
});

test.each<[unknown, number | null]>([
  [0, 0],
  [-0, 0],
  [12, 12],
  ['12', 12],
  ['5.0', 5],
  [2 ** 53, null],
  ['9007199254740993', null],
  ['1,234', null],
  [' 1', null],
  ['', null],
  ['1e3', null],
  [-1, null],
  [1.5, null],
  [Number.NaN, null],
  [null, null],
  [true, null],
  [[3], null],
  [{ value: 3 }, null],
])('parseTotal(%j) is %j', (value, total) => expect(parseTotal(value)).toBe(total));
