/** SIGTERM and SIGINT: out within five seconds, the checkpoint safe, the leases given back. */
import { expect, test } from 'vitest';
import { startStopwatch } from '../support/awake.ts';
import { until } from '../support/condition.ts';
import { closeGate } from '../support/gate.ts';
import { expectExact } from '../support/multiset.ts';
import { askedAgain, pagesStored } from '../support/requests.ts';
import { type Scene, setScene } from '../support/scene.ts';

const DAYS = { from: '2026-03-01', to: '2026-03-04' };
const BACKFILL = ['backfill', '--from', DAYS.from, '--to', DAYS.to];

const leases = ({ database }: Scene) =>
  database.query<{ lease_owner: string }>(
    'select window_id, lease_owner from daywalk.windows where lease_id is not null',
  );

/** From the first number on, requests get no answer. */
const stallFrom = (first: number) => ({
  faults: [{ kind: 'stall', when: ({ number }: { number: number }) => number >= first }] as const,
});

test.each([
  ['SIGTERM', 143],
  ['SIGINT', 130],
] as const)(
  '%s in the middle of pages: exit code %i, and a second start asks for what is missing only (I1)',
  async (signal, code) => {
    const scene = await setScene(stallFrom(14));
    const program = scene.start(BACKFILL);
    // Four windows at a time: all of them wait for a page that never comes.
    await scene.api.received(17);
    await until('pages', async () => (await pagesStored(scene.database)).size > 3);
    const elapsed = startStopwatch();
    program.kill(signal);
    const ended = await program.ended;
    expect(elapsed()).toBeLessThan(5000);
    expect(ended).toMatchObject({ code, stdout: '' });
    const end = `daywalk: stopped by ${signal}\\n {2}Stored in this run: \\d+ of \\d+ windows, [1-9]\\d* records .*\\n {2}To go on: daywalk ${BACKFILL.join(' ')}\\n$`;
    expect(ended.stderr).toMatch(new RegExp(end));
    expect(ended.stderr).not.toMatch(/^\s+at /m);
    expect(await leases(scene)).toEqual([]);
    expect(await scene.database.query('select outcome from daywalk.runs')).toEqual([
      { outcome: 'interrupted' },
    ]);

    expect((await scene.succeed(['status'])).stdout).toMatch(
      /^last run: backfill, .* stopped after .*: [1-9][\d,]* records received$/m,
    );
    expect((await scene.run(['gaps'])).stdout).toContain(
      'begun, not proven yet; the next run goes on with what is stored',
    );

    const stored = await pagesStored(scene.database);
    scene.api.set({ faults: [] });
    const before = scene.api.requests.length;
    await scene.succeed(BACKFILL);
    await expectExact(scene, DAYS);
    const again = askedAgain(scene.api.requests.slice(before), scene.api.requests.slice(0, before));
    expect([...again.values()].flat().filter((page) => stored.has(page))).toEqual([]);
  },
);

test('a second signal leaves at once, and the first alone waits no longer than five seconds', async () => {
  const scene = await setScene();
  const client = await scene.database.pool.connect();
  try {
    const stuck = async () => {
      const gate = closeGate();
      scene.api.set({ respond: () => gate.passed.then(() => undefined) });
      const program = scene.start(BACKFILL, { DAYWALK_LEASE: '5s' });
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
  await scene.succeed(BACKFILL);
  await expectExact(scene, DAYS);
});

test('a stop while the program starts is clean, too', async () => {
  const scene = await setScene(stallFrom(1));
  const program = scene.start(BACKFILL);
  await scene.api.received(1);
  program.kill('SIGTERM');
  expect(await program.ended).toMatchObject({ code: 143 });
  expect(await leases(scene)).toEqual([]);
});
