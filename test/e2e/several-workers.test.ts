/** Several processes on one database share the windows; one that is killed or paused takes nothing away and adds nothing. */
import { expect, test } from 'vitest';
import { until, untilMoment } from '../support/condition.ts';
import { daysAgo } from '../support/days.ts';
import { closeGate } from '../support/gate.ts';
import { expectExact } from '../support/multiset.ts';
import type { Program } from '../support/program.ts';
import { askedAgain } from '../support/requests.ts';
import { type Scene, setScene } from '../support/scene.ts';

/** Days that a run with `since` at the first of them finds due: closed ones, up to yesterday. */
const DAYS = daysAgo(6, 1);
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

const run = (scene: Scene) => scene.start(['run'], ENVIRONMENT);

/** The leases that hold, with the process of each. */
const leases = ({ database }: Scene) =>
  database.query<{ id: string; pid: number }>(
    `select lease_id::text as id, split_part(lease_owner, ':', 2)::int as pid from daywalk.windows
      where lease_expires > clock_timestamp()`,
  );

const ownersOf = async (scene: Scene): Promise<number[]> => [
  ...new Set((await leases(scene)).map(({ pid }) => pid)),
];

/** A scene in which nobody gets an answer from request `first` on, until two processes hold windows and `then` is so. */
async function whereBothBegin(
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
function untilTakenFrom({ database }: Scene, ...programs: readonly Program[]): Promise<unknown> {
  return untilMoment('others to take the windows over', async () => {
    const rows = await database.query(
      `update daywalk.windows set lease_expires = clock_timestamp() - interval '1 s'
        where split_part(lease_owner, ':', 2) = any ($1::text[]) returning window_id`,
      [programs.map(({ pid }) => String(pid))],
    );
    return rows.length === 0;
  });
}

test('two processes share the work: no page is asked for twice (I2)', async () => {
  const { scene, both } = await whereBothBegin(1, [5, 20]);
  for (const { ended } of both) expect(await ended).toMatchObject({ code: 0 });
  await expectExact(scene, DAYS);
  expect(askedAgain(scene.api.requests)).toEqual(new Map());
});

test('no process claims with a lease id that another one had (I2)', async () => {
  const scene = await setScene({ faults: [{ kind: 'stall' }] });
  const held = async (program: Program) =>
    (await leases(scene)).flatMap(({ id, pid }) => (pid === program.pid ? [id] : []));
  const claimed = async () => {
    const program = run(scene);
    await until('two windows to be held', async () => (await held(program)).length >= 2);
    program.kill('SIGKILL');
    await program.ended;
    const ids = await held(program);
    await scene.database.query(
      'update daywalk.windows set lease_id = null, lease_owner = null, lease_expires = null',
    );
    return ids;
  };
  const first = await claimed();
  const second = await claimed();
  expect(second.filter((id) => first.includes(id))).toEqual([]);
});

test('of four, one is killed and one paused past its lease; the paused one stores nothing afterwards (I2, I7)', async () => {
  const { scene, both } = await whereBothBegin(12, [20, 60], async ({ database }) => {
    const pages = await database.query('select from daywalk.pages');
    return pages.length > 5;
  });
  const [killed, paused] = both;
  paused.kill('SIGSTOP');
  killed.kill('SIGKILL');
  await killed.ended;
  const others = [run(scene), run(scene)];
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
});

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
