/** More than e2e/refused-key.test.ts: a key that is refused with 403, and the verbs that people ask beside a refused worker. */
import { expect, test } from 'vitest';
import { expectGoingOn, REFUSED, REFUSED_IN_LAST_RUN, setRefused } from './refusals.ts';

test('refused with 403 it goes on as soon as its file has another key', () => expectGoingOn(403));

test('doctor asks beside a refused worker, and gaps says what is in the way', async () => {
  const { scene, environment, start } = await setRefused();
  const worker = start();
  await worker.saying(REFUSED);
  const before = scene.api.counts.requests;
  expect(await scene.run(['doctor'], environment)).toMatchObject({ code: 4 });
  expect(scene.api.counts.requests).toBeGreaterThan(before);
  expect((await scene.run(['gaps'], environment)).stdout).toMatch(REFUSED_IN_LAST_RUN);
  worker.kill('SIGTERM');
  await worker.ended;
});
