/** Tells the webhook which days became complete, and which came to lack records: one message of a kind each run, each day at least once. */
import type { Database } from '../store/database.ts';
import { counted, formatCount, linesOf } from '../text.ts';
import type { AlarmParts } from './alarm.ts';
import type { Words } from './message.ts';
import {
  beginTellingDays,
  claimDays,
  type GoneDay,
  listGoneDays,
  listProvenDays,
  noteDaysTold,
  type ProvenDay,
} from './rows.ts';

/** A program gets so many days, a person reads so many; the rest is counted. */
const MOST_DAYS = 100;
const MOST_LINES = 10;

/** The events `day_proven` and `records_gone`. */
export type News = ReturnType<typeof openNews>;

/**
 * What was told is kept in the database; what cannot be told is told after the next run.
 * @param dayProven whether days that became complete are told, too.
 */
export function openNews(
  { tell, streams, log }: Pick<AlarmParts, 'tell' | 'streams' | 'log'>,
  dayProven: boolean,
) {
  return {
    /** What is there now is no news, unless it was to be told already. Never fails. */
    async begin(database: Database): Promise<void> {
      try {
        await beginTellingDays(database, streams);
      } catch (error) {
        log.warn({ err: error }, 'from where on days are told could not be noted');
      }
    },

    /** Tells what is new. Never fails. */
    async tell(database: Database): Promise<void> {
      try {
        const places = await claimDays(database, streams);
        if (places.length === 0) return;
        const gone = await listGoneDays(database, places, MOST_DAYS);
        const proven = dayProven
          ? await listProvenDays(database, places, MOST_DAYS)
          : { days: [], count: 0 };
        // Days that changed otherwise are no news.
        const told =
          (gone.count === 0 || (await tell(wordsOfGone(gone.days, gone.count)))) &&
          (proven.count === 0 || (await tell(wordsOf(proven.days, proven.count))));
        await noteDaysTold(database, places, told);
      } catch (error) {
        log.warn({ err: error }, 'which days are new, or came to lack records, could not be told');
      }
    },
  };
}

/** What is said of days that became complete. @param count how many there are, of which `days` are the first. */
export function wordsOf(days: readonly ProvenDay[], count: number): Words {
  const lines = linesOfDays(days, count, 'daywalk status', ({ records }) =>
    counted(records, 'record'),
  );
  const what = `${counted(count, 'day')} ${count === 1 ? 'is' : 'are'} complete`;
  return { event: 'day_proven', what, lines, more: { count, days }, urgent: false };
}

/** What is said of days that lost records. @param count as of {@link wordsOf}. */
export function wordsOfGone(days: readonly GoneDay[], count: number): Words {
  const lines = linesOfDays(
    days,
    count,
    'daywalk.publications',
    ({ lost, records }) => `${formatCount(lost)} of ${counted(records, 'record')}`,
  );
  return {
    event: 'records_gone',
    what: `a source does not show some records of ${counted(count, 'day')} any more`,
    lines: [...lines, 'They are kept (gone_since in daywalk.events). Find out who deleted them.'],
    more: { count, days },
    urgent: true,
  };
}

function linesOfDays<T extends ProvenDay | GoneDay>(
  days: readonly T[],
  count: number,
  all: string,
  told: (day: T) => string,
): string[] {
  const rest = count - MOST_LINES;
  return linesOf(
    days.slice(0, MOST_LINES).map((each) => `${each.stream} ${each.day}: ${told(each)}`),
    rest > 0 && `… and ${formatCount(rest)} more; \`${all}\` shows all.`,
  );
}
