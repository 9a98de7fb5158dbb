/** Times, states and amounts as the pages write them. */
import { type Html, html } from '../html.ts';

/** An instant to the minute, in UTC, for people and for programs. */
export function minute(instant: Date): Html {
  const iso = instant.toISOString();
  return html`<time datetime="${iso}">${iso.slice(0, 16).replace('T', ' ')}</time>`;
}

/** `12 min ago`, or `in 3 h`: as exactly as people want it at a glance. */
export function fromNow(instant: Date, now: number): string {
  const ms = now - instant.getTime();
  const text = roughly(Math.abs(ms));
  return ms >= 0 ? `${text} ago` : `in ${text}`;
}

function roughly(ms: number): string {
  const minutes = ms / 60_000;
  if (minutes < 1.5) return `${Math.round(ms / 1000)} s`;
  if (minutes < 90) return `${Math.round(minutes)} min`;
  if (minutes < 36 * 60) return `${Math.round(minutes / 60)} h`;
  return `${Math.round(minutes / 60 / 24)} d`;
}

/** A share in whole percent, 100 only for all of it. */
export function percent(part: number, whole: number): string {
  return whole === 0 ? '0 %' : `${Math.floor((100 * part) / whole)} %`;
}

const WORDS = 10;

/** The first words of an error, without the address, which is the same each time. */
export function firstWords(error: string): string {
  const words = error.replace(/^https?:\/\/\S+ (\([^)]*\):? )?/, '').split(' ');
  return words.length <= WORDS ? words.join(' ') : `${words.slice(0, WORDS).join(' ')} …`;
}

/** All of it, folded; nothing where the first words are all. */
export function saidPart(error: string | null): Html {
  if (error === null || firstWords(error) === error) return html``;
  return html`<details><summary>what was said</summary><p>${error}</p></details>`;
}
