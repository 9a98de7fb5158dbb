/** The tier as something that follows a run; what it needs is loaded when the walking is done. */
import { systemClock } from '../clock.ts';
import type { Logger } from '../log.ts';
import type { Settings } from '../settings/settings.ts';
import type { Database } from '../store/database.ts';
import type { InTier } from '../tier/moving.ts';
import type { Follower } from '../walk/followers.ts';
import { claimedByTables } from './claimed-streams.ts';

/** Moves the days that are as old as `tier.after` says, but for streams whose days a record table is to have first. */
export const tiering = (settings: Settings, database: Database, log: Logger): Follower => ({
  what: 'the tier',
  atEnd: true,
  async catchUp(_, signal) {
    const { moveLimits, withTier } = await import('./tier-wiring.ts');
    const { moveDueDays } = await import('../tier/moving.ts');
    const parts = { database, clock: systemClock, log };
    const claimed = await claimedByTables(database, settings.tables);
    for (const [stream, reason] of claimed) log.warn({ stream }, `its days do not move: ${reason}`);
    const limits = moveLimits(settings).filter(({ stream }) => !claimed.has(stream));
    const inTier: InTier = (work) => withTier(settings, database, log, work);
    await moveDueDays(parts, limits, inTier, signal);
  },
});
