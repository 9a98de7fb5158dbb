/** `DATABASE_URL` with several hosts: a run goes on at the next one after a failover, and `doctor` tells how each stands. */
import { expect } from 'vitest';
import { audit } from '../support/audit.ts';
import { CLUSTER, databaseIn, startCluster } from '../support/cluster.ts';
import { untilMoment } from '../support/condition.ts';
import { layLine } from '../support/line.ts';
import { expectExact } from '../support/multiset.ts';
import { setScene } from '../support/scene.ts';
import { testWith } from '../support/tool.ts';

const DAYS = { from: '2026-03-01', to: '2026-03-02' };
const BACKFILL = ['backfill', '--from', DAYS.from, '--to', DAYS.to];
const PASSWORD = 'never-to-be-printed';

testWith(
  CLUSTER,
  'a run whose primary dies goes on at the promoted standby, and doctor tells which host takes writes (I1, I4)',
  async () => {
    const primary = await startCluster();
    // For the test itself, which looks at whoever is the primary.
    const line = await layLine(primary.port);
    const scene = await setScene(
      { latency: 10 },
      await databaseIn(primary, line.over(primary.url('daywalk'))),
    );
    const standby = await primary.standby();
    await primary.ask(`alter system set synchronous_standby_names = '*'`);
    await primary.ask('select pg_reload_conf()');
    const hosts = `127.0.0.1:1,127.0.0.1:${standby.port},127.0.0.1:${primary.port}`;
    const environment = {
      DATABASE_URL: `postgres://postgres:${PASSWORD}@${hosts}/daywalk`,
      DAYWALK_DATABASE_PATIENCE: '60s',
      DAYWALK_LEASE: '5s',
    };
    const before = await scene.succeedHere(['doctor'], environment);
    expect(before.stdout).toMatch(
      /^! database host +127\.0\.0\.1:1 cannot be used: .*ECONNREFUSED/m,
    );
    expect(before.stdout).toMatch(
      new RegExp(
        `^✓ database host +127.0.0.1:${standby.port} takes none now: it is a standby$`,
        'm',
      ),
    );
    expect(before.stdout).toMatch(
      new RegExp(`^✓ database host +127.0.0.1:${primary.port} takes writes$`, 'm'),
    );
    const program = scene.start(BACKFILL, environment);
    await untilMoment('some pages', async () => {
      const [row] = await scene.database.query('select count(*)::int as n from daywalk.pages');
      return Number(row?.n) >= 8;
    });
    await primary.stop('immediate');
    line.cut();
    line.leadTo(standby.port);
    await standby.promote();
    const ended = await program.ended;
    expect(ended, ended.stderr).toMatchObject({ code: 0 });
    expect(ended.stderr).toMatch(/another host of the database takes writes now/);
    await expectExact(scene, DAYS);
    expect(await audit(scene.database)).toEqual([]);

    await standby.stop('fast');
    const away = await scene.here(['status'], environment);
    expect(away).toMatchObject({ code: 5, stdout: '' });
    expect(away.stderr).toMatch(
      /^daywalk: no host of DATABASE_URL takes writes \(127\.0\.0\.1:1: /,
    );
    for (const { port } of [primary, standby])
      expect(away.stderr).toContain(`127.0.0.1:${port}: the database cannot be reached`);
    for (const { stdout, stderr } of [before, ended, away])
      expect(stdout + stderr).not.toContain(PASSWORD);
    await line.close();
  },
);
