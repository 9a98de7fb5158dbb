/** The tier as something that follows a run; what it needs is loaded when the walking is done. */
import { systemClock } from '../clock.ts';
import type { Logger } from '../log.ts';
import type { Settings } from '../settings/settings.ts';
import type { Database } from '../store/database.ts';
import type { Follower } from '../walk/followers.ts';

/** Moves the days that are as old as `tier.after` says. */
export const tiering = (settings: Settings, database: Database, log: Logger): Follower => ({
  what: 'the tier',
  atEnd: true,
  async catchUp(streamIds, signal) {
    const { moveLimits, openTier } = await import('./tier-wiring.ts');
    const { movingDays } = await import('../tier/moving.ts');
    const open = () => openTier(settings, database, log);
    const parts = { database, clock: systemClock, log };
    await movingDays(parts, moveLimits(settings), open).catchUp(streamIds, signal);
  },
});
