/** Postgres is stopped, killed or replaced in the middle of a run: the run goes on when it is back, or ends in time (I1, I2, I4). */
import { expect } from 'vitest';
import { audit } from '../support/audit.ts';
import { CLUSTER, databaseIn, type StopMode, startCluster } from '../support/cluster.ts';
import { until, untilMoment } from '../support/condition.ts';
import { closeGate } from '../support/gate.ts';
import { layLine } from '../support/line.ts';
import { expectExact } from '../support/multiset.ts';
import { type Scene, setScene } from '../support/scene.ts';
import { testWith } from '../support/tool.ts';

const DAYS = { from: '2026-03-01', to: '2026-03-04' };
const BACKFILL = ['backfill', '--from', DAYS.from, '--to', DAYS.to];
/** So that a run lasts long enough to be disturbed. */
const SLOW = { latency: 10 };

const pages = async ({ database }: Scene): Promise<number> =>
  (await database.query<{ n: number }>('select count(*)::int as n from daywalk.pages'))[0]?.n ?? 0;

for (const mode of ['fast', 'immediate'] satisfies StopMode[])
  testWith(
    CLUSTER,
    `Postgres is stopped (${mode}) three times in mid-run and started again: nothing lost, nothing doubled`,
    async () => {
      const cluster = await startCluster();
      const scene = await setScene(SLOW, await databaseIn(cluster));
      const program = scene.start(BACKFILL, { DAYWALK_DATABASE_PATIENCE: '60s' });
      for (const page of [5, 20, 35]) {
        await untilMoment(`page ${page}`, async () => (await pages(scene)) >= page);
        await cluster.stop(mode);
        await cluster.start();
      }
      const ended = await program.ended;
      expect(ended, ended.stderr).toMatchObject({ code: 0 });
      expect(ended.stderr).toMatch(/the database cannot be used now, trying again/);
      await expectExact(scene, DAYS);
      expect(await audit(scene.database)).toEqual([]);
      await cluster.stop('fast');
    },
  );

testWith(
  CLUSTER,
  'Postgres stays away: exit code 5 after the patience, and the next run goes on where this one stopped',
  async () => {
    const cluster = await startCluster();
    const scene = await setScene(SLOW, await databaseIn(cluster));
    const program = scene.start(BACKFILL, {
      DAYWALK_DATABASE_PATIENCE: '2s',
      DAYWALK_LEASE: '5s',
    });
    await untilMoment('some pages', async () => (await pages(scene)) >= 8);
    await cluster.stop('immediate');
    const at = performance.now();
    const ended = await program.ended;
    expect(ended, ended.stderr).toMatchObject({ code: 5, stdout: '' });
    expect(performance.now() - at).toBeLessThan(15_000);
    expect(ended.stderr).toMatch(
      /^daywalk: gave up on the database: .*\n {2}Is Postgres running, and is DATABASE_URL right\?/m,
    );
    await cluster.start();
    expect(await pages(scene)).toBeGreaterThanOrEqual(8);
    await scene.succeed(BACKFILL, { DAYWALK_LEASE: '5s' });
    await expectExact(scene, DAYS);
    expect(await audit(scene.database)).toEqual([]);
    await cluster.stop('fast');
  },
);

const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
const LATELY = { from: day(2), to: day(1) };
const WORKER = {
  DAYWALK_SINCE: LATELY.from,
  DAYWALK_SETTLE: '0s',
  DAYWALK_SCHEDULE: '* * * * *',
  DAYWALK_DATABASE_PATIENCE: '1s',
};

testWith(
  CLUSTER,
  'the worker waits for a Postgres that is away when it starts, longer than its patience, and exports',
  async () => {
    const cluster = await startCluster();
    const scene = await setScene({}, await databaseIn(cluster));
    await cluster.stop('fast');
    const worker = scene.start(['worker'], WORKER);
    // Waits grow: the sixth comes when the patience of a run would be over.
    await worker.saying(/(?:the database cannot be used now, trying again[\s\S]*){6}/);
    expect(worker.running()).toBe(true);
    await cluster.start();
    await worker.saying(/waiting for the next tick/);
    await expectExact(scene, LATELY);
    worker.kill('SIGTERM');
    expect(await worker.ended).toMatchObject({ code: 143 });
    await cluster.stop('fast');
  },
);

testWith(
  CLUSTER,
  'the worker outlives a Postgres that dies under it: the next tick goes on',
  async () => {
    const cluster = await startCluster();
    const scene = await setScene({ latency: 40 }, await databaseIn(cluster));
    const worker = scene.start(['worker'], WORKER);
    await untilMoment('some pages', async () => (await pages(scene)) >= 4);
    await cluster.stop('immediate');
    await worker.saying(/the run ended early; the next one goes on where it stopped/);
    await worker.saying(/waiting for the next tick/);
    expect(worker.running()).toBe(true);
    await cluster.start();
    const complete = async () =>
      (await scene.database.query(`select from daywalk.runs where outcome = 'done'`)).length;
    await until('a pass after the outage', async () => (await complete()) === 1, 80_000);
    await expectExact(scene, LATELY);
    expect(await audit(scene.database)).toEqual([]);
    worker.kill('SIGTERM');
    expect(await worker.ended).toMatchObject({ code: 143 });
    await cluster.stop('fast');
  },
);

testWith(
  CLUSTER,
  'failover to a promoted standby that lacks the last pages: page and checkpoint went back together, and are fetched again (D08)',
  async () => {
    const primary = await startCluster();
    const line = await layLine(primary.port);
    const database = await databaseIn(primary, line.over(primary.url('daywalk')));
    // Answers are held, so that neither the standby nor the primary comes too late.
    const [standbyGone, primaryGone] = [closeGate(), closeGate()];
    const respond = async ({ number }: { number: number }) => {
      if (number > 12) await standbyGone.passed;
      if (number > 32) await primaryGone.passed;
      return undefined;
    };
    const scene = await setScene({ respond }, database);
    const standby = await primary.standby();
    const program = scene.start(BACKFILL, {
      DAYWALK_DATABASE_PATIENCE: '60s',
      DAYWALK_LEASE: '5s',
    });
    await untilMoment('some pages', async () => (await pages(scene)) >= 6);
    // An asynchronous standby that lags: it stands still while the primary acknowledges more pages.
    await standby.ask('select pg_wal_replay_pause()');
    await standby.stop('fast');
    const seen = await pages(scene);
    standbyGone.open();
    await untilMoment(
      'pages that the standby will never see',
      async () => (await pages(scene)) >= seen + 6,
    );
    await primary.stop('immediate');
    line.cut();
    primaryGone.open();
    await standby.start();
    await standby.promote();
    line.leadTo(standby.port);
    const ended = await program.ended;
    expect(ended, ended.stderr).toMatchObject({ code: 0 });
    await expectExact(scene, DAYS);
    expect(await audit(scene.database)).toEqual([]);
    await line.close();
    await standby.stop('fast');
  },
);
