/** What ./command-line.test.ts leaves to the night: both spellings of a flag with every verb, and a slip told by another. */
import { expect, test } from 'vitest';
import { backfillHere } from '../support/backfill-here.ts';
import { setScene } from '../support/scene.ts';
import { expectSlipTold } from './slips.ts';

test.each(['--stream', '--streams'])(
  '%s means the same to every verb that has streams',
  async (flag) => {
    const scene = await setScene({ eventsPerDay: 20 });
    const day = { from: '2026-03-01', to: '2026-03-01' };
    await backfillHere(scene, day);
    const range = ['--from', day.from, '--to', day.to];
    for (const args of [['status'], ['why', day.from], ['fields'], ['verify', ...range]]) {
      const { stdout } = await scene.succeed([...args, flag, 'events']);
      expect(stdout, `${args[0]} ${flag}`).not.toContain('smart-event');
    }
    const wrong = await scene.run(['status', flag, 'event']);
    expect(wrong).toMatchObject({ code: 2 });
    expect(wrong.stderr).toMatch(/event.*events, smart-event|did you mean events/);
  },
);

test('a slip in a day is told by verify before anything is opened', () => expectSlipTold('verify'));
