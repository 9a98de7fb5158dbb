/** What the program is given in the matrix: few records on tiny pages, so that every call there is comes soon. */
import type { Setup } from './stage.ts';

const HOUR = 3_600_000;

/** The newest closed days, and the settle delay that keeps the next one from closing within hours. */
export function lastDays(count: number, now = Date.now()): { days: Setup['days']; settle: string } {
  const late = new Date(now).getUTCHours() >= 12;
  const day = (ago: number) => new Date(now - ago * 24 * HOUR).toISOString().slice(0, 10);
  return { days: { from: day(count), to: day(1) }, settle: late ? '12h' : '0s' };
}

/**
 * Seven records of a day, none of them near a midnight, so that nothing lies across the cuts: what a first record there teaches
 * takes 160 more questions, at each of which a kill is like at any other (random kills go through them).
 */
const recordsOf = (day: string): string[] =>
  Array.from({ length: 7 }, (_, number) =>
    JSON.stringify({
      timestamp: `${day}T${String(2 + 3 * number).padStart(2, '0')}:17:23.456Z`,
      number,
    }),
  );

/** A setting: one day of one stream, two pages of it. */
function setup(name: string, api: Setup['api'], environment: Setup['environment'] = {}): Setup {
  const { days, settle } = lastDays(1);
  return {
    name,
    api: { records: recordsOf(days.from), smartRecords: [], ...api },
    environment: {
      DAYWALK_SINCE: days.from,
      DAYWALK_SETTLE: settle,
      DAYWALK_STREAMS: 'events',
      DAYWALK_PAGE_LENGTH: '4',
      DAYWALK_CONCURRENCY: '1',
      ...environment,
    },
    days,
    streams: ['events'],
  };
}

/** The settings of the matrix. */
export const SETUPS = {
  totals: setup('exact totals', { totals: 'exact' }),
  noTotals: setup('no totals: the end and halves', { totals: 'none' }),
  split: setup('paging ends at 6: split into parts', {
    totals: 'exact',
    offsetCap: { limit: 6, answer: 400 },
  }),
  nothingAhead: setup('nothing fetched ahead', { totals: 'exact' }, { DAYWALK_AHEAD_MEMORY: '0' }),
  together: setup('two requests at a time', { totals: 'exact' }, { DAYWALK_CONCURRENCY: '2' }),
} as const;
