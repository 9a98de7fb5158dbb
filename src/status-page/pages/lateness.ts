/** Lateness: how long after the close of their day records still came, and what has gone from the source since. */

import { describeGone } from '../../days/gone.ts';
import type { Lateness } from '../../days/lateness-rows.ts';
import type { Gone } from '../../store/publications.ts';
import { formatCount, formatDuration } from '../../text.ts';
import { type Html, html } from '../html.ts';

const HOUR_MS = 3_600_000;

/** The section. */
export function lateness(late: readonly Lateness[], gone: readonly Gone[]): Html {
  return html`<section aria-labelledby="late"><h2 id="late">Lateness</h2>
${
  late.length === 0
    ? html`<p>No record was found that came after its day had closed.</p>`
    : html`<p>Records that a later look found in days that had closed. If the last column grows, raise <code>recheck_days</code>.</p>
<div class="wide" tabindex="0" role="group" aria-labelledby="late"><table><thead><tr><th scope="col">Stream</th><th scope="col" class="n">Records</th><th scope="col" class="n">Days</th><th scope="col" class="n">Within a day</th><th scope="col" class="n">3 days</th><th scope="col" class="n">7 days</th><th scope="col" class="n">Later</th><th scope="col" class="n">The last after</th></tr></thead><tbody>${late.map(row)}</tbody></table></div>`
}
${gone.flatMap(describeGone).map((sentence) => html`<p>${sentence}</p>`)}
</section>`;
}

function row({ stream, late, days, within, longestHours }: Lateness): Html {
  return html`<tr><th scope="row">${stream}</th><td class="n">${formatCount(late)}</td><td class="n">${formatCount(days)}</td>${within.map((count) => html`<td class="n">${formatCount(count)}</td>`)}<td class="n">${formatDuration(longestHours * HOUR_MS)}</td></tr>`;
}
