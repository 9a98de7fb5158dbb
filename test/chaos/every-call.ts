/** The crash matrix: a peril at the first call of a run, at the second, and so on until there is no such call. */
import { expect, inject } from 'vitest';
import { expectLittleAgain, inFlight } from './again.ts';
import { note } from './collect.ts';
import { type Call, openStage, type Peril, type Setup } from './stage.ts';

/** What happens at a call. */
export interface MatrixPeril {
  readonly name: string;
  readonly kind: 'kill' | 'cut';
  readonly moment: Call['moment'];
}

/**
 * SIGKILL comes before a call takes effect. After the one before it took effect is the same: a program that makes one
 * call at a time does nothing outside itself between two of them.
 */
export const KILL: MatrixPeril = { name: 'SIGKILL', kind: 'kill', moment: 'before' };
export const CUT_BEFORE: MatrixPeril = { name: 'cut before', kind: 'cut', moment: 'before' };
export const CUT_AFTER: MatrixPeril = { name: 'cut after', kind: 'cut', moment: 'after' };

/** Ends the program, and with it the call, at that moment of that call. */
export const killAt =
  (number: number, moment: Call['moment']): Peril =>
  async (call, program) => {
    if (call.number < number || (call.number === number && call.moment !== moment)) return 'pass';
    program.kill('SIGKILL');
    await program.ended;
    return 'cut';
  };

const cutAt =
  (number: number, moment: Call['moment']): Peril =>
  (call) =>
    call.number === number && call.moment === moment ? 'cut' : 'pass';

/** Runs the whole of one setting and peril, and notes what it came to. */
export async function runMatrix(setup: Setup, { name, kind, moment }: MatrixPeril): Promise<void> {
  const began = performance.now();
  const stage = await openStage();
  const came = { calls: 0, kills: 0, cuts: 0, records: 0, storedAgain: 0, pagesAgain: 0 };
  try {
    for (let at = 1; ; at++) {
      await stage.set(setup);
      const life = await stage.live(
        ['run'],
        kind === 'kill' ? killAt(at, moment) : cutAt(at, moment),
      );
      let again = life.again;
      if (kind === 'kill' && life.ended.signal === 'SIGKILL') {
        came.kills += 1;
        const next = await stage.live(['run']);
        expect(next.ended, `after a kill at call ${at}: ${next.ended.stderr}`).toMatchObject({
          code: 0,
        });
        again = next.again;
      } else {
        expect(life.ended, `${name} at call ${at}: ${life.ended.stderr}`).toMatchObject({
          code: 0,
        });
        if (kind === 'cut' && life.calls >= at) came.cuts += 1;
      }
      came.records += await stage.expectWhole();
      expectLittleAgain(again, setup.environment, `${name} at call ${at}`);
      came.storedAgain = Math.max(came.storedAgain, again.stored);
      came.pagesAgain = Math.max(came.pagesAgain, again.pages);
      came.calls = Math.max(came.calls, life.calls);
      if (life.calls < at) break;
    }
  } finally {
    await stage.close();
  }
  expect(came.calls, 'a run makes more calls than that').toBeGreaterThan(40);
  const seconds = Math.round((performance.now() - began) / 1000);
  await note(inject('chaosResults'), {
    part: 'every call',
    name: setup.name,
    inFlight: inFlight(setup.environment),
    peril: name,
    ...came,
    seconds,
  });
}
