/** Behind PgBouncer in transaction mode, where a statement may run on any server connection: the short form of `npm run e2e:pgbouncer`. */
import { expect, onTestFinished } from 'vitest';
import { audit } from '../support/audit.ts';
import { exportHere } from '../support/export-here.ts';
import { expectExact } from '../support/multiset.ts';
import { startPgBouncer } from '../support/pgbouncer.ts';
import { setScene } from '../support/scene.ts';
import { testWith } from '../support/tool.ts';

const DAYS = { from: '2026-03-01', to: '2026-03-02' };

testWith(
  ['pgbouncer'],
  'two exporters at once share two server connections behind PgBouncer, and store everything once (D21 to D25)',
  async () => {
    const scene = await setScene({ eventsPerDay: 100 });
    const bouncer = await startPgBouncer(scene.database.url, 2);
    onTestFinished(() => bouncer.stop());
    const url = bouncer.through(scene.database.url);
    const exporting = () => exportHere(scene.api, url, DAYS, 'missing');
    for (const report of await Promise.all([exporting(), exporting()]))
      expect(report).toMatchObject({ failures: [], stopped: [], notInStep: [] });
    await expectExact(scene, DAYS);
    expect(await audit(scene.database)).toEqual([]);
    expect((await bouncer.figures()).transactions).toBeGreaterThan(50);
  },
);
