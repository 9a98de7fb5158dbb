/** A backfill that is killed with SIGKILL at random moments, again and again. */
import { expect } from 'vitest';
import { dice } from '../support/dice.ts';
import { type Days, expectExact } from '../support/multiset.ts';
import { askedAgain, pagesStored } from '../support/requests.ts';
import { type Scene, setScene } from '../support/scene.ts';
import { expireLeases } from '../support/store.ts';

/** So many answers a process gets at most: all of them together cannot come to the end. */
const MOST_ANSWERS = 9;
/** Pages of one window that a process may have and not have stored: the one that it needs, and two ahead for each request. */
const IN_FLIGHT = 1 + 2 * 4;
export const SEED = Number(process.env.E2E_SEED ?? Math.floor(Math.random() * 2 ** 31));

/** Kills a backfill of these days so often, each time after a few answers, and then lets it come to its end: it is whole. */
export async function expectWholeAfter(kills: number, days: Days): Promise<void> {
  console.log(`e2e/kill: E2E_SEED=${SEED}`);
  const random = dice(SEED);
  let answered = 0;
  const scene = await setScene({
    latency: [0, 12],
    seed: SEED,
    faults: [{ kind: 'stall', when: ({ number }) => number > answered }],
  });
  const args = ['backfill', '--from', days.from, '--to', days.to];
  for (let kill = 0; kill < kills; kill++) {
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
  await expectExact(scene, days);
  expect(
    await scene.database.query(
      `select window_id from daywalk.walks join daywalk.windows using (window_id)
        where kind = 'day' and role = 'whole' and (number > 1 or outcome <> $1)`,
      ['proven'],
    ),
    'a kill is no reason for another walk',
  ).toEqual([]);
}

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
