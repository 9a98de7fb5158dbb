/** The same as e2e/away-and-refused.test.ts of more verbs, and more that is wrong from the first request on. */
import { expect, test } from 'vitest';
import { CLOSED_PORT } from '../support/ports.ts';
import { setScene } from '../support/scene.ts';
import { BACKFILL, expectAway, expectCleanFailure, expectNewer } from './clean-failures.ts';

test.each([401, 403])(
  'the key is refused with %i: exit code 4 at once, no second try; the next run goes on',
  async (status) => {
    const scene = await setScene({ faults: [{ kind: 'status', status }] });
    const ended = await scene.run(BACKFILL);
    await expectCleanFailure(scene, ended, 4, [String(status), 'DAYWALK_API_KEY']);
    // Each of the four that were under way asked once.
    expect(scene.api.counts.requests).toBeLessThanOrEqual(4);
    scene.api.set({ faults: [] });
    await scene.succeed(BACKFILL);
  },
);

test.each([[BACKFILL], [['status']], [['gaps']], [['migrate']]])(
  'a database that is away: exit code 5, after no more than its patience (%s)',
  expectAway,
);

test.each([['status'], ['gaps'], ['migrate']])(
  'a database that is newer than the code: %s refuses it with exit code 2',
  expectNewer,
);

test('a base URL with a wrong path: exit code 2', async () => {
  const scene = await setScene();
  const ended = await scene.run(BACKFILL, { DAYWALK_API_URL: `${scene.api.url}/wrong` });
  await expectCleanFailure(scene, ended, 2, ['404', '/wrong/api/events', 'api.url']);
});

test('nobody listens: exit code 5 after the time that was allowed', async () => {
  const scene = await setScene();
  const url = `http://127.0.0.1:${CLOSED_PORT}`;
  const ended = await scene.run(BACKFILL, { DAYWALK_API_URL: url, DAYWALK_RETRY_TIME: '1s' });
  await expectCleanFailure(scene, ended, 5, ['ECONNREFUSED', url, /\d+ attempts in \d+ s/]);
});

test('a wrong database password: exit code 2', async () => {
  const scene = await setScene();
  const url = new URL(scene.database.url);
  url.password = 'wrong-password-1234';
  const ended = await scene.run(BACKFILL, { DATABASE_URL: url.href });
  if (ended.code === 0) return; // This server asks for no password.
  expect(ended.stderr).not.toContain(url.password);
  await expectCleanFailure(scene, ended, 2, [
    /(?:password|SASL) authentication failed/,
    'DATABASE_URL',
  ]);
  expect(scene.api.counts.requests).toBe(0);
});
