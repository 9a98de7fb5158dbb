/** Sealing: complete days get their digests and their row in the ledger, beside the walking and not in its way. */
import { BEFORE_ALL, type PagePlace } from '../store/shown-records.ts';
import type { WalkParts } from '../walk/due.ts';
import type { Follower } from '../walk/followers.ts';
import { appendToLedger, listDueDays, sealNext } from './rows.ts';

/**
 * The ledger as something that follows what is published: every complete day is appended that it does not show as it is. A day
 * keeps a page without a seal until its row is written, so that a day whose pages all have seals has a row too, unless somebody
 * took it away.
 */
export const sealing = ({ database, log }: Pick<WalkParts, 'database' | 'log'>): Follower => ({
  what: 'the ledger',
  async catchUp(streamIds, signal) {
    const days = await listDueDays(database, streamIds);
    for (const due of days) {
      let place: PagePlace | null = BEFORE_ALL;
      while (place !== null) {
        signal.throwIfAborted();
        place = await sealNext(database, due, place);
      }
      await appendToLedger(database, due);
    }
    if (days.length > 0) log.debug({ days: days.length }, 'complete days were put into the ledger');
  },
});
