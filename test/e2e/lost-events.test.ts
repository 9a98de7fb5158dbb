/** A source that loses its events: they stay, everybody is told, and nothing takes the only copy away. */
import { expect, test } from 'vitest';
import { ALL, backfill, exported, shown, walkTwice } from './losing.ts';

test('700 events that vanish stay shown; exit code, webhook and status tell of it until it is accepted', async () => {
  const { scene, settings, told, day } = await exported();
  scene.api.remove(({ text }) => text.includes(`"${day}-`));
  const ended = await walkTwice(scene, settings);
  expect(ended, ended.stdout + ended.stderr).toMatchObject({ code: 3 });
  expect(ended.stdout).toContain(
    `The source does not show 700 of 700 records of events ${day} any more; they are kept.`,
  );
  expect(await shown(scene, day)).toEqual({ shown: 700, gone: 700 });
  expect(told().at(-1)?.problems).toContainEqual({
    text: `events: the source does not show 700 of 700 records of ${day} any more; they are kept here. Find out who deleted them`,
    command: 'daywalk accept --stream events',
  });
  const status = await scene.here(['status'], settings);
  expect(status.stdout).toContain(`the source does not show 700 of 700 records of ${day} any more`);

  // The walks that found nothing may go; the one that holds the only copy stays.
  const pruned = await scene.here(['prune', '--superseded', '--yes'], settings);
  expect(pruned, pruned.stdout + pruned.stderr).toMatchObject({ code: 0 });
  expect(await shown(scene, day)).toEqual({ shown: 700, gone: 700 });

  const accept = () => scene.succeedHere(['accept', '--stream', 'events'], settings);
  expect((await accept()).stdout).toMatch(/^events: accepted\. From the next run on, days that/);
  expect((await accept()).stdout).toMatch(/^events: accepted, though no day had failed /);
  const accepted = await scene.here(backfill(...ALL), settings);
  expect(accepted, accepted.stdout + accepted.stderr).toMatchObject({ code: 0 });
  expect(told().map(({ event }) => event)).toEqual(['failing', 'recovered']);
  expect(await shown(scene, day)).toEqual({ shown: 700, gone: 700 });
});
