/** Tells the webhook which days became complete: one message a run, each day at least once, after the ledger has it. */
import type { Database } from '../store/database.ts';
import { counted, formatCount, linesOf } from '../text.ts';
import type { AlarmParts } from './alarm.ts';
import type { Words } from './message.ts';
import {
  beginTellingDays,
  claimDays,
  listProvenDays,
  noteDaysTold,
  type ProvenDay,
} from './rows.ts';

/** A program gets so many days, a person reads so many; the rest is counted. */
const MOST_DAYS = 100;
const MOST_LINES = 10;

/** The event `day_proven`. */
export type ProvenDays = ReturnType<typeof openProvenDays>;

/** What was told is kept in the database; what cannot be told is told after the next run. */
export function openProvenDays({
  tell,
  streams,
  log,
}: Pick<AlarmParts, 'tell' | 'streams' | 'log'>) {
  return {
    /** Days that are complete now are no news, unless they were to be told already. Never fails. */
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
        const { days, count } = await listProvenDays(database, places, MOST_DAYS);
        // Days that changed have new entries too, and are no news.
        const told = count === 0 || (await tell(wordsOf(days, count)));
        await noteDaysTold(database, places, told);
      } catch (error) {
        log.warn({ err: error }, 'which days became complete could not be told');
      }
    },
  };
}

/** What is said. @param count how many days there are, of which `days` are the first. */
export function wordsOf(days: readonly ProvenDay[], count: number): Words {
  const rest = count - MOST_LINES;
  const lines = linesOf(
    days
      .slice(0, MOST_LINES)
      .map(({ stream, day, records }) => `${stream} ${day}: ${counted(records, 'record')}`),
    rest > 0 && `… and ${formatCount(rest)} more; \`daywalk status\` shows all.`,
  );
  const what = `${counted(count, 'day')} ${count === 1 ? 'is' : 'are'} complete`;
  return { event: 'day_proven', what, lines, more: { count, days }, urgent: false };
}
