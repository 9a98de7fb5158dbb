/** The shapes of a page and the meanings of its total. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type EnvelopeShape,
  type Simulator,
  startSimulator,
  type Totals,
} from '../../simulator/simulator.ts';
import { ask, DAY, numbered } from './asking.ts';

const RECORDS = numbered(5);
const [A, B] = RECORDS;

let simulator: Simulator;
beforeAll(async () => {
  const elsewhere = { text: '{"n":99}', time: '2026-01-01T00:00:00Z' };
  simulator = await startSimulator({ records: [...RECORDS, elsewhere], order: 'oldest' });
});
afterAll(() => simulator.close());

const page = async (envelope: EnvelopeShape, totals: Totals = 'exact') => {
  simulator.set({ envelope, totals });
  return (await ask(simulator, { length: 2 })).text;
};

describe('envelopes, byte for byte', () => {
  test.each<[EnvelopeShape, string, string]>([
    ['array', `[${A},${B}]`, `[${A},${B}]`],
    [
      'datatables',
      `{"draw":0,"recordsTotal":5,"recordsFiltered":5,"data":[${A},${B}]}`,
      `{"draw":0,"data":[${A},${B}]}`,
    ],
    [
      'nested',
      `{"status":"ok","result":{"items":[${A},${B}],"count":5}}`,
      `{"status":"ok","result":{"items":[${A},${B}]}}`,
    ],
    ['list', `{"events":[${A},${B}],"total":5}`, `{"events":[${A},${B}]}`],
    ['none', '{"status":"ok","message":"done","total":5}', '{"status":"ok","message":"done"}'],
  ])('%s', async (envelope, withTotal, without) => {
    expect(await page(envelope)).toBe(withTotal);
    expect(await page(envelope, 'none')).toBe(without);
  });

  test('hits wraps each record as Elasticsearch does, and an id stays', async () => {
    const text = await page('hits');
    const { hits } = JSON.parse(text);
    expect(hits.total).toEqual({ value: 5, relation: 'eq' });
    expect(hits.hits.map((hit: { _source: object }) => hit._source)).toEqual(
      [A, B].map((record) => JSON.parse(String(record))),
    );
    expect(new Set(hits.hits.map((hit: { _id: string }) => hit._id)).size).toBe(2);
    expect(await page('hits')).toBe(text);
    expect(text).toContain(`"hits":[${simulator.listed(DAY).slice(0, 2).join(',')}]`);
    expect(simulator.matching(DAY)[0]).toBe(A);
    expect(JSON.parse(await page('hits', 'none')).hits.total).toBeUndefined();
  });

  test('ambiguous has two arrays of objects', async () => {
    const body = JSON.parse(await page('ambiguous'));
    const arrays = Object.values(body).filter(Array.isArray);
    expect(arrays).toHaveLength(2);
    for (const item of arrays.flat()) expect(item).toBeTypeOf('object');
  });
});

describe('totals', () => {
  test.each<[Totals, unknown]>([
    ['exact', 5],
    ['page', 2],
    ['string', '5'],
    ['unfiltered', 6],
    [{ cap: 3 }, 3],
    [{ cap: 5 }, 5],
    [{ off: 2 }, 7],
    [{ off: -9 }, 0],
  ])('%j', async (totals, expected) => {
    expect(JSON.parse(await page('list', totals)).total).toBe(expected);
  });

  test('a capped total says so in hits, and only there', async () => {
    expect(JSON.parse(await page('hits', { cap: 3 })).hits.total).toEqual({
      value: 3,
      relation: 'gte',
    });
    expect(JSON.parse(await page('hits', { cap: 5 })).hits.total.relation).toBe('eq');
  });

  test('DataTables says both counts when the store has more', async () => {
    const body = JSON.parse(await page('datatables', 'unfiltered'));
    expect([body.recordsTotal, body.recordsFiltered]).toEqual([6, 5]);
  });
});
