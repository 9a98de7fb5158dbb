/** A backfill that is told to stop: how it ends, and what is stored then. */
import { expect } from 'vitest';
import { startStopwatch } from '../support/awake.ts';
import { until } from '../support/condition.ts';
import { expectExact } from '../support/multiset.ts';
import { askedAgain, pagesStored } from '../support/requests.ts';
import { type Scene, setScene } from '../support/scene.ts';

export const DAYS = { from: '2026-03-01', to: '2026-03-02' };
export const STREAMS = ['events'];
export const EVENTS = { DAYWALK_STREAMS: STREAMS.join(), DAYWALK_CONCURRENCY: '2' };
export const BACKFILL = ['backfill', '--from', DAYS.from, '--to', DAYS.to];

export const leases = ({ database }: Scene) =>
  database.query<{ lease_owner: string }>(
    'select window_id, lease_owner from daywalk.windows where lease_id is not null',
  );

/** From the first number on, requests get no answer. */
export const stallFrom = (first: number) => ({
  faults: [{ kind: 'stall', when: ({ number }: { number: number }) => number >= first }] as const,
});

/**
 * Stops it in the middle of pages, and starts it again (I1).
 * @param meanwhile looks at what is stored between the two.
 */
export async function expectStopped(
  signal: 'SIGTERM' | 'SIGINT',
  code: number,
  meanwhile: (scene: Scene) => Promise<void> = async () => {},
): Promise<void> {
  const scene = await setScene(stallFrom(10));
  const program = scene.start(BACKFILL, EVENTS);
  // Two windows at a time: both wait for a page that never comes.
  await scene.api.received(11);
  await until('pages', async () => (await pagesStored(scene.database)).size > 3);
  const elapsed = startStopwatch();
  program.kill(signal);
  const ended = await program.ended;
  expect(elapsed()).toBeLessThan(5000);
  expect(ended).toMatchObject({ code, stdout: '' });
  const end = `daywalk: stopped by ${signal}\\n {2}Stored in this run: \\d+ of \\d+ windows, [1-9]\\d* records .*\\n {2}To go on: the same command.*\\n$`;
  expect(ended.stderr).toMatch(new RegExp(end));
  expect(ended.stderr).not.toMatch(/^\s+at /m);
  expect(await leases(scene)).toEqual([]);
  expect(await scene.database.query('select outcome from daywalk.runs')).toEqual([
    { outcome: 'interrupted' },
  ]);

  await meanwhile(scene);
  const stored = await pagesStored(scene.database);
  scene.api.set({ faults: [] });
  const before = scene.api.requests.length;
  await scene.succeedHere(BACKFILL, EVENTS);
  await expectExact(scene, DAYS, STREAMS);
  const again = askedAgain(scene.api.requests.slice(before), scene.api.requests.slice(0, before));
  expect([...again.values()].flat().filter((page) => stored.has(page))).toEqual([]);
}
