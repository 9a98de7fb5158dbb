/** What the program is given in the matrix: few records on tiny pages, so that every call there is comes soon. */
import type { Setup } from './stage.ts';

const HOUR = 3_600_000;

/** The newest closed days, and the settle delay that keeps the next one from closing within hours. */
export function lastDays(count: number, now = Date.now()): { days: Setup['days']; settle: string } {
  const late = new Date(now).getUTCHours() >= 12;
  const day = (ago: number) => new Date(now - ago * 24 * HOUR).toISOString().slice(0, 10);
  return { days: { from: day(count), to: day(1) }, settle: late ? '12h' : '0s' };
}

/** A setting: one day of one stream, two pages of it. */
function setup(name: string, api: Setup['api'], environment: Setup['environment'] = {}): Setup {
  const { days, settle } = lastDays(1);
  return {
    name,
    api: { eventsPerDay: 7, alertsPerDay: 0, ...api },
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
