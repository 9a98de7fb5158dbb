/** What follows the data while a run goes: woken, brought to an end, and stopped, without a hang or a lost word. */
import { describe, expect, it } from 'vitest';
import { InterruptedError, SettingsError } from '../../src/errors.ts';
import { silentLogger } from '../../src/log.ts';
import type { Database } from '../../src/store/database.ts';
import { type Follower, Followers } from '../../src/walk/followers.ts';
import { catchUp } from '../../src/walk/run.ts';
import type { TestDatabase } from '../support/database.ts';
import { exporterParts, OPTIONS } from '../support/exporter.ts';
import { freshStore, records } from '../support/store.ts';
import { closedDays, newStream, SETTLE_MS } from './exporting.ts';
import { ImaginedSource } from './imagined-source.ts';

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

describe('a run that is stopped while they are at work', () => {
  let server: TestDatabase;
  let database: Database;
  freshStore((store) => {
    ({ server, database } = store);
  });

  it('is interrupted, and not done', async () => {
    const stop = new AbortController();
    const { follower } = noting(() => stop.abort(new InterruptedError('SIGTERM')), true);
    const [day = ''] = closedDays(1);
    const source = new ImaginedSource({ [day]: records(1, 3) });
    const parts = { ...exporterParts({ database, source }), followers: [follower] };
    const options = { ...OPTIONS, streams: [newStream()], since: day, settleMs: SETTLE_MS };
    await expect(catchUp(parts, options, 'hand', stop.signal)).rejects.toThrow(
      'stopped by SIGTERM',
    );
    expect(await server.query('select outcome from daywalk.runs')).toEqual([
      { outcome: 'interrupted' },
    ]);
    expect(await server.query('select state from daywalk.coverage')).toEqual([
      { state: 'complete' },
    ]);
  });
});
