/** A worker and its database lose sight of each other: others take its windows over, and what comes through late changes nothing. */
import { expect, onTestFinished, test } from 'vitest';
import { audit } from '../support/audit.ts';
import { until } from '../support/condition.ts';
import { daysAgo } from '../support/days.ts';
import { expectExact } from '../support/multiset.ts';
import { atNight } from '../support/night.ts';
import type { Program } from '../support/program.ts';
import { type Scene, setScene } from '../support/scene.ts';
import { type StepProxy, startStepProxy } from '../support/step-proxy.ts';

const DAYS = daysAgo(2, 1);
const ENVIRONMENT = {
  get DAYWALK_SINCE() {
    return DAYS.from;
  },
  DAYWALK_SETTLE: '0s',
  DAYWALK_CONCURRENCY: '2',
};

/** A worker that is cut off in the middle of its windows, with a page statement of its own on the way. */
async function cutOff(
  more: Readonly<Record<string, string>> = {},
): Promise<{ scene: Scene; proxy: StepProxy; lonely: Program }> {
  const scene = await setScene({ latency: [5, 20], eventsPerDay: 150 });
  let pages = 0;
  let apart = false;
  const proxy = await startStepProxy(scene.database.url, (statement, moment) => {
    if (moment === 'before' && /daywalk\.store_page/.test(statement)) pages += 1;
    if (pages < 4 || apart) return 'pass';
    // This statement has been taken, and goes no further until the network is back.
    apart = true;
    proxy.isolate(true);
    return 'pass';
  });
  onTestFinished(() => proxy.close());
  const lonely = scene.start(['run'], { ...ENVIRONMENT, ...more, DATABASE_URL: proxy.url });
  await until('the partition', () => apart);
  return { scene, proxy, lonely };
}

/** Another worker does everything, once the leases of the one that is cut off have ended. */
async function takeOver(scene: Scene): Promise<void> {
  const other = scene.start(['run'], ENVIRONMENT);
  await until('the leases to be taken', async () => {
    await scene.database.query(
      `update daywalk.windows set lease_expires = 'epoch' where lease_owner not like '%:' || $1 || ':%'`,
      [String(other.pid)],
    );
    return !other.running();
  });
  expect(await other.ended).toMatchObject({ code: 0 });
}

/** Everything that anybody has written. */
async function rows({ database }: Scene): Promise<unknown> {
  return {
    windows: await database.query('select * from daywalk.windows order by window_id'),
    walks: await database.query('select * from daywalk.walks order by walk_id'),
    pages: await database.query(
      'select walk_id, page_no, sha256, fetched_at from daywalk.pages order by 1, 2',
    ),
  };
}

atNight(
  'a worker that comes back finds its windows done by another, and writes nothing about them (I2)',
  async () => {
    const { scene, proxy, lonely } = await cutOff({
      // It waits for the network however long the other takes.
      DAYWALK_STATEMENT_TIMEOUT: '5m',
      DAYWALK_DATABASE_PATIENCE: '5m',
    });
    await takeOver(scene);
    const before = await rows(scene);
    expect(lonely.running()).toBe(true);
    proxy.isolate(false);
    expect(await lonely.ended).toMatchObject({ code: 0 });
    expect(lonely.said()).toMatch(/another worker holds window/);
    expect(await rows(scene)).toEqual(before);
    await expectExact(scene, DAYS);
    expect(await audit(scene.database)).toEqual([]);
  },
);

test('a worker that gave up says so (exit code 5), and its statements have no effect when they arrive at last (I1, I2)', async () => {
  const { scene, proxy, lonely } = await cutOff({
    // Long enough for a machine that stands still before the partition.
    DAYWALK_STATEMENT_TIMEOUT: '5s',
    DAYWALK_DATABASE_PATIENCE: '5s',
  });
  const [ended] = await Promise.all([lonely.ended, takeOver(scene)]);
  expect(ended).toMatchObject({ code: 5 });
  expect(lonely.said()).toMatch(/Postgres did not answer within 5000 ms|gave up on the database/);
  const before = await rows(scene);
  proxy.isolate(false);
  await until('what was held to arrive', () => proxy.open() === 0);
  expect(await rows(scene)).toEqual(before);
  await expectExact(scene, DAYS);
  expect(await audit(scene.database)).toEqual([]);
});
