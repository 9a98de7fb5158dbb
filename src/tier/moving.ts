/** Days that are old enough move by themselves, at the end of a run. */
import type { Logger } from '../log.ts';
import type { AgeLimit } from '../model.ts';
import { removeMarked } from '../store/pruned-pages.ts';
import { checkStore } from './check-store.ts';
import { moveDays } from './move.ts';
import type { TierParts } from './moved-log.ts';
import { listDaysToMove } from './rows.ts';

/** No day is begun after so long, so that the next run is not late; what is left, that one goes on with. */
const LONGEST_MS = 15 * 60_000;

/** Opens the folder or bucket, does the work in it, and closes it. */
export type InTier = (work: (tier: TierParts) => Promise<void>) => Promise<void>;

/**
 * Moves the days that are old enough.
 * @param inTier is called only where a day is to move.
 */
export async function moveDueDays(
  { database, clock, log }: Pick<TierParts, 'database' | 'clock'> & { readonly log: Logger },
  limits: readonly AgeLimit[],
  inTier: InTier,
  signal: AbortSignal,
): Promise<void> {
  const due = await listDaysToMove(database, limits, false, signal);
  const ready = due.filter(({ kept }) => kept === null);
  if (ready.length === 0) {
    await removeMarked(database, signal);
    return;
  }
  const since = clock.monotonic();
  await inTier(async (tier) => {
    await checkStore(tier.store, signal);
    const { days, kept, left } = await moveDays(tier, ready, signal, () => {}, LONGEST_MS);
    const ms = Math.round(clock.monotonic() - since);
    log.info({ days: days.length, kept: kept.length, left, ms }, 'days moved to the tier');
    for (const day of kept) log.warn({ ...day }, 'a day could not move to the tier');
  });
}
