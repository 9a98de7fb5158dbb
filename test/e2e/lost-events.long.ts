/** What ./lost-events.test.ts leaves to the night: so few lost events that they are no failure. */
import { expect, test } from 'vitest';
import { exported, shown, walkTwice } from './losing.ts';

test('nine of 700 that vanish stay shown; status tells of it, and it is no failure', async () => {
  const { scene, settings, day } = await exported();
  // 100, 110 … 180.
  scene.api.remove(({ text }) => text.includes(`"${day}-1`) && /-1[0-8]0"/.test(text));
  const ended = await walkTwice(scene, settings);
  expect(ended, ended.stdout + ended.stderr).toMatchObject({ code: 0 });
  expect(await shown(scene, day)).toEqual({ shown: 700, gone: 9 });
  const status = await scene.run(['status'], settings);
  expect(status.stdout).toMatch(
    /9 records of 1 day are not shown by the source any more, and kept/,
  );
});
