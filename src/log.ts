/** The log: pino JSON lines, or pretty ones on a terminal, to stderr, from which every secret is struck out (I10). */
import type { LoggerOptions } from 'pino';
import { DaywalkError } from './errors.ts';

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
/** `auto` is pretty on a terminal and JSON elsewhere. */
export const LOG_FORMATS = ['auto', 'json', 'pretty'] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

/** What is known beside the message; an error goes under `err`. */
export type LogFields = Readonly<Record<string, unknown>>;
type LogLine = (...line: [message: string] | [fields: LogFields, message: string]) => void;

/** What a part needs of a log. */
export interface Logger {
  readonly trace: LogLine;
  readonly debug: LogLine;
  readonly info: LogLine;
  readonly warn: LogLine;
  readonly error: LogLine;
  /** A log that adds `fields` to every line. */
  child(fields: LogFields): Logger;
}

/** The log of the whole process. */
export interface ProcessLogger extends Logger {
  /** Ends when all lines so far have left the process or cannot leave it any more; it may wait for a reader that stands still. */
  flush(): Promise<void>;
}

export interface LogOptions {
  readonly level: LogLevel;
  readonly format: LogFormat;
  /** Texts that must not appear in any line, in no spelling. */
  readonly secrets: readonly string[];
  /** Absent: stderr. */
  readonly destination?: NodeJS.WritableStream;
  readonly isTerminal: boolean;
  /** Whether pretty lines have colours; absent: where they go to a terminal. */
  readonly colour?: boolean;
}

const REDACTED = '[secret]';
/** How deep fields and causes are told; what lies deeper may hold an error as it is, so it is left out. */
const MAX_DEPTH = 5;
/** What could steer a terminal or hide text in it: C0 and C1 controls (ANSI sequences begin with one), line and direction marks. */
const UNSAFE = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/** Logs nothing. */
export const silentLogger: Logger = {
  trace: () => {},
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  child: () => silentLogger,
};

/** Makes the log of the process. Writing to it never throws, even when nobody reads it any more. */
export async function createLogger(options: LogOptions): Promise<ProcessLogger> {
  const { level, secrets, isTerminal, destination = process.stderr } = options;
  const { colour = isTerminal } = options;
  const pretty = options.format === 'pretty' || (options.format === 'auto' && isTerminal);
  const { pino, stdTimeFunctions } = await import('pino');
  const render = pretty ? await prettyLine(colour) : visible;
  const strike = secretFilter(secrets);
  survive(destination);

  const write = (line: string): void => {
    try {
      destination.write(`${render(strikeInLine(line.trimEnd(), strike))}\n`);
    } catch {
      // A log that cannot be written must not stop a walk.
    }
  };
  const withStack = level === 'debug' || level === 'trace';
  const settings: LoggerOptions = {
    level,
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    formatters: {
      level: (label) => ({ level: label }),
      log: (fields) => describeErrors(fields, withStack, 0) as Record<string, unknown>,
    },
    serializers: { err: (value: unknown) => describeErrors(value, withStack, 0) },
  };
  return Object.assign(pino(settings, { write }), {
    flush: () => new Promise<void>((resolve) => destination.write('', () => resolve())),
  });
}

/** A closed stderr (EPIPE) is an event that would end the process if nobody listened. */
function survive(destination: NodeJS.WritableStream): void {
  if (!destination.listeners('error').includes(ignore)) destination.on('error', ignore);
}
function ignore(): void {}

/**
 * Replaces every occurrence of every secret, in any mix of these spellings: as it is, escaped as JSON (also twice), percent-encoded.
 */
export function secretFilter(secrets: readonly string[]): (text: string) => string {
  const longestFirst = secrets.filter((s) => s !== '').sort((a, b) => b.length - a.length);
  if (longestFirst.length === 0) return (text) => text;
  const spelled = longestFirst.map((secret) => Array.from(secret, spellings).join(''));
  const pattern = new RegExp(spelled.join('|'), 'g');
  return (text) => text.replace(pattern, REDACTED);
}

/** A pattern for the ways in which one character may be written. */
function spellings(character: string): string {
  const json = JSON.stringify(character).slice(1, -1);
  const twice = JSON.stringify(json).slice(1, -1);
  const unicode = Array.from({ length: character.length }, (_, i) =>
    hex(character.charCodeAt(i), 4),
  )
    .map((code) => `\\\\+u${code}`)
    .join('');
  const percent = Array.from(Buffer.from(character), (byte) => `%${hex(byte, 2)}`).join('');
  const texts = [...new Set([twice, json, character])].map((text) =>
    text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'),
  );
  if (character === ' ') texts.push('\\+');
  return `(?:${[...texts, unicode, percent].join('|')})`;
}

/** `code` in hexadecimal digits, as a pattern that takes both cases of the letters. */
function hex(code: number, digits: number): string {
  const text = code.toString(16).padStart(digits, '0');
  return text.replace(/[a-f]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);
}

/** Strikes the strings and numbers of a JSON line one by one, so that the line stays JSON whatever the secret is. */
function strikeInLine(line: string, strike: (text: string) => string): string {
  return line.replace(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g, (token) => {
    const text: string = token.startsWith('"') ? JSON.parse(token) : token;
    const struck = strike(text);
    return struck === text ? token : JSON.stringify(struck);
  });
}

/** Writes what is unsafe as JSON does (in a JSON line it can only stand inside strings, where that means the same). */
export function visible(text: string): string {
  return text.replace(
    UNSAFE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

async function prettyLine(colorize: boolean): Promise<(line: string) => string> {
  const { prettyFactory } = await import('pino-pretty');
  const format = prettyFactory({
    colorize,
    translateTime: 'UTC:yyyy-mm-dd HH:MM:ss',
    singleLine: true,
  });
  return (line) => format(inOneLine(JSON.parse(line, neutral))).trimEnd();
}

/** A line with its error as people read it: what happened, why, what to do. One with a stack is for who wants all of it. */
function inOneLine({ err, msg, ...rest }: Record<string, unknown>): Record<string, unknown> {
  if (typeof err !== 'object' || err === null || 'stack' in err) return { ...rest, err, msg };
  const { message, hint, cause } = err as ReturnType<typeof describeError>;
  const told = [message, (cause as LogFields | undefined)?.message]
    .filter((text, index, texts) => text && !String(texts[index - 1] ?? '').includes(String(text)))
    .join('; ');
  return { ...rest, msg: `${msg}: ${told}${hint ? ` (${hint})` : ''}` };
}

/** For `JSON.parse`: makes foreign text harmless on a terminal, names of fields too; only a stack keeps its line ends. */
function neutral(key: string, value: unknown): unknown {
  if (typeof value === 'string') {
    return key === 'stack' ? value.split('\n').map(visible).join('\n') : visible(value);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [visible(name), one]));
}

/** Replaces errors by what may be told of them, wherever they are in `value`. */
function describeErrors(value: unknown, withStack: boolean, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth > MAX_DEPTH) return '…';
  if (value instanceof Error) return describeError(value, withStack, depth);
  if (Array.isArray(value)) return value.map((one) => describeErrors(one, withStack, depth + 1));
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, describeErrors(one, withStack, depth + 1)]),
  );
}

/** Picks, never copies: the `detail` and `where` of a database error quote the rows, which are people's events. */
function describeError(error: Error, withStack: boolean, depth: number): LogFields {
  const { code } = error as { code?: unknown };
  const inner = error instanceof AggregateError ? error.errors : [];
  const message = error.message || inner.map((one) => String(one?.message ?? one)).join('; ');
  return {
    type: error.name,
    message,
    hint: error instanceof DaywalkError ? error.hint : undefined,
    code: typeof code === 'string' || typeof code === 'number' ? code : undefined,
    cause: describeErrors(error.cause, withStack, depth + 1),
    stack: withStack ? error.stack : undefined,
  };
}
