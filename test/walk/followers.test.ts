/** What follows the data while a run goes: woken, brought to an end, and stopped, without a hang or a lost word. */
import { describe, expect, it } from 'vitest';
import { SettingsError } from '../../src/errors.ts';
import { silentLogger } from '../../src/log.ts';
import { type Follower, Followers } from '../../src/walk/followers.ts';

const never = new AbortController().signal;
const following = (followers: readonly Follower[], signal = never) =>
  new Followers(followers, [1], silentLogger, signal);

/** A follower that notes when it is called, and does something then. */
function noting(does: () => Promise<void> | void = () => {}, atEnd = false) {
  const calls: number[] = [];
  const follower: Follower = {
    what: 'the notes',
    atEnd,
    async catchUp(streamIds) {
      calls.push(streamIds.length);
      await does();
    },
  };
  return { calls, follower };
}

describe('followers', () => {
  it('end where there are none', async () => {
    const none = following([]);
    none.wake();
    await none.finish();
    await none.stop();
  });

  it('stop where a run was stopped already, and where somebody wakes them afterwards', async () => {
    const { calls, follower } = noting();
    const stopped = following([follower], AbortSignal.abort());
    stopped.wake();
    await stopped.finish();
    await stopped.stop();
    stopped.wake();
    await stopped.stop();
    expect(calls).toEqual([]);
  });

  it('look once more when they are woken while they look', async () => {
    const told = { wake: () => {} };
    let left = 3;
    const { calls, follower } = noting(() => {
      if (left-- > 0) told.wake();
    });
    const all = following([follower]);
    told.wake = () => all.wake();
    all.wake();
    await all.finish();
    expect(calls.length).toBeGreaterThanOrEqual(4);
  });

  it('have their turn at the end only, where nobody waits for them', async () => {
    const [early, late] = [noting(), noting(() => {}, true)];
    const all = following([early.follower, late.follower]);
    all.wake();
    await Promise.resolve();
    expect(late.calls).toEqual([]);
    await all.finish();
    expect(early.calls.length).toBeGreaterThan(0);
    expect(late.calls.length).toBeGreaterThan(0);
  });

  it('see what was published last before those at the end have their turn', async () => {
    const order: string[] = [];
    const told = { finish: () => {} };
    const early = noting(async () => {
      await Promise.resolve();
      if (order.push('early') === 1) told.finish();
    });
    const late = noting(() => void order.push('late'), true);
    const all = following([early.follower, late.follower]);
    let finished: Promise<void> = Promise.resolve();
    told.finish = () => {
      finished = all.finish();
    };
    all.wake();
    while (order.length === 0) await Promise.resolve();
    await finished;
    expect(order).toEqual(['early', 'early', 'late']);
  });

  it('go on without one that fails', async () => {
    const failing = noting(() => Promise.reject(new Error('no')));
    const other = noting();
    const all = following([failing.follower, other.follower]);
    await all.finish();
    expect(other.calls).toEqual([1]);
  });

  it('tell which failed when it was last called, and what to do about it', async () => {
    let hint: string | undefined = 'Ask somebody.';
    const failing = noting(() => {
      if (hint !== undefined) throw new SettingsError('no', { hint });
    });
    const all = following([{ ...noting().follower, what: 'others' }, failing.follower]);
    await all.finish();
    expect(all.notInStep).toEqual([{ what: 'the notes', reason: 'no (Ask somebody)' }]);
    hint = undefined;
    await all.finish();
    expect(all.notInStep).toEqual([]);
  });

  it('have not failed where they are stopped', async () => {
    const stop = new AbortController();
    const stopped = noting(() => {
      stop.abort();
      throw new Error('stopped');
    });
    const all = following([stopped.follower], stop.signal);
    await all.finish();
    expect(all.notInStep).toEqual([]);
  });
});
