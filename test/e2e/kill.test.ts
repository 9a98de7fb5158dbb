/** kill -9 at random moments, again and again: nothing is lost, nothing is doubled, nothing stored is asked for twice. */
import { expect, test, vi } from 'vitest';
import { dice } from '../support/dice.ts';
import { expectExact } from '../support/multiset.ts';
import { askedAgain, pagesStored } from '../support/requests.ts';
import { type Scene, setScene } from '../support/scene.ts';
import { expireLeases } from '../support/store.ts';

// So many processes and steps take their time on a busy machine.
vi.setConfig({ testTimeout: 240_000 });

const KILLS = 12;
const DAYS = { from: '2026-03-01', to: '2026-03-14' };
/** So many answers a process gets at most: all of them together cannot come to the end. */
const MOST_ANSWERS = 9;
/** Pages of one window that a process may have and not have stored: the one that it needs, and two ahead for each request. */
const IN_FLIGHT = 1 + 2 * 4;
const SEED = Number(process.env.E2E_SEED ?? Math.floor(Math.random() * 2 ** 31));

test(`a backfill killed ${KILLS} times is whole in the end (I1, I2, I3; seed ${SEED})`, async () => {
  console.log(`kill.test.ts: E2E_SEED=${SEED}`);
  const random = dice(SEED);
  let answered = 0;
  const scene = await setScene({
    latency: [0, 12],
    seed: SEED,
    faults: [{ kind: 'stall', when: ({ number }) => number > answered }],
  });
  const args = ['backfill', '--from', DAYS.from, '--to', DAYS.to];
  for (let kill = 0; kill < KILLS; kill++) {
    const before = scene.api.requests.length;
    const stored = await pagesStored(scene.database);
    const answers = 1 + Math.floor(random() * MOST_ANSWERS);
    answered = before + answers;
    const program = scene.start(args);
    // A random number of requests, and then a random number of round trips: anywhere between two bytes.
    await Promise.race([
      scene.api.received(before + Math.floor(random() * (answers + 1))),
      program.ended,
    ]);
    for (let trips = Math.floor(random() * 30); trips > 0 && program.running(); trips--)
      await scene.database.query('select 1');
    program.kill('SIGKILL');
    expect(await program.ended, 'the backfill was over too soon').toMatchObject({
      signal: 'SIGKILL',
    });
    expectOnlyUnstoredAgain(scene, before, stored);
    await expireLeases(scene.database);
  }
  const before = scene.api.requests.length;
  const stored = await pagesStored(scene.database);
  answered = Number.POSITIVE_INFINITY;
  await scene.succeed(args);
  expectOnlyUnstoredAgain(scene, before, stored);
  await expectExact(scene, DAYS);
  expect(
    await scene.database.query(
      `select window_id from daywalk.walks join daywalk.windows using (window_id)
        where kind = 'day' and role = 'whole' and (number > 1 or outcome <> $1)`,
      ['proven'],
    ),
    'a kill is no reason for another walk',
  ).toEqual([]);
});

/** One process asks for no page twice, and only for those pages of a window again that a kill left unstored. */
function expectOnlyUnstoredAgain(
  { api }: Scene,
  before: number,
  stored: ReadonlySet<string>,
): void {
  for (const [window, pages] of askedAgain(
    api.requests.slice(before),
    api.requests.slice(0, before),
  )) {
    expect(pages.filter((page) => stored.has(page))).toEqual([]);
    expect(
      pages.length,
      `pages of ${window} asked for again: ${pages.join(', ')}`,
    ).toBeLessThanOrEqual(IN_FLIGHT);
  }
}
