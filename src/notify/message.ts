/** What a webhook is told: one message in words, in the shape that the service at its other end takes. */

import { commandLine } from '../days/gaps.ts';
import { clip, formatDuration, linesOf, oneLine, utcMinute } from '../text.ts';
import type { Posted } from './post.ts';
import type { Notification } from './rows.ts';

/** One thing that is wrong. */
export interface Trouble {
  /** In words, without the command. */
  readonly text: string;
  /** The command that mends it; null: there is none. */
  readonly command: string | null;
}

export type MessageFormat = 'json' | 'slack' | 'ntfy';

const MOST_PROBLEMS = 5;
const MOST_LETTERS = 300;
const JSON_TYPE = 'application/json; charset=utf-8';

/** What is said, whatever the shape. */
export interface Words {
  /** For programs. */
  readonly event: string;
  /** What has happened, behind who says it. */
  readonly what: string;
  readonly lines: readonly string[];
  /** What else programs are told. */
  readonly more: Readonly<Record<string, unknown>>;
  /** Somebody should look at it now. */
  readonly urgent: boolean;
}

/** What the alarm says. @param now milliseconds since the epoch. */
export function alarmWords(
  notification: Notification,
  streams: readonly string[],
  problems: readonly Trouble[],
  now: number,
): Words {
  const { kind, since } = notification;
  const told = problems.map(({ text, command }) => ({ text: shortened(text), command }));
  return {
    event: kind.replace(' ', '_'),
    what: `the export ${kind === 'recovered' ? 'has recovered' : `is ${kind}`}`,
    lines: alarmLines(notification, problems, now),
    more: { streams, failing_since: since.toISOString(), problems: told },
    urgent: kind !== 'recovered',
  };
}

/** What a person is sent who tries whether messages arrive. */
export const TEST_WORDS: Words = {
  event: 'test',
  what: 'this is a test',
  lines: ['Somebody tries whether messages arrive here. Nothing is wrong.'],
  more: {},
  urgent: false,
};

/** The message that `host` sends now. @param now milliseconds since the epoch. */
export function shapeMessage(
  { event, what, lines, more, urgent }: Words,
  format: MessageFormat,
  host: string,
  now: number,
): Posted {
  const title = `daywalk on ${host}: ${what}`;
  switch (format) {
    case 'json': {
      const told = { event, title, text: lines.join('\n'), host, at: new Date(now), ...more };
      return { headers: { 'content-type': JSON_TYPE }, body: JSON.stringify(told) };
    }
    case 'slack':
      return {
        headers: { 'content-type': JSON_TYPE },
        body: JSON.stringify({ text: forSlack([title, ...lines]) }),
      };
    case 'ntfy':
      return {
        headers: {
          'content-type': 'text/plain; charset=utf-8',
          title: asciiOf(title),
          priority: urgent ? 'high' : 'default',
          tags: urgent ? 'warning' : 'white_check_mark',
        },
        body: lines.join('\n'),
      };
  }
}

function alarmLines({ kind, since }: Notification, problems: readonly Trouble[], now: number) {
  const lasted = formatDuration(Math.max(0, now - since.getTime()));
  if (kind === 'recovered') return [`It had failed for ${lasted}, since ${utcMinute(since)}.`];
  const shown = problems
    .slice(0, MOST_PROBLEMS)
    .flatMap(({ text, command }) => linesOf(shortened(text), commandLine(command)));
  const more = problems.length - MOST_PROBLEMS;
  return linesOf(
    shown,
    more > 0 && `… and ${more} more; \`daywalk status\` shows them.`,
    kind === 'still failing' && `It has been failing for ${lasted}.`,
  );
}

/** Slack reads `<…>` as links and mentions, and others read `@` so. */
function forSlack(lines: readonly string[]): string {
  const escaped = lines.map((line) =>
    line
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll('@', '@\u200b'),
  );
  return escaped.join('\n');
}

/** Header values are Latin letters. */
const asciiOf = (text: string): string => oneLine(text).replace(/[^\x20-\x7e]/g, '?');

const shortened = (text: string): string => clip(oneLine(text), MOST_LETTERS);
