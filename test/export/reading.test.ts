/** First pages: one at a time is looked through for its list, and what it shows holds for the others. */
import { expect, it } from 'vitest';
import { letOthersGo } from '../../src/clock.ts';
import { EnvelopeError } from '../../src/errors.ts';
import { StreamMemory } from '../../src/export/memory.ts';
import { readPage } from '../../src/export/reading.ts';
import type { Envelope, Page, PageRequest } from '../../src/model.ts';
import type { Database } from '../../src/store/database.ts';
import type { PageFacts } from '../../src/store/page-facts.ts';

const request: PageRequest = {
  resource: 'events',
  filters: {},
  from: '2026-03-01 00:00:00',
  to: '2026-03-01 23:59:59',
  start: 0,
  length: 10,
};
const FOUND: Envelope = { recordsPath: ['data'], totalPath: null, relationPath: null };

/** Pages of one stream that come together, with so many records each; null: no page at all. */
async function readTogether(
  records: readonly (number | null)[],
): Promise<{ looks: number; atOnce: number; results: PromiseSettledResult<unknown>[] }> {
  let looks = 0;
  let looking = 0;
  let atOnce = 0;
  const memory = new StreamMemory(null as unknown as Database, 1, []);
  const results = await Promise.allSettled(
    records.map((count) =>
      readPage(
        {
          memory,
          priority: { purpose: 'scheduled' },
          signal: new AbortController().signal,
          fetchPage: async () => ({ start: 0, body: Buffer.alloc(0) }) as unknown as Page,
          findEnvelope: () => {
            looks += 1;
            if (count === null) throw new EnvelopeError('no page');
            looking += 1;
            return FOUND;
          },
        },
        request,
        async (_, envelope) => {
          atOnce = Math.max(atOnce, looking);
          await letOthersGo(1);
          looking = 0;
          const facts = { records: count, listType: 'array', complaint: null, fits: true };
          return { ...facts, envelope } as unknown as PageFacts;
        },
      ),
    ),
  );
  return { looks, atOnce, results };
}

it('the list is looked for in one of many first pages', async () => {
  const { looks, results } = await readTogether([3, 3, 3, 3, 3]);
  expect(looks).toBe(1);
  expect(results.every(({ status }) => status === 'fulfilled')).toBe(true);
});

it('an empty page shows nothing: the next one is looked through, one at a time', async () => {
  const { looks, atOnce, results } = await readTogether([0, 0, 3, 3, 3]);
  expect([looks, atOnce]).toEqual([3, 1]);
  expect(results.every(({ status }) => status === 'fulfilled')).toBe(true);
});

it('an answer that is no page holds up none of the others', async () => {
  const { results } = await readTogether([null, 3, null, 3]);
  const statuses = results.map(({ status }) => status);
  expect(statuses).toEqual(['rejected', 'fulfilled', 'rejected', 'fulfilled']);
  expect(results[0]).toMatchObject({ status: 'rejected', reason: expect.any(EnvelopeError) });
});
