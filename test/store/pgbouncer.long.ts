/** What `pgbouncer` has no time for: programs, where it has two exporters in one process, and a password that PgBouncer refuses. */
import { expect, onTestFinished } from 'vitest';
import { audit } from '../support/audit.ts';
import { expectExact } from '../support/multiset.ts';
import { startPgBouncer } from '../support/pgbouncer.ts';
import { setScene } from '../support/scene.ts';
import { testWith } from '../support/tool.ts';

const DAYS = { from: '2026-03-01', to: '2026-03-02' };

testWith(
  ['pgbouncer'],
  'two programs at once share two server connections behind PgBouncer, and store everything once (D21 to D25)',
  async () => {
    const scene = await setScene();
    const bouncer = await startPgBouncer(scene.database.url, 2);
    onTestFinished(() => bouncer.stop());
    const backfill = () =>
      scene.run(['backfill', '--from', DAYS.from, '--to', DAYS.to], {
        DATABASE_URL: bouncer.through(scene.database.url),
      });
    for (const ended of await Promise.all([backfill(), backfill()]))
      expect(ended, ended.stderr).toMatchObject({ code: 0 });
    await expectExact(scene, DAYS);
    expect(await audit(scene.database)).toEqual([]);
    expect((await bouncer.figures()).transactions).toBeGreaterThan(50);
  },
);

testWith(
  ['pgbouncer'],
  'a password that PgBouncer refuses: exit code 2 at once, as without it',
  async () => {
    const scene = await setScene();
    const bouncer = await startPgBouncer(scene.database.url, 2);
    onTestFinished(() => bouncer.stop());
    const url = new URL(bouncer.through(scene.database.url));
    if (url.password === '') return; // It asks for none.
    url.password = 'CANARY';
    const ended = await scene.run(['status'], { DATABASE_URL: url.href });
    expect(ended, ended.stderr).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toMatch(/authentication failed[\s\S]*password[\s\S]*DATABASE_URL/);
    expect(ended.stderr).not.toContain('CANARY');
  },
);
