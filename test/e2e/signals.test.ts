/** SIGTERM and SIGINT: out within five seconds, the checkpoint safe, the leases given back. */
import { expect, test } from 'vitest';
import { startStopwatch } from '../support/awake.ts';
import { until } from '../support/condition.ts';
import { closeGate } from '../support/gate.ts';
import { expectExact } from '../support/multiset.ts';
import { setScene } from '../support/scene.ts';
import { BACKFILL, DAYS, EVENTS, expectStopped, leases, STREAMS, stallFrom } from './stopped.ts';

test('SIGTERM in the middle of pages: exit code 143, and a second start asks for what is missing only (I1)', () =>
  expectStopped('SIGTERM', 143));

test('a second signal leaves at once, and the first alone waits no longer than five seconds', async () => {
  const scene = await setScene();
  const client = await scene.database.pool.connect();
  try {
    const stuck = async () => {
      const gate = closeGate();
      scene.api.set({ respond: () => gate.passed.then(() => undefined) });
      const program = scene.start(BACKFILL, { ...EVENTS, DAYWALK_LEASE: '5s' });
      await until('the program to hold windows', async () =>
        (await leases(scene)).some(({ lease_owner }) => lease_owner.includes(`:${program.pid}:`)),
      );
      // Somebody locks the rows: whatever the program still wants to write waits.
      await client.query('begin');
      await client.query('select from daywalk.windows for update');
      gate.open();
      await until('a statement to wait for the rows', async () => {
        const waiting = await scene.database.query(
          `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        );
        return waiting.length > 0;
      });
      return program;
    };
    const twice = await stuck();
    const elapsed = startStopwatch();
    // Two of a kind that come together may be one; so one of each.
    twice.kill('SIGTERM');
    twice.kill('SIGINT');
    const { code } = await twice.ended;
    expect([130, 143]).toContain(code);
    // The first alone takes four and a half seconds.
    expect(elapsed()).toBeLessThan(4000);
    await client.query('rollback');
    await scene.database.query(
      `update daywalk.windows set lease_expires = clock_timestamp() - interval '1 s' where lease_id is not null`,
    );

    const once = await stuck();
    const elapsedOnce = startStopwatch();
    once.kill('SIGTERM');
    expect(await once.ended).toMatchObject({ code: 143 });
    // Four and a half, and what it takes to end on a busy machine; the statement itself is given up after half a minute.
    expect(elapsedOnce()).toBeLessThan(8000);
    await client.query('rollback');
  } finally {
    client.release(true);
  }
  await scene.database.query(
    `update daywalk.windows set lease_expires = clock_timestamp() - interval '1 s' where lease_id is not null`,
  );
  await scene.succeedHere(BACKFILL, EVENTS);
  await expectExact(scene, DAYS, STREAMS);
});

test('a stop while the program starts is clean, too', async () => {
  const scene = await setScene(stallFrom(1));
  const program = scene.start(BACKFILL);
  await scene.api.received(1);
  program.kill('SIGINT');
  expect(await program.ended).toMatchObject({ code: 130 });
  expect(await leases(scene)).toEqual([]);
});
