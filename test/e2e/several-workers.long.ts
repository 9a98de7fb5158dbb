/** What ./several-workers.test.ts leaves to the night: a process that comes back while another is at its windows, and two that take over. */
import { expect, test } from 'vitest';
import { untilMoment } from '../support/condition.ts';
import { expectExact } from '../support/multiset.ts';
import { setScene } from '../support/scene.ts';
import { DAYS, expectNothingOfPaused, run, untilTakenFrom } from './sharing.ts';

test('a paused process that comes back while another walks its windows stands down (I2)', async () => {
  const scene = await setScene({ latency: [10, 30] });
  const paused = run(scene);
  await untilMoment(
    'a page',
    async () => (await scene.database.query('select from daywalk.pages limit 1')).length,
  );
  paused.kill('SIGSTOP');
  const other = run(scene);
  await untilTakenFrom(scene, paused);
  expect(other.running()).toBe(true);
  paused.kill('SIGCONT');
  for (const { ended } of [paused, other]) expect(await ended).toMatchObject({ code: 0 });
  await expectExact(scene, DAYS);
});

test('of four, one is killed and one paused past its lease, and two others take over at once (I2, I7)', () =>
  expectNothingOfPaused(2));
