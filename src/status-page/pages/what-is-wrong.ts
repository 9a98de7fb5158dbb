/** What is wrong, as people want it: the same failure of many days once, in a few words, with its command; what was said, folded. */
import {
  acceptHint,
  GAP_WORDS,
  type GapSpan,
  kindOfError,
  mendingOf,
  type Problem,
} from '../../days/gaps.ts';
import { daysBetween } from '../../plan/days.ts';
import { formatCount } from '../../text.ts';
import { type Html, html } from '../html.ts';
import { firstWords, saidPart } from './wording.ts';

/** The same trouble of a stream, on one day or many, with what the newest of them was told. */
export interface ProblemGroup extends GapSpan {
  readonly days: number;
  /** Null: they are being walked. */
  readonly command: string | null;
}

/** So many stand open; a phone shows the calendar below them. */
const OPEN = 2;

/** The groups, the largest first. */
export function groupProblems(problems: readonly Problem[]): ProblemGroup[] {
  const groups = new Map<string, ProblemGroup>();
  for (const { stream, state, from, to, lastError, command } of problems) {
    const key = JSON.stringify([stream, state, kindOfError(lastError)]);
    const known = groups.get(key);
    const span = { stream, state, from: known?.from ?? from, to, lastError };
    const days = daysBetween(from, to).length + (known?.days ?? 0);
    groups.set(key, { ...span, days, command: command && mendingOf(span) });
  }
  return [...groups.values()].sort((one, other) => other.days - one.days);
}

/** The list: some groups open, more of them folded. */
export function problemsPart(problems: readonly Problem[]): Html {
  const groups = groupProblems(problems);
  const [open, folded] = [groups.slice(0, OPEN), groups.slice(OPEN)];
  return html`<ul class="problems">${open.map(item)}</ul>${
    folded.length > 0 &&
    html`<details class="more"><summary>${formatCount(folded.length)} more</summary><ul class="problems">${folded.map(item)}</ul></details>`
  }`;
}

function item({ stream, state, from, to, days, lastError, command }: ProblemGroup): Html {
  const when = from === to ? from : `${formatCount(days)} days, ${from} to ${to}`;
  const hint = acceptHint(lastError);
  const headline = lastError === null ? '' : `: ${firstWords(lastError)}`;
  return html`<li><a href="day/${stream}/${to}">${stream}, ${when}: ${GAP_WORDS[state]}${headline}</a>${hint !== null && html`<p>${hint}</p>`}${saidPart(lastError)}${command !== null && html`<pre class="command" tabindex="0"><code>${command}</code></pre>`}</li>`;
}
