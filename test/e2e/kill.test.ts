/** kill -9 at random moments, again and again: nothing is lost, nothing is doubled, hardly anything is asked for twice. */
import { expect, test } from 'vitest';
import { dice } from '../support/dice.ts';
import { expectExact } from '../support/multiset.ts';
import { askedAgain, withoutSeams } from '../support/requests.ts';
import { type Scene, setScene } from '../support/scene.ts';

const KILLS = 12;
const DAYS = { from: '2026-03-01', to: '2026-03-06' };
const SEED = Number(process.env.E2E_SEED ?? Math.floor(Math.random() * 2 ** 31));

/** What a dead worker's leases come to by themselves, at once. */
async function expireLeases({ database }: Scene): Promise<void> {
  await database.query(
    `update daywalk.windows set lease_expires = clock_timestamp() - interval '1 s' where lease_id is not null`,
  );
}

test(`a backfill killed ${KILLS} times is whole in the end (I1, I2, I3; seed ${SEED})`, async () => {
  console.log(`kill.test.ts: E2E_SEED=${SEED}`);
  const random = dice(SEED);
  const scene = await setScene({ latency: [0, 12], seed: SEED });
  const args = ['backfill', '--from', DAYS.from, '--to', DAYS.to];
  let killed = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    const before = scene.api.requests.length;
    const program = scene.start(args);
    // A random number of requests, and then a random number of round trips: anywhere between two bytes.
    await Promise.race([scene.api.received(before + Math.floor(random() * 6)), program.ended]);
    for (let trips = Math.floor(random() * 30); trips > 0 && program.running(); trips--)
      await scene.database.query('select 1');
    program.kill('SIGKILL');
    const { signal } = await program.ended;
    if (signal === 'SIGKILL') killed += 1;
    expectAtMostOneAgain(scene, before);
    await expireLeases(scene);
  }
  expect(killed, 'the backfill was over too soon').toBeGreaterThan(KILLS / 2);
  const before = scene.api.requests.length;
  await scene.succeed(args);
  expectAtMostOneAgain(scene, before);
  await expectExact(scene, DAYS);
  expect(
    await scene.database.query(
      `select window_id from daywalk.walks join daywalk.windows using (window_id)
        where kind = 'day' and (number > 1 or outcome <> $1)`,
      ['proven'],
    ),
    'a kill is no reason for another walk',
  ).toEqual([]);
});

/** One process asks for no page twice, and only for that one page of a window again which a kill left uncommitted. */
function expectAtMostOneAgain({ api }: Scene, before: number): void {
  for (const [window, pages] of askedAgain(
    withoutSeams(api.requests.slice(before)),
    api.requests.slice(0, before),
  ))
    expect(
      pages.length,
      `pages of ${window} asked for again: ${pages.join(', ')}`,
    ).toBeLessThanOrEqual(1);
}
