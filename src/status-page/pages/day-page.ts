/** The page of a day: its state, the commands, its windows with their walks, proof and errors. */

import { acceptHint } from '../../days/gaps.ts';
import { longDay } from '../../days/health.ts';
import type { DayStory } from '../../days/story-rows.ts';
import { dayWords, describeStory, mendingCommand } from '../../days/story-text.ts';
import type { Day } from '../../model.ts';
import { addDays } from '../../plan/days.ts';
import { formatBytes, formatCount } from '../../text.ts';
import { type Html, html } from '../html.ts';
import type { PageContent } from './page-frame.ts';
import { minute } from './wording.ts';

/** The page. */
export function dayPage(story: DayStory): PageContent {
  const { stream, day } = story;
  return {
    title: `${stream} ${day} · daywalk`,
    body: html`${ways(stream, day)}
<section class="health ${LOOKS[story.state]}" aria-labelledby="day">
<h1 id="day">${stream}, ${longDay(day)}: ${dayWords(story)}</h1>
${figures(story)}
</section>
${commands(story)}
<section aria-labelledby="story"><h2 id="story">Windows and walks</h2><ul class="story">${storyLines(story)}</ul></section>`,
  };
}

const LOOKS = {
  complete: 'good',
  running: 'new',
  failed: 'late',
  pending: 'gaps',
  missing: 'gaps',
  tiered: 'good',
  pruned: 'new',
} as const;

function ways(stream: string, day: Day): Html {
  const month = day.slice(0, 7);
  return html`<nav class="ways" aria-label="Days"><a href="../../">Status</a><a href="../../month/${stream}/${month}">${month}</a><a href="${addDays(day, -1)}" rel="prev">← ${addDays(day, -1)}</a><a href="${addDays(day, 1)}" rel="next">${addDays(day, 1)} →</a></nav>`;
}

function figures({ records, pages, bytes, windows, closesAt, closed, ledger }: DayStory): Html {
  return html`<dl class="figures">
<div><dt>Records</dt><dd>${formatCount(records)}</dd></div>
<div><dt>Pages</dt><dd>${formatCount(pages)}</dd></div>
<div><dt>Received</dt><dd>${formatBytes(bytes)}</dd></div>
<div><dt>Windows</dt><dd>${formatCount(windows.length)}</dd></div>
${closesAt !== null && html`<div><dt>${closed ? 'Closed' : 'Closes'}</dt><dd>${minute(closesAt)} <small>UTC</small></dd></div>`}
${ledger !== null && html`<div><dt>Ledger</dt><dd>entry ${ledger.entry}${ledger.revision > 1 && html` <small>revision ${ledger.revision}</small>`}</dd></div>`}
</dl>`;
}

function commands(story: DayStory): Html {
  const { stream, day } = story;
  const mending = mendingCommand(story);
  const lines = [['The same on a terminal', `daywalk why ${day} --stream ${stream}`]];
  if (mending !== null) lines.unshift([acceptHint(story.lastError) ?? 'Walk it now', mending]);
  return html`<section aria-labelledby="commands"><h2 id="commands">Commands</h2><dl class="commands">${lines.map(
    ([what, command]) =>
      html`<div><dt>${what}</dt><dd><pre class="command" tabindex="0"><code>${command}</code></pre></dd></div>`,
  )}</dl></section>`;
}

/** The lines of `daywalk why`; how deep one stands is its indentation there. The first and last are said elsewhere. */
function storyLines(story: DayStory): Html[] {
  const end = mendingCommand(story) === null ? undefined : -1;
  return describeStory(story)
    .slice(1, end)
    .map((line) => {
      const depth = Math.min(5, Math.floor((line.length - line.trimStart().length) / 2));
      const window = /^ *(?:Day|Part|Cut)\b/.test(line) ? 'window ' : '';
      return html`<li class="${window}d${depth}">${line.trim()}</li>`;
    });
}
