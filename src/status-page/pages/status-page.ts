/** The status page: health in one sentence, what runs now, the coverage, the volume, lateness and the newest runs; or that the database is away. */

import type { Lateness, RunningWindow } from '../../days/coverage-rows.ts';
import { type StreamDays, sumOf } from '../../days/covered-days.ts';
import { IF_RIGHT } from '../../days/gaps.ts';
import { describeGone, describeRestless } from '../../days/gone.ts';
import { type HealthLevel, longDay, type StreamHealth } from '../../days/health.ts';
import { RUN_OUTCOME_WORDS, RUN_TRIGGER_WORDS } from '../../days/run-words.ts';
import type { Gone } from '../../store/publications.ts';
import type { RunRow } from '../../store/runs.ts';
import { counted, formatBytes, formatCount, formatDuration, oneLine } from '../../text.ts';
import { notInStepText } from '../../walk/followers.ts';
import type { Activity, Pass } from '../activity.ts';
import type { Overview } from '../facts.ts';
import { type Html, html, type Shown, table } from '../html.ts';
import { calendar, legend, SHAPES } from './calendar-svg.ts';
import type { PageContent } from './page-frame.ts';
import { volume } from './volume.ts';
import { problemsPart } from './what-is-wrong.ts';
import { fromNow, minute, percent } from './wording.ts';

/** All that the page shows. */
export interface StatusPage {
  readonly standing: Overview;
  readonly late: readonly Lateness[];
  readonly doing: Readonly<Activity>;
  /** IANA name of the source's zone. */
  readonly timeZone: string;
}

const RUN_LINES = 12;
const WINDOWS_SHOWN = 4;
const HOUR_MS = 3_600_000;

/** The page. */
export function statusPage(parts: StatusPage): PageContent {
  const { standing, late, timeZone } = parts;
  const { streams, runs } = standing;
  return {
    title: `${TITLES[standing.health.level]} · daywalk`,
    body: html`${SHAPES}
${livePart(parts)}
<section aria-labelledby="coverage"><h2 id="coverage">Coverage</h2>
<p class="quiet">One cell a day of the source's calendar (${timeZone}).</p>
${legend(streams)}
${streams.map((stream) => streamPart(stream, standing))}
</section>
${lateness(late, standing.gone)}
${runsPart(runs, standing.now)}`,
  };
}

const TITLES: Readonly<Record<HealthLevel, string>> = {
  good: 'All is well',
  gaps: 'Not all is well',
  late: 'Late',
  new: 'Nothing yet',
  refused: 'Key refused',
};

/** What changes from minute to minute; page.js asks for it again by itself. */
export function livePart({ standing, doing }: Pick<StatusPage, 'standing' | 'doing'>): Html {
  const { health, runs } = standing;
  return html`<div id="live">
<section class="health ${health.level}" aria-labelledby="health">
<h1 id="health">${health.sentence}</h1>
<p class="quiet">${whenLine(standing, doing, runs[0])}</p>
${doing.endedEarly !== null && html`<p class="early">The last run ended early: ${doing.endedEarly}</p>`}
${doing.notInStep.map((follower) => html`<p class="early">In the last run ${notInStepText(follower)}</p>`)}
${health.lost.map(({ text, command }) => html`<p>${text}; ${IF_RIGHT}<code>${command}</code></p>`)}
${health.problems.length > 0 && problemsPart(health.problems)}
</section>
${now(standing, doing)}
</div>`;
}

function whenLine(standing: Overview, doing: Readonly<Activity>, last: RunRow | undefined): Shown {
  const at = standing.now;
  const parts: Shown[] = [];
  if (last?.finishedAt) parts.push(html`Last run ended ${fromNow(last.finishedAt, at)}`);
  if (doing.nextTick !== null) parts.push(html`next one ${fromNow(new Date(doing.nextTick), at)}`);
  parts.push(html`as of ${minute(new Date(at))} UTC`);
  return parts.map((part, index) => html`${index > 0 && ' · '}${part}`);
}

/** What runs now: this worker's pass with its progress, and every window that a worker holds, on all machines; nothing where nothing runs. */
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

function streamPart(stream: StreamDays, { health, restless, now: at }: Overview): Html {
  const own = health.streams.find((candidate) => candidate.stream === stream.stream);
  return html`<section class="stream" aria-label="Stream ${stream.stream}">
<h3>${stream.stream}</h3>
${calendar(stream)}
${own !== undefined && figures(stream, own, at)}
${restless.includes(stream.stream) && html`<p>${describeRestless(stream.stream)}.</p>`}
${volume(stream)}
</section>`;
}

function figures({ days }: StreamDays, health: StreamHealth, at: number): Html {
  const newest =
    health.lastComplete === null
      ? 'none'
      : html`${longDay(health.lastComplete)} <small>ended ${fromNow(new Date(at - (health.lagMs ?? 0)), at)}</small>`;
  return html`<dl class="figures">
<div><dt>Newest complete day</dt><dd>${newest}</dd></div>
<div><dt>Closed days complete</dt><dd>${formatCount(health.complete)} of ${formatCount(health.closed)} <small>${percent(health.complete, health.closed)}</small></dd></div>
<div><dt>Records</dt><dd>${formatCount(sumOf(days, 'records'))}</dd></div>
<div><dt>Received</dt><dd>${formatBytes(sumOf(days, 'bytes'))} <small>in ${counted(sumOf(days, 'pages'), 'page')}</small></dd></div>
</dl>`;
}

/** How long after the close of their day records still came, and what has gone from the source since. */
function lateness(late: readonly Lateness[], gone: readonly Gone[]): Html {
  const found = html`<p>Records that a later look found in days that had closed. If the last column grows, raise <code>recheck_days</code>.</p>
${table('late', LATE_COLUMNS, late.map(lateRow))}`;
  return html`<section aria-labelledby="late"><h2 id="late">Lateness</h2>
${late.length === 0 ? html`<p>No record was found that came after its day had closed.</p>` : found}
${gone.flatMap(describeGone).map((sentence) => html`<p>${sentence}</p>`)}
</section>`;
}

const LATE_COLUMNS =
  'Stream,#Records,#Days,#Within a day,#3 days,#7 days,#Later,#The last after'.split(',');

function lateRow({ stream, late, days, within, longestHours }: Lateness): Html {
  return html`<tr><th scope="row">${stream}</th><td class="n">${formatCount(late)}</td><td class="n">${formatCount(days)}</td>${within.map((count) => html`<td class="n">${formatCount(count)}</td>`)}<td class="n">${formatDuration(longestHours * HOUR_MS)}</td></tr>`;
}

/** The newest runs, without those that found everything as it was. */
function runsPart(runs: readonly RunRow[], at: number): Html {
  const shown = runs.filter((run) => !isIdle(run)).slice(0, RUN_LINES);
  if (shown.length === 0) return html``;
  const rows = shown.map((run) => runRow(run, at));
  return html`<section aria-labelledby="runs"><h2 id="runs">Runs</h2>
<p class="quiet">Runs that found nothing new are left out.</p>
${table('runs', RUN_COLUMNS, rows)}</section>`;
}

const isIdle = ({ outcome, windowsComplete, windowsFailed }: RunRow): boolean =>
  outcome === 'done' && windowsComplete === 0 && windowsFailed === 0;

const RUN_COLUMNS =
  'Began (UTC),Trigger,#Took,Ended,#Windows,#Unchanged,#Failed,#Records,#Received'.split(',');

function runRow(run: RunRow, at: number): Html {
  const range = run.fromDay === null ? '' : ` ${run.fromDay} to ${run.toDay}`;
  const took = (run.finishedAt?.getTime() ?? at) - run.startedAt.getTime();
  const good = run.outcome === 'done' || run.outcome === null || run.outcome === 'interrupted';
  return html`<tr><td>${minute(run.startedAt)}</td><td>${RUN_TRIGGER_WORDS[run.trigger]}${range}</td><td class="n">${run.finishedAt === null ? '' : formatDuration(took)}</td><td class="${good ? 'fine' : 'wrong'}">${run.outcome === null ? 'not ended yet' : RUN_OUTCOME_WORDS[run.outcome]}${run.error !== null && run.outcome !== 'interrupted' && html`<details><summary>error</summary>${run.error}</details>`}</td><td class="n">${formatCount(run.windowsComplete)}</td><td class="n">${formatCount(run.windowsUnchanged)}</td><td class="n">${formatCount(run.windowsFailed)}</td><td class="n">${formatCount(run.records)}</td><td class="n">${formatBytes(run.bytes)}</td></tr>`;
}

/** The page for when the database is away: the worker lives and goes on trying. @param why what the database, or the way to it, said. */
export const awayPage = (why: string): PageContent => ({
  title: 'The database is away · daywalk',
  body: html`<div id="live"><section class="health late" aria-labelledby="health"><h1 id="health">The database is away, so there is nothing to show.</h1>
<p>${oneLine(why)}</p>
<p class="quiet">The worker goes on by itself when the database is back; nothing that was stored is lost.</p></section></div>`,
});
