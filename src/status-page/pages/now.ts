/** What runs now: this worker's pass with its progress, and every window that a worker holds, on all machines. */

import type { RunningWindow } from '../../days/coverage-rows.ts';
import { counted, formatCount, formatDuration } from '../../text.ts';
import type { Activity, Pass } from '../activity.ts';
import type { Overview } from '../facts.ts';
import { type Html, html } from '../html.ts';
import { percent } from './wording.ts';

const WINDOWS_SHOWN = 4;

/** The section; nothing where nothing runs. */
export function now({ running }: Pick<Overview, 'running'>, doing: Readonly<Activity>): Html {
  const pass = doing.pass?.() ?? null;
  if (running.length === 0 && pass === null) return html``;
  const more = running.length - WINDOWS_SHOWN;
  return html`<section class="now" aria-labelledby="now"><h2 id="now">Now</h2>
${pass !== null && passLine(pass)}
${running.length > 0 && html`<ul class="running">${running.slice(0, WINDOWS_SHOWN).map(windowLine)}</ul>`}
${more > 0 && html`<details class="more"><summary>${counted(more, 'more window')}</summary><ul class="running">${running.slice(WINDOWS_SHOWN).map(windowLine)}</ul></details>`}
</section>`;
}

function passLine({ windows, done, failed, records, elapsedMs, leftMs }: Pass): Html {
  const over = done + failed;
  const rate = elapsedMs > 1_000 ? Math.round((records * 1000) / elapsedMs) : 0;
  return html`<p>${formatCount(over)} of ${counted(windows, 'window')} of this pass, ${formatCount(records)} records${rate > 0 && `, ${formatCount(rate)} a second`}${failed > 0 && `, ${counted(failed, 'window')} failed`}${leftMs !== null && `, about ${formatDuration(leftMs)} left`}</p>
${bar(over, windows, 'This pass')}`;
}

function windowLine({ stream, from, to, owner, records, total }: RunningWindow): Html {
  const day = from.slice(0, 10);
  const whole = from.endsWith('00:00:00') && to.endsWith('23:59:59');
  return html`<li><a href="day/${stream}/${day}">${stream} ${day}${!whole && ` ${from.slice(11)} to ${to.slice(11)}`}</a> <span>${formatCount(records)}${total !== null && ` of ${formatCount(total)}`} records${total !== null && total > 0 && `, ${percent(records, total)}`}</span> <span class="quiet">by ${owner}</span>${total !== null && total > 0 && bar(records, total, `${stream} ${day}`)}</li>`;
}

function bar(part: number, whole: number, name: string): Html {
  return html`<progress max="${Math.max(whole, 1)}" value="${Math.min(part, whole)}" aria-label="${name}"></progress>`;
}
