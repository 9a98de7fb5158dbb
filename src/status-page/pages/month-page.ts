/** The page of a month: its days as a table, the calendar for the keyboard and for those who do not see it. */

import { type DayInState, type StreamDays, sumOf } from '../../days/covered-days.ts';
import { DAY_STATE_WORDS } from '../../days/day-states.ts';
import { kindOfError } from '../../days/gaps.ts';
import { longDay } from '../../days/health.ts';
import { addDays, nextMonth } from '../../plan/days.ts';
import { counted, formatBytes, formatCount } from '../../text.ts';
import { Html, html, table } from '../html.ts';
import { SHAPES, stateMark } from './calendar-svg.ts';
import type { PageContent } from './page-frame.ts';
import { volume } from './volume.ts';
import { firstWords, saidPart } from './wording.ts';

/** The page. @param month `YYYY-MM`. */
export function monthPage({ stream, days }: StreamDays, month: string): PageContent {
  const before = addDays(`${month}-01`, -1).slice(0, 7);
  const after = nextMonth(month);
  const name = longDay(`${month}-01`).replace(/^1 /, '');
  const shown = days.filter(({ state }) => state !== 'out');
  const rows = shown.map((day, index) => row(stream, day, shown[index - 1]));
  return {
    title: `${stream} ${month} · daywalk`,
    body: html`${SHAPES}<nav class="ways" aria-label="Months"><a href="../../">Status</a><a href="${before}" rel="prev">← ${before}</a><a href="${after}" rel="next">${after} →</a></nav>
<section aria-labelledby="month"><h1 id="month">${stream}, ${name}</h1>
${shown.length === 0 && html`<p class="quiet">No day of this month is in the scope of the stream.</p>`}
${table('month', COLUMNS, rows, shown.length > 0 && sums(shown))}
${volume({ stream, days })}</section>`,
  };
}

const COLUMNS = ['Day', 'State', '#Records', '#Pages', '#Received', 'Proof'];

/** The last row. */
function sums(days: readonly DayInState[]): Html {
  const closed = days.filter(({ state }) => state !== 'open');
  const complete = closed.filter(({ state }) => state === 'complete' || state === 'empty').length;
  return html`<tfoot><tr><th scope="row">In all</th><td>${formatCount(complete)} of ${counted(closed.length, 'closed day')} complete</td><td class="n">${formatCount(sumOf(days, 'records'))}</td><td class="n">${formatCount(sumOf(days, 'pages'))}</td><td class="n">${formatBytes(sumOf(days, 'bytes'))}</td><td></td></tr></tfoot>`;
}

/** Why a day failed stands below it, unless it is what the day before says. */
function row(stream: string, shown: DayInState, before: DayInState | undefined): Html {
  const { day, state, records, pages, bytes, proof, lastError } = shown;
  const stored = pages > 0;
  const told = before?.state === 'failed' ? kindOfError(before.lastError) : null;
  const error = state === 'failed' && kindOfError(lastError) !== told ? lastError : null;
  return html`<tr${error !== null && new Html(' class="noted"')}><th scope="row"><a href="../../day/${stream}/${day}">${day}</a></th><td>${stateMark(state)} ${DAY_STATE_WORDS[state]}</td><td class="n">${stored && formatCount(records)}</td><td class="n">${stored && formatCount(pages)}</td><td class="n">${stored && formatBytes(bytes)}</td><td>${proof}</td></tr>${error !== null && html`<tr class="note"><td colspan="6">${firstWords(error)}${saidPart(error)}</td></tr>`}`;
}
