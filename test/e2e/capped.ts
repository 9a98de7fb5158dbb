/** Days behind a cap on results. */
import { expect } from 'vitest';
import { expectExact } from '../support/multiset.ts';
import { setScene } from '../support/scene.ts';

const DAYS = { from: '2026-03-01', to: '2026-03-02' };
const BACKFILL = ['backfill', '--from', DAYS.from, '--to', DAYS.to];

/** Behind a cap of 120, which answers so, days are split by time, whole, and done. */
export async function expectSplitAndWhole(
  answer: 'empty' | 400,
  streams: readonly string[] = ['events'],
): Promise<void> {
  const scene = await setScene({ offsetCap: { limit: 120, answer } });
  const environment = { DAYWALK_STREAMS: streams.join(',') };
  await scene.succeed(BACKFILL, environment);
  await expectExact(scene, DAYS, streams);
  const splits = await scene.database.query(
    `select split_by, split_reason from daywalk.windows where split_by is not null and split_from is null`,
  );
  expect(splits.length).toBeGreaterThanOrEqual(2);
  for (const { split_by, split_reason } of splits) {
    expect(split_by).toBe('time');
    expect(split_reason).toMatch(/\d/);
  }
  const before = scene.api.counts.requests;
  expect((await scene.succeed(BACKFILL, environment)).stdout).toBe('Nothing was due.\n');
  expect(scene.api.counts.requests).toBe(before);
}
