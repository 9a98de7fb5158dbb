/** `daywalk tier` with a bucket: days move, are verified, and come back. */
import { expect, test } from 'vitest';
import { expectExact, recordTexts } from '../support/multiset.ts';
import { endLooks } from '../support/publishing.ts';
import { DAYS, moveAll, RANGE, stage } from './tier-verb-scene.ts';

test('days move, are verified, and come back', async () => {
  const { scene, bucket, settings } = await stage();
  await endLooks(scene.database);
  const before = (await recordTexts(scene.database, 'events')).sort();
  await moveAll({ scene, bucket, settings });
  const verified = await scene.succeed(['verify', '--offline'], settings);
  expect(verified.stdout).toMatch(/^Everything that moved is what moved: 5 days in the tier, /m);
  const back = await scene.succeed(['tier', '--restore', ...DAYS], settings);
  expect(back.stdout).toMatch(/^5 days came back from s3:/m);
  expect((await recordTexts(scene.database, 'events')).sort()).toEqual(before);
  await expectExact(scene, RANGE, ['events']);
});
