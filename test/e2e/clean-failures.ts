/** Failures of the API or the database that leave nothing half done. */
import { expect } from 'vitest';
import { startStopwatch } from '../support/awake.ts';
import { CLOSED_PORT } from '../support/ports.ts';
import type { EndedHere } from '../support/program-here.ts';
import { type Scene, setScene } from '../support/scene.ts';

export const BACKFILL = ['backfill', '--from', '2026-03-01', '--to', '2026-03-02'];

/** One message behind the log lines, no stack trace, nothing on stdout; no lease left, no window worse than before. */
export async function expectCleanFailure(
  { database }: Scene,
  ended: EndedHere,
  code: number,
  words: readonly (string | RegExp)[],
) {
  expect(ended, ended.stderr).toMatchObject({ code, stdout: '' });
  const messages = ended.stderr.split('\n').filter((line) => line.startsWith('daywalk: '));
  expect(messages).toHaveLength(1);
  for (const word of words) expect(ended.stderr).toMatch(word);
  expect(ended.stderr).not.toMatch(/^\s+at |undefined|\[object/m);
  const windows = await database.query(
    `select from daywalk.windows where lease_id is not null or state <> 'pending' or failures > 0`,
  );
  expect(windows).toEqual([]);
}

/** A command whose database is away. */
export async function expectAway(args: readonly string[]): Promise<void> {
  const scene = await setScene();
  const url = new URL(scene.database.url);
  url.port = String(CLOSED_PORT);
  const elapsed = startStopwatch();
  const ended = await scene.here(args, {
    DATABASE_URL: url.href,
    DAYWALK_DATABASE_PATIENCE: '1s',
  });
  await expectCleanFailure(scene, ended, 5, [
    /the database (?:is away|cannot be reached)/,
    'ECONNREFUSED',
    'DATABASE_URL',
  ]);
  expect(elapsed()).toBeLessThan(25_000);
  expect(scene.api.counts.requests).toBe(0);
}

/** A verb whose database is newer than the code. */
export async function expectNewer(verb: string): Promise<void> {
  const scene = await setScene();
  await scene.database.query(
    `insert into daywalk.migrations (name, run_on) values ('9999_from_the_future', now())`,
  );
  const ended = await scene.here([verb]);
  await expectCleanFailure(scene, ended, 2, ['newer', '9999_from_the_future', /Install/]);
  expect(await scene.database.query('select from daywalk.streams')).toEqual([]);
}
