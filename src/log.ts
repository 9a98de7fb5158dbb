/** The log: pino JSON lines, or pretty ones on a terminal, to stderr, from which every secret is struck out (I10). */
import type { LoggerOptions } from 'pino';
import { DaywalkError } from './errors.ts';
import { redactJson } from './redactor.ts';
import { printable, printableLines } from './text.ts';

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';
/** `auto` is pretty on a terminal and JSON elsewhere. */
export type LogFormat = 'auto' | 'json' | 'pretty';

/** What is known beside the message; an error goes under `err`. */
export type LogFields = Readonly<Record<string, unknown>>;
type LogLine = (...line: [message: string] | [fields: LogFields, message: string]) => void;

/** What a part needs of a log. */
export interface Logger {
  readonly debug: LogLine;
  readonly info: LogLine;
  readonly warn: LogLine;
  readonly error: LogLine;
}

/** The log of the whole process. */
export interface ProcessLogger extends Logger {
  /** Ends when all lines so far have left the process or cannot leave it any more; it may wait for a reader that stands still. */
  flush(): Promise<void>;
}

export interface LogOptions {
  readonly level: LogLevel;
  readonly format: LogFormat;
  /** Strikes secrets out of the texts of a line. */
  readonly redact: (text: string) => string;
  /** Absent: stderr. */
  readonly destination?: NodeJS.WritableStream;
  readonly isTerminal: boolean;
  /** Whether pretty lines have colours; absent: where they go to a terminal. */
  readonly colour?: boolean;
}

/** How deep fields and causes are told; what lies deeper may hold an error as it is, so it is left out. */
const MAX_DEPTH = 5;

/** Logs nothing. */
export const silentLogger: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
};

/** Makes the log of the process. Writing to it never throws, even when nobody reads it any more. */
export async function createLogger(options: LogOptions): Promise<ProcessLogger> {
  const { level, redact, isTerminal, destination = process.stderr } = options;
  const { colour = isTerminal } = options;
  const pretty = options.format === 'pretty' || (options.format === 'auto' && isTerminal);
  const { pino, stdTimeFunctions } = await import('pino');
  const render = pretty ? await prettyLine(colour) : printable;
  survive(destination);

  const write = (line: string): void => {
    try {
      destination.write(`${render(redactJson(line.trimEnd(), redact))}\n`);
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
  if (typeof value === 'string') return key === 'stack' ? printableLines(value) : printable(value);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [printable(name), one]));
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
