/** What ./docs-commands.test.ts leaves to the night: a whole archive is served, and copied by a second daywalk. */
import { expect, test } from 'vitest';
import { backfillHere } from '../support/backfill-here.ts';
import { createTestDatabase } from '../support/database.ts';
import { freePort } from '../support/ports.ts';
import { runProgram } from '../support/program.ts';
import { setScene } from '../support/scene.ts';
import { linesOf, SETTLE } from './run-lines.ts';

const KEY = 'key-of-the-archive-91b';

test('docs/serving.md: an archive is served and copied', async () => {
  const scene = await setScene({ eventsPerDay: 20 });
  for (const [from, to] of [
    ['2025-01-01', '2025-01-02'],
    ['2026-03-01', '2026-03-01'],
  ] as const)
    await backfillHere(scene, { from, to }, { environment: SETTLE });
  const [serve = [], copy = []] = linesOf('docs/serving.md');
  const port = await freePort();
  const server = scene.start(serve, {
    ...SETTLE,
    DAYWALK_ARCHIVE_KEY: KEY,
    DAYWALK_ARCHIVE_LISTEN: `127.0.0.1:${port}`,
  });
  await server.saying(/^serving events, smart-event at http:\/\/127\.0\.0\.1:\d+$/m);
  const database = await createTestDatabase();
  const args = copy.map((word) => (word === '2025-12-31' ? '2025-01-02' : word));
  expect(args).not.toEqual(copy);
  const ended = await runProgram(args, {
    environment: {
      DAYWALK_API_URL: `http://127.0.0.1:${port}`,
      DAYWALK_API_KEY: KEY,
      DATABASE_URL: database.url,
    },
  });
  // All but the cuts at both ends, which reach into days that the archive does not have.
  expect(ended, ended.stderr).toMatchObject({ code: 3 });
  expect(ended.stderr.match(/the window failed/g)).toHaveLength(4);
  expect(ended.stderr.match(/"kind":"cut".*answered 409/g)).toHaveLength(4);
  const days = `select day::text as day, count(*)::int as events from daywalk.events where day < '2026-01-01' group by day order by day`;
  expect(await database.query(days)).toEqual(await scene.database.query(days));
});
