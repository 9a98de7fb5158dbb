/** The volume of each day as a plot: a bar a day, the last quarter of a year. */
import type { StreamDays } from '../../days/covered-days.ts';
import { longDay } from '../../days/health.ts';
import { formatCount } from '../../text.ts';
import { type Html, html } from '../html.ts';
import { describeDay } from './calendar-svg.ts';

const DAYS_SHOWN = 92;
const HEIGHT = 100;
const PITCH = 10;
const BAR = 8;

/** The plot of a stream, with its highest value and its days in words beside it. */
export function volume({ stream, days }: Pick<StreamDays, 'stream' | 'days'>): Html {
  const shown = days.filter(({ state }) => state !== 'out').slice(-DAYS_SHOWN);
  const most = Math.max(0, ...shown.map(({ records }) => records));
  const first = shown[0];
  const last = shown.at(-1);
  if (first === undefined || last === undefined || most === 0) return html``;
  const highest = shown.find(({ records }) => records === most) ?? first;
  const drawn = shown.flatMap(({ records }) => (records > 0 ? [records] : []));
  const mean = Math.round(drawn.reduce((sum, records) => sum + records, 0) / drawn.length);
  const said = `Records of ${stream} a day from ${longDay(first.day)} to ${longDay(last.day)}: ${formatCount(mean)} on average, at most ${formatCount(most)}, on ${longDay(highest.day)}.`;
  const width = shown.length * PITCH;
  return html`<figure class="volume"><figcaption>Records a day <span>${formatCount(mean)} on average</span></figcaption>
<div class="plot"><span class="scale">${formatCount(most)}</span><span class="scale half">${formatCount(Math.round(most / 2))}</span><svg viewBox="0 0 ${width} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${said}">
<path class="grid" d="M0 0.5H${width}M0 ${HEIGHT / 2}H${width}M0 ${HEIGHT - 0.5}H${width}"/>
${shown.map((day, index) => {
  const height = Math.max(day.records > 0 ? 1 : 0, (day.records / most) * HEIGHT);
  const x = index * PITCH + 1;
  return html`<g><title>${day.day} ${describeDay(day)}</title><rect class="reach" x="${x - 1}" y="0" width="${PITCH}" height="${HEIGHT}"/><rect class="bar ${day.state}" x="${x}" y="${(HEIGHT - height).toFixed(1)}" width="${BAR}" height="${height.toFixed(1)}"/></g>`;
})}
</svg></div>
<div class="span"><span>${first.day}</span><span>${last.day}</span></div></figure>`;
}
