/** Several processes on one database, in a scene where both have begun before either gets an answer. */
import { expect } from 'vitest';
import { until, untilMoment } from '../support/condition.ts';
import { daysAgo } from '../support/days.ts';
import { closeGate } from '../support/gate.ts';
import { expectExact } from '../support/multiset.ts';
import type { Program } from '../support/program.ts';
import { type Scene, setScene } from '../support/scene.ts';

/** Days that a run with `since` at the first of them finds due: closed ones, up to yesterday. */
export const DAYS = daysAgo(3, 1);
const ENVIRONMENT = {
  get DAYWALK_SINCE() {
    return DAYS.from;
  },
  DAYWALK_SETTLE: '0s',
  DAYWALK_CONCURRENCY: '2',
  // Who was paused goes on with the statement that was under way, however long the others took.
  DAYWALK_STATEMENT_TIMEOUT: '5m',
  DAYWALK_DATABASE_PATIENCE: '5m',
};

export const run = (scene: Scene) => scene.start(['run'], ENVIRONMENT);

/** The leases that hold, with the process of each. */
export const leases = ({ database }: Scene) =>
  database.query<{ id: string; pid: number }>(
    `select lease_id::text as id, split_part(lease_owner, ':', 2)::int as pid from daywalk.windows
      where lease_expires > clock_timestamp()`,
  );

const ownersOf = async (scene: Scene): Promise<number[]> => [
  ...new Set((await leases(scene)).map(({ pid }) => pid)),
];

/** A scene in which nobody gets an answer from request `first` on, until two processes hold windows and `then` is so. */
export async function whereBothBegin(
  first: number,
  latency: [number, number],
  then: (scene: Scene) => Promise<boolean> = async () => true,
): Promise<{ scene: Scene; both: readonly [Program, Program] }> {
  const gate = closeGate();
  const respond = ({ number }: { number: number }) =>
    number < first ? undefined : gate.passed.then(() => undefined);
  const scene = await setScene({ latency, respond });
  const both = [run(scene), run(scene)] as const;
  await until(
    'both to hold windows',
    async () => (await ownersOf(scene)).length === 2 && (await then(scene)),
  );
  gate.open();
  return { scene, both };
}

/**
 * Ends the leases of these processes, as time would, until others have claimed all their windows. Again and again,
 * because a statement that was under way when its process was stopped still renews one.
 */
export function untilTakenFrom(
  { database }: Scene,
  ...programs: readonly Program[]
): Promise<unknown> {
  return untilMoment('others to take the windows over', async () => {
    const rows = await database.query(
      `update daywalk.windows set lease_expires = clock_timestamp() - interval '1 s'
        where split_part(lease_owner, ':', 2) = any ($1::text[]) returning window_id`,
      [programs.map(({ pid }) => String(pid))],
    );
    return rows.length === 0;
  });
}

/** Of two, one is killed and one paused; `takers` others do the work, and who was paused then adds nothing (I2, I7). */
export async function expectNothingOfPaused(takers: number): Promise<void> {
  const { scene, both } = await whereBothBegin(12, [20, 60], async ({ database }) => {
    const pages = await database.query('select from daywalk.pages');
    return pages.length > 5;
  });
  const [killed, paused] = both;
  paused.kill('SIGSTOP');
  killed.kill('SIGKILL');
  await killed.ended;
  const others = Array.from({ length: takers }, () => run(scene));
  await untilTakenFrom(scene, paused, killed);
  for (const { ended } of others) expect(await ended).toMatchObject({ code: 0 });
  await expectExact(scene, DAYS);
  const stored = () =>
    scene.database.query(
      'select walk_id, page_no, start, records, sha256, fetched_at from daywalk.pages order by 1, 2',
    );
  const windows = () => scene.database.query('select * from daywalk.windows order by window_id');
  const [pagesBefore, windowsBefore] = [await stored(), await windows()];
  expect(await ownersOf(scene)).toEqual([]);

  paused.kill('SIGCONT');
  const ended = await paused.ended;
  expect(ended).toMatchObject({ code: 0 });
  expect(ended.stderr).toMatch(/another worker holds window/);
  expect(await stored()).toEqual(pagesBefore);
  expect(await windows()).toEqual(windowsBefore);
  await expectExact(scene, DAYS);
}
