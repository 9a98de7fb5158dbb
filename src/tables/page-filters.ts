/** Filters of pages follow what is published, so that a search opens few pages; it finds the same without them. */
import type { Database } from '../store/database.ts';
import type { Follower } from '../walk/followers.ts';
import { makeFilters, noteFilterPlace, readNews } from './page-filter-rows.ts';

/** The filters of pages as something that follows what is published. */
export const filtering = ({ database }: { readonly database: Database }): Follower => ({
  what: 'the filters of the search',
  atEnd: true,
  async catchUp(streamIds, signal) {
    for (const streamId of streamIds) await followStream(database, streamId, signal);
  },
});

/** Makes filters for the days of all publications behind the place that is noted; leaves a stream to who is at it already. */
async function followStream(database: Database, streamId: number, signal: AbortSignal) {
  for (;;) {
    const news = await readNews(database, streamId);
    if (news === null) return;
    for (const day of news.days) {
      let looked: number | null;
      do {
        signal.throwIfAborted();
        looked = await makeFilters(database, streamId, day);
        if (looked === null) return;
      } while (looked > 0);
    }
    // A later publication has a higher number, so that a day that is published meanwhile is looked at again.
    await noteFilterPlace(database, streamId, news.upTo);
  }
}
