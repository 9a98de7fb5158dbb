/** The coverage calendar as SVG: one picture a year, one row a month, one cell a day; the terminal's calendar, in colour. */
import { countStates, type DayInState, type StreamDays } from '../../days/covered-days.ts';
import { DAY_STATE_WORDS, DAY_STATES, type DayState } from '../../days/day-states.ts';
import type { Day } from '../../model.ts';
import { counted, formatCount } from '../../text.ts';
import { escapeHtml, Html, html } from '../html.ts';

/** Where a cell stands. Units of the picture, which are pixels at its natural size. */
const PITCH = 12;
const LEFT = 32;
const TOP = 16;
const WIDTH = LEFT + 31 * PITCH;
/** Years before these are folded away, unless something is wrong in them. */
const YEARS_OPEN = 2;
const needsLook = ({ state }: DayInState): boolean =>
  state !== 'complete' && state !== 'empty' && state !== 'open';
const RULER = [1, 5, 10, 15, 20, 25, 30];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** The shapes of the states, drawn once in the page; each is told apart without its colour. */
export const SHAPES = html`<svg class="shapes" width="0" height="0" aria-hidden="true" focusable="false"><defs>
<g id="s-complete"><rect class="complete" width="10" height="10" rx="2"/></g>
<g id="s-empty"><rect class="empty" x="1" y="1" width="8" height="8" rx="1.5"/></g>
<g id="s-open"><circle class="open" cx="5" cy="5" r="1.6"/></g>
<g id="s-running"><path class="running" d="M1.5 0L9.5 5L1.5 10Z"/></g>
<g id="s-failed"><rect class="failed" width="10" height="10" rx="2"/><path class="cross" d="M3 3L7 7M7 3L3 7"/></g>
<g id="s-walked"><path class="missing" d="M5 0L10 5H0Z"/><path class="unchecked" d="M0 5L5 10L10 5"/></g>
<g id="s-begun"><path class="unchecked" d="M0 5L5 0L10 5"/><path class="missing" d="M5 10L10 5H0Z"/></g>
<g id="s-missing"><path class="missing" d="M5 0L10 5L5 10L0 5Z"/></g>
</defs></svg>`;

/** The shape of a state, in the middle of a text. */
export function stateMark(state: DayState): Html {
  return html`<svg class="mark" viewBox="0 0 10 10" aria-hidden="true"><use href="#s-${state}"/></svg>`;
}

/** The legend: the states that occur, each with its days. */
export function legend(streams: readonly StreamDays[]): Html {
  const counts = countStates(streams.flatMap(({ days }) => days));
  const shown = DAY_STATES.filter((state) => state !== 'out' && counts.has(state));
  return html`<ul class="legend" aria-label="What the cells mean">${shown.map(
    (state) =>
      html`<li>${stateMark(state)} ${DAY_STATE_WORDS[state]} <b>${formatCount(counts.get(state) ?? 0)}</b></li>`,
  )}</ul>`;
}

/** The calendar of a stream: the newest years open, older ones folded. */
export function calendar({ stream, days, since }: StreamDays): Html {
  const shown = days.filter(({ state }) => state !== 'out');
  const years = [...new Set(shown.map(({ day }) => day.slice(0, 4)))];
  const newestFirst = years
    .reverse()
    .map((year) => [year, shown.filter(({ day }) => day.startsWith(year))] as const);
  if (newestFirst.length === 0)
    return html`<p class="quiet">${since === null ? 'Never planned in this database.' : 'No day of it is closed yet.'}</p>`;
  const pictures = (some: typeof newestFirst) =>
    html`<div class="years">${some.map(([year, own]) => yearPicture(stream, year, own))}</div>`;
  const open = pictures(newestFirst.slice(0, YEARS_OPEN));
  const older = newestFirst.slice(YEARS_OPEN);
  if (older.length === 0) return open;
  const names = `${older.at(-1)?.[0]}${older.length > 1 ? ` to ${older[0]?.[0]}` : ''}`;
  const isOpen = older.some(([, own]) => own.some(needsLook));
  return html`${open}<details class="older"${isOpen && new Html(' open')}><summary>${names}</summary>${pictures(older)}</details>`;
}

function yearPicture(stream: string, year: string, days: readonly DayInState[]): Html {
  const counts = countStates(days);
  const said = [...counts].map(([state, count]) => `${count} ${DAY_STATE_WORDS[state]}`).join('; ');
  const months = [...new Set(days.map(({ day }) => day.slice(0, 7)))];
  const first = monthOf(days[0]?.day ?? '');
  const rows = monthOf(days.at(-1)?.day ?? '') - first + 1;
  // Joined by hand: a cell is small, and there are thousands of them.
  const name = escapeHtml(stream);
  const cells = days.map((day) => cell(name, day, first)).join('');
  return html`<figure class="year"><figcaption>${year}</figcaption><svg class="calendar" viewBox="0 0 ${WIDTH} ${TOP + rows * PITCH}" role="group" aria-label="${stream}, ${year}: ${said}">
${RULER.map((date) => html`<text class="ruler" x="${LEFT + (date - 1) * PITCH + 5}" y="10">${date}</text>`)}
${months.map((month) => monthLabel(stream, month, first))}
${new Html(cells)}
</svg></figure>`;
}

/** The name of a month leads to the list of its days, which is the calendar for those who do not see it. */
function monthLabel(stream: string, month: string, first: number): Html {
  const row = monthOf(month) - first;
  const name = MONTHS[monthOf(month) - 1] ?? '';
  return html`<a href="month/${stream}/${month}" aria-label="${stream}, ${name} ${month.slice(0, 4)}"><text class="month" x="0" y="${TOP + row * PITCH + 9}">${name}</text></a>`;
}

/** 1 for January. */
const monthOf = (day: Day): number => Number(day.slice(5, 7));

/** Made of numbers, words of ours, and the stream's name, escaped. */
function cell(stream: string, day: DayInState, first: number): string {
  const x = LEFT + (Number(day.day.slice(8)) - 1) * PITCH;
  const y = TOP + (monthOf(day.day) - first) * PITCH;
  // Thousands of stops would be no way to go with the keyboard: what needs a look is one, months lead to the others.
  return `<a href="day/${stream}/${day.day}"${needsLook(day) ? '' : ' tabindex="-1"'}><title>${day.day} ${describeDay(day)}</title><use href="#s-${day.state}" x="${x}" y="${y}"/></a>`;
}

/** A day in some words: `complete, 12,345 records`. */
export function describeDay({ state, records }: DayInState): string {
  return state === 'complete' ? `complete, ${counted(records, 'record')}` : DAY_STATE_WORDS[state];
}
