/** What `sharing` has no time for: a watcher that is killed while its lock still looks as if it were there. */
import { expect, test, vi } from 'vitest';
import { ask } from '../support/ask.ts';
import {
  folderWithData,
  killElsewhere,
  LONGEST_WAIT,
  observe,
  startElsewhere,
  startHere,
  untilNothingRuns,
  untilWatched,
  watcherPid,
} from './processes.ts';

/** The lock that the watcher holds. */
const WATCHED = [0x6461_7977, 2];

test('the watcher, whose lock outlives it by a moment: whoever leaves last sees to the end', async () => {
  const directory = await folderWithData();
  const first = await startElsewhere(directory);
  await untilWatched(first.said);
  process.kill(watcherPid(directory), 'SIGKILL');
  // As its connection may hold it until Postgres notices: that of a killed process is not gone at once.
  const { client: dying } = await observe(first.said);
  await vi.waitFor(
    async () =>
      expect(
        (await dying.query('select pg_try_advisory_lock($1, $2) as held', WATCHED)).rows,
      ).toEqual([{ held: true }]),
    { ...LONGEST_WAIT, interval: 50 },
  );
  const second = await startHere(directory);
  await killElsewhere(first);
  await dying.end();
  await vi.waitFor(
    async () =>
      expect(
        await ask(
          second.url,
          `select from pg_locks where locktype = 'advisory' and objid = ${WATCHED[1]}`,
        ),
      ).toEqual([]),
    { ...LONGEST_WAIT, interval: 50 },
  );
  await second.release({ untilStopped: true });
  await untilNothingRuns(directory);
});
