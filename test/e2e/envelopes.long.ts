/** Each envelope, with and without totals, clamped or not: every record, or a window that says why not. */
import { describe, expect, test } from 'vitest';
import { expectExact, expectNoFalseCompleteness } from '../support/multiset.ts';
import { askedAgain } from '../support/requests.ts';
import { setScene } from '../support/scene.ts';

const DAYS = { from: '2026-03-01', to: '2026-03-02' };
const BACKFILL = ['backfill', '--from', DAYS.from, '--to', DAYS.to];

test('a source that clamps 1,000 to 100 and tells no total', async () => {
  const scene = await setScene({ clamp: 100, totals: 'none', eventsPerDay: 450 });
  await scene.succeed(BACKFILL, { DAYWALK_PAGE_LENGTH: '1000' });
  expect(await expectExact(scene, DAYS)).toBeGreaterThan(700);
  expect(askedAgain(scene.api.requests)).toEqual(new Map());
  const proofs = await scene.database.query(
    `select distinct proof ->> 'kind' as kind from daywalk.windows where kind = 'day' order by kind`,
  );
  // What is smaller than a window that was proven by its halves needs none of its own.
  expect(proofs).toEqual([{ kind: 'halves' }, { kind: 'probe' }]);
});

test.each([1, 2, 3])('a source that clamps to %i', async (clamp) => {
  const scene = await setScene({ clamp, totals: 'none', eventsPerDay: 12, alertsPerDay: 3 });
  await scene.succeed(BACKFILL);
  await expectExact(scene, DAYS);
});

describe.each(['array', 'datatables', 'hits', 'nested', 'list'] as const)(
  'the envelope %s',
  (envelope) => {
    test.each(['exact', 'none'] as const)('with totals: %s', async (totals) => {
      const scene = await setScene({ envelope, totals });
      await scene.succeed(BACKFILL);
      expect(await expectExact(scene, DAYS)).toBeGreaterThan(300);
    });
  },
);

test.each(['ambiguous', 'none'] as const)(
  'the envelope %s: no guess, but a failed window that says what to set',
  async (envelope) => {
    const scene = await setScene({ envelope });
    const ended = await scene.run(BACKFILL);
    expect(ended).toMatchObject({ code: 3 });
    expect(ended.stdout).toMatch(/Failed: events .*(records_path|list)/);
    expect(await expectNoFalseCompleteness(scene, DAYS)).toMatchObject({ complete: 0 });
  },
);

test('an ambiguous envelope is read where records_path says', async () => {
  const scene = await setScene({ envelope: 'ambiguous' });
  await scene.succeed(BACKFILL, { DAYWALK_RECORDS_PATH: 'events' });
  await expectExact(scene, DAYS);
});

test.each(['always', 'never', 'asked'] as const)('gzip %s', async (gzip) => {
  const scene = await setScene({ gzip });
  await scene.succeed(BACKFILL);
  await expectExact(scene, DAYS);
});

test('a path prefix in the base URL', async () => {
  const scene = await setScene({ prefix: '/tenant-7/siem' });
  await scene.succeed(BACKFILL);
  await expectExact(scene, DAYS);
});
