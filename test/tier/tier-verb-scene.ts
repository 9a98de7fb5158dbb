/** Five days in Postgres, a bucket with its keys in files, and the program with settings for both. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { recordTexts } from '../support/multiset.ts';
import { temporaryFolder } from '../support/program.ts';
import { setExported } from '../support/scene.ts';
import { KEYS, newServer } from './s3-store-scene.ts';

export const RANGE = { from: '2026-01-30', to: '2026-02-03' };
export const DAYS = ['--from', RANGE.from, '--to', RANGE.to];
export const EVENTS = { DAYWALK_STREAMS: 'events' };
const API = { eventsPerDay: 60 };

/** Moves all five days; none of their records is here then, and each has its two objects in the bucket. */
export async function moveAll({
  scene,
  bucket,
  settings,
}: Pick<Awaited<ReturnType<typeof stage>>, 'scene' | 'bucket' | 'settings'>): Promise<void> {
  const done = await scene.succeed(['tier', '--older-than', '1d'], settings);
  expect(done.stdout).toMatch(/^moved: events 2026-01-30 to 2026-02-03$/m);
  expect(done.stdout).toMatch(/^Of 2026-01, 2026-02 nothing is here any more/m);
  expect(await recordTexts(scene.database, 'events')).toEqual([]);
  const keys = [...bucket.objects.keys()];
  for (const kind of ['pages', 'events'])
    expect(keys.filter((name) => name.startsWith(`soc/1/${kind}/stream=events/`))).toHaveLength(5);
}

/** A scene of its own, whose API shows what was exported. */
export async function stage() {
  const scene = await setExported(RANGE, EVENTS, API);
  const bucket = await newServer();
  const folder = temporaryFolder();
  const [key, secret] = [join(folder, 'key'), join(folder, 'secret')];
  writeFileSync(key, `${KEYS.accessKeyId}\n`, { mode: 0o600 });
  writeFileSync(secret, `${KEYS.secretAccessKey}\n`, { mode: 0o600 });
  const settings = {
    ...EVENTS,
    DAYWALK_TIER_URL: `s3://${bucket.bucket}/soc/1`,
    DAYWALK_TIER_ENDPOINT: bucket.url,
    DAYWALK_TIER_REGION: bucket.region,
    DAYWALK_TIER_PATH_STYLE: 'yes',
    DAYWALK_TIER_KEY_FILE: key,
    DAYWALK_TIER_SECRET_FILE: secret,
  };
  return { scene, bucket, settings, secret };
}
