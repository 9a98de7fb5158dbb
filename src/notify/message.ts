/** What a webhook is told: one message in words, in the shape that the service at its other end takes. */

import { formatDuration, linesOf, oneLine, utcMinute } from '../text.ts';
import type { Posted } from './post.ts';
import type { Notification } from './rows.ts';

/** One thing that is wrong. */
export interface Trouble {
  /** In words, without the command. */
  readonly text: string;
  /** The command that mends it; null: there is none. */
  readonly command: string | null;
}

/** What is told. */
export interface Message {
  readonly kind: Notification['kind'];
  readonly host: string;
  readonly streams: readonly string[];
  readonly since: Date;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly problems: readonly Trouble[];
}

export type MessageFormat = 'json' | 'slack' | 'ntfy';

const MOST_PROBLEMS = 5;
const MOST_LETTERS = 300;
const JSON_TYPE = 'application/json; charset=utf-8';

/** What is said, for each shape. */
export interface Words {
  /** For programs. */
  readonly event: string;
  /** One sentence. */
  readonly title: string;
  readonly lines: readonly string[];
  readonly host: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** What else programs are told. */
  readonly more: Readonly<Record<string, unknown>>;
  /** Somebody should look at it now. */
  readonly urgent: boolean;
}

/** The message in the shape of `format`. */
export function shapeMessage(message: Message, format: MessageFormat): Posted {
  const { kind, host, streams, since, now, problems } = message;
  const what = kind === 'recovered' ? 'has recovered' : `is ${kind}`;
  const told = problems.map(({ text, command }) => ({ text: shortened(text), command }));
  const words: Words = {
    event: kind.replace(' ', '_'),
    title: `daywalk on ${host}: the export ${what}`,
    lines: textOf(message),
    host,
    now,
    more: { streams, failing_since: since.toISOString(), problems: told },
    urgent: kind !== 'recovered',
  };
  return shapeWords(words, format);
}

/** Words in the shape of `format`. */
export function shapeWords(words: Words, format: MessageFormat): Posted {
  const { event, title, lines, host, now, more, urgent } = words;
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

function textOf({ kind, since, now, problems }: Message): string[] {
  const lasted = formatDuration(Math.max(0, now - since.getTime()));
  if (kind === 'recovered') return [`It had failed for ${lasted}, since ${utcMinute(since)}.`];
  const shown = problems
    .slice(0, MOST_PROBLEMS)
    .flatMap(({ text, command }) => linesOf(shortened(text), command !== null && `  ${command}`));
  const more = problems.length - MOST_PROBLEMS;
  return linesOf(
    shown,
    more > 0 && `… and ${more} more; \`daywalk gaps\` lists them.`,
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

function shortened(text: string): string {
  const clean = oneLine(text);
  return clean.length > MOST_LETTERS ? `${clean.slice(0, MOST_LETTERS)}…` : clean;
}
