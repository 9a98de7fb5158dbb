/** A field that looks like an identity is suggested; nothing else is. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hasEverywhere, identityPaths, suggestTimePath } from '../../src/source/identity.ts';

const many = (record: (index: number) => unknown, count = 12): unknown[] =>
  Array.from({ length: count }, (_, index) => record(index));

describe('suggested', () => {
  it.each([
    ['id', many((n) => ({ id: `a${n}`, at: 1 })), ['id']],
    ['_id before id', many((n) => ({ _id: n, uuid: `u${n}` })), ['_id']],
    ['event_id', many((n) => ({ event_id: n })), ['event_id']],
    [
      'eventId in _source',
      many((n) => ({ _source: { eventId: `e${n}` } })),
      ['_source', 'eventId'],
    ],
    ['the one that is unique', many((n) => ({ id: 'same', uuid: `u${n}` })), ['uuid']],
  ])('%s', (_, records, path) => {
    expect(identityPaths(records)[0]).toEqual(path);
  });
});

describe('not suggested', () => {
  it.each([
    ['twice the same', many((n) => ({ id: Math.min(n, 10) }))],
    ['missing in one', many((n) => (n === 5 ? {} : { id: n }))],
    ['null in one', many((n) => ({ id: n === 5 ? null : n }))],
    ['empty in one', many((n) => ({ id: n === 5 ? '' : `${n}` }))],
    ['no name of an identity', many((n) => ({ timestamp: n, rule_id: n }))],
    ['inherited', many((n) => Object.create({ id: n }))],
    ['no objects', many((n) => n)],
  ])('%s', (_, records) => {
    expect(identityPaths(records)).toEqual([]);
  });

  it('whatever the records are, a path that is suggested tells them apart', () => {
    const record = fc.dictionary(fc.constantFrom('id', 'uuid', 'x'), fc.jsonValue());
    fc.assert(
      fc.property(fc.array(record, { minLength: 10, maxLength: 14 }), (records) => {
        for (const path of identityPaths(records)) {
          const values = records.map((each) => each[path[0] as string]);
          expect(new Set(values).size).toBe(records.length);
          expect(hasEverywhere(path, records)).toBe(true);
        }
      }),
    );
  });
});

it.each<[string, unknown, string[] | null]>([
  ['at the top', { timestamp: '2026-03-01T12:00:00Z', a: { time: 1_772_366_400 } }, ['timestamp']],
  [
    'at the top, whatever its parts say',
    { created: 1_772_366_400, a: { ts: 1_772_366_400 } },
    ['created'],
  ],
  ['in _source', { _source: { '@timestamp': '2026-03-01 12:00:00' } }, ['_source', '@timestamp']],
  [
    'in attributes',
    { id: 1, attributes: { timestamp: '2026-03-01T12:00:00Z' } },
    ['attributes', 'timestamp'],
  ],
  ['nowhere', { id: 1, published: '2026-03-01T12:00:00Z' }, null],
])('the time of an event %s', (_, record, path) => {
  expect(suggestTimePath(many(() => record))).toEqual(path);
});
