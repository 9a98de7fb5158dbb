/** Chaos in small: SIGKILL at three calls of the real program: about a page, a proof and the ledger. `npm run chaos` has every call. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { andAtNight } from '../support/night.ts';
import { expectLittleAgain } from './again.ts';
import { killAt } from './every-call.ts';
import { SETUPS } from './setups.ts';
import { type Call, openStage, type Stage } from './stage.ts';

// Two programs and what they store, one after the other.
vi.setConfig({ testTimeout: 180_000 });

let stage: Stage;
/** The calls of a run that nothing disturbs. */
const calls: string[] = [];
beforeAll(async () => {
  stage = await openStage();
  await stage.set(SETUPS.totals);
  const life = await stage.live(['run'], (call: Call) => {
    if (call.moment === 'before') calls.push(call.statement ?? 'request');
    return 'pass';
  });
  expect(life.ended, life.ended.stderr).toMatchObject({ code: 0 });
});
afterAll(() => stage.close());

/** The number of the first call that this matches. */
function callOf(pattern: RegExp): number {
  const at = calls.findIndex((text) => pattern.test(text));
  expect(at, `a call that is ${pattern}`).toBeGreaterThan(-1);
  return at + 1;
}

test.each(
  andAtNight<[string, RegExp, Call['moment']]>(
    [
      ['after a page is stored', /daywalk\.store_page/, 'after'],
      ['before a day is put into the ledger', /append_to_ledger/, 'before'],
    ],
    [['after a window is proven', /prove_window/, 'after']],
  ),
)('SIGKILL %s: the next run makes it whole (I1 to I4, I6, I7)', async (_, pattern, moment) => {
  const at = callOf(pattern);
  await stage.set(SETUPS.totals);
  const { ended } = await stage.live(['run'], killAt(at, moment));
  expect(ended.signal).toBe('SIGKILL');
  const next = await stage.live(['run']);
  expect(next.ended, next.ended.stderr).toMatchObject({ code: 0 });
  expectLittleAgain(next.again, SETUPS.totals.environment, moment);
  await stage.expectWhole();
});
