/** Several processes on one database share the windows; one that is killed or paused takes nothing away and adds nothing. */
import { expect, test } from 'vitest';
import { until } from '../support/condition.ts';
import { expectExact } from '../support/multiset.ts';
import { atNight } from '../support/night.ts';
import type { Program } from '../support/program.ts';
import { askedAgain } from '../support/requests.ts';
import { setScene } from '../support/scene.ts';
import { DAYS, expectNothingOfPaused, leases, run, whereBothBegin } from './sharing.ts';

atNight('two processes share the work: no page is asked for twice (I2)', async () => {
  const { scene, both } = await whereBothBegin(1, [5, 20]);
  for (const { ended } of both) expect(await ended).toMatchObject({ code: 0 });
  await expectExact(scene, DAYS);
  expect(askedAgain(scene.api.requests)).toEqual(new Map());
});

test('no process claims with a lease id that another one had (I2)', async () => {
  const scene = await setScene({ faults: [{ kind: 'stall' }] });
  const held = async (program: Program) =>
    (await leases(scene)).flatMap(({ id, pid }) => (pid === program.pid ? [id] : []));
  const claimed = async () => {
    const program = run(scene);
    await until('two windows to be held', async () => (await held(program)).length >= 2);
    program.kill('SIGKILL');
    await program.ended;
    const ids = await held(program);
    await scene.database.query(
      'update daywalk.windows set lease_id = null, lease_owner = null, lease_expires = null',
    );
    return ids;
  };
  const first = await claimed();
  const second = await claimed();
  expect(second.filter((id) => first.includes(id))).toEqual([]);
});

test('of three, one is killed and one paused past its lease; the paused one stores nothing afterwards (I2, I7)', () =>
  expectNothingOfPaused(1));
