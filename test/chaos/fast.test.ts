/** Chaos in small: SIGKILL at a few calls of the real program, the ones about pages, proofs and the ledger among them. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { killAt } from './every-call.ts';
import { SETUPS } from './setups.ts';
import { type Call, openStage, type Stage } from './stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());

/** The first call that this matches, in a run that nothing disturbs. */
async function callOf(pattern: RegExp): Promise<number> {
  await stage.set(SETUPS.totals);
  let found = 0;
  const look = (call: Call) => {
    if (found === 0 && pattern.test(call.statement ?? 'request')) found = call.number;
    return 'pass' as const;
  };
  const life = await stage.live(['run'], look);
  expect(life.ended, life.ended.stderr).toMatchObject({ code: 0 });
  expect(found, `a call that is ${pattern}`).toBeGreaterThan(0);
  return found;
}

test.each<[string, RegExp, Call['moment']]>([
  ['before a page is stored', /insert into daywalk\.pages/, 'before'],
  ['after a page is stored', /insert into daywalk\.pages/, 'after'],
  ['after a window is published', /publish_walk/, 'after'],
  ['before a day is put into the ledger', /append_to_ledger/, 'before'],
])('SIGKILL %s: the next run makes it whole (I1 to I4, I6, I7)', async (_, pattern, moment) => {
  const at = await callOf(pattern);
  await stage.set(SETUPS.totals);
  const { ended } = await stage.live(['run'], killAt(at, moment));
  expect(ended.signal).toBe('SIGKILL');
  const next = await stage.live(['run']);
  expect(next.ended, next.ended.stderr).toMatchObject({ code: 0 });
  expect(next.again.stored).toBe(0);
  expect(next.again.unstored).toBeLessThanOrEqual(1);
  await stage.expectWhole();
});
