/** The command-line flags of the simulator: one table gives the parsing, the checks and the help. */
import { parseArgs } from 'node:util';
import { readFault } from './fault-flag.ts';
import { SimulatorInputError } from './input-error.ts';
import type { SimulatorOptions } from './options.ts';
import type { Change } from './switches.ts';

interface Flag {
  /** What stands for the value in the help; a flag without one takes none. */
  readonly value?: string;
  readonly help: string;
  readonly many?: true;
  readonly read: (text: string, flag: string) => SimulatorOptions;
}

const DEFAULT_PORT = 8765;

const FLAGS: Readonly<Record<string, Flag>> = {
  port: {
    value: 'N',
    help: `port to listen on, 0 for any free one (default ${DEFAULT_PORT})`,
    read: (text, flag) => ({ port: number(text, flag) }),
  },
  host: {
    value: 'ADDRESS',
    help: 'address to listen on (default 127.0.0.1: this machine only)',
    read: (host) => ({ host }),
  },
  key: {
    value: 'KEY',
    help: 'the X-API-Key that is asked for (default demo-key; or in SIMULATOR_KEY)',
    read: (key) => ({ key }),
  },
  prefix: {
    value: 'PATH',
    help: 'path before /api, like /tenant-7',
    read: (prefix) => ({ prefix }),
  },
  seed: { value: 'TEXT', help: 'seed of the invented records', read: (seed) => ({ seed }) },
  'events-per-day': {
    value: 'N',
    help: 'invented events per day (default 1000)',
    read: (text, flag) => ({ eventsPerDay: number(text, flag) }),
  },
  'alerts-per-day': {
    value: 'N',
    help: 'invented alerts of smart-event per day (default: a fiftieth of the events)',
    read: (text, flag) => ({ alertsPerDay: number(text, flag) }),
  },
  'day-variation': {
    value: 'SHARE',
    help: 'how far a day may be from that (default 0.2)',
    read: (text, flag) => ({ dayVariation: number(text, flag) }),
  },
  'empty-days': {
    value: 'SHARE',
    help: 'share of days without records (default 0)',
    read: (text, flag) => ({ emptyDays: number(text, flag) }),
  },
  from: { value: 'DAY', help: 'first day with invented records', read: (from) => ({ from }) },
  to: { value: 'DAY', help: 'last day with invented records', read: (to) => ({ to }) },
  dataset: {
    value: 'FILE',
    help: 'serve this NDJSON file (.gz or not) as events, byte for byte',
    read: (dataset) => ({ dataset }),
  },
  'smart-dataset': {
    value: 'FILE',
    help: 'the same for smart-event',
    read: (smartDataset) => ({ smartDataset }),
  },
  envelope: {
    value: 'SHAPE',
    help: 'array, datatables (default), hits, nested, list, ambiguous or none',
    read: (envelope) => ({ envelope }) as SimulatorOptions,
  },
  totals: {
    value: 'KIND',
    help: 'exact (default), none, page, string, unfiltered, cap=N or off=N',
    read: (text, flag) => {
      const [kind, value] = split(text, '=');
      if (value === undefined) return { totals: kind } as SimulatorOptions;
      return { totals: { [kind]: number(value, flag) } } as unknown as SimulatorOptions;
    },
  },
  clamp: {
    value: 'N',
    help: 'largest length; a larger one is silently made this',
    read: (text, flag) => ({ clamp: number(text, flag) }),
  },
  'max-length': {
    value: 'N[:STATUS]',
    help: 'largest length; a larger one is an error (default status 400)',
    read: (text, flag) => {
      const [limit, status = '400'] = split(text, ':');
      return { maxLength: { limit: number(limit, flag), status: number(status, flag) } };
    },
  },
  'offset-cap': {
    value: 'N[:ANSWER[:BY]]',
    help: 'how deep paging goes; answer: a status (default 400) or empty; by: end (default) or start',
    read: (text, flag) => {
      const [limit = '', answer = '400', by = 'end'] = text.split(':');
      const offsetCap = {
        limit: number(limit, flag),
        answer: answer === 'empty' ? answer : number(answer, flag),
        by,
      };
      return { offsetCap } as SimulatorOptions;
    },
  },
  order: {
    value: 'ORDER',
    help: 'newest (default), oldest, unstable (among equal times) or shuffled',
    read: (order) => ({ order }) as SimulatorOptions,
  },
  'ignore-start': { help: 'every page is the first one', read: () => ({ ignoreStart: true }) },
  'sub-second': {
    value: 'KIND',
    help: 'seconds (default: 23:59:59.999 is in a window that ends :59) or exact (it is not)',
    read: (subSecond) => ({ subSecond }) as SimulatorOptions,
  },
  'skipped-times': {
    value: 'KIND',
    help: 'a time that the clocks skip is the moment of the change (change, default) or as much later (later)',
    read: (skippedTimes) => ({ skippedTimes }) as SimulatorOptions,
  },
  'time-zone': {
    value: 'ZONE',
    help: 'zone in which fromDate and toDate are read (default UTC)',
    read: (timeZone) => ({ timeZone }),
  },
  arrivals: {
    value: 'LIST',
    help: 'records that come during walks: every=PAGES,count=N,where=newest|oldest|inside[,limit=N]',
    read: (text, flag) => ({ arrivals: change(text, flag) }),
  },
  deletions: {
    value: 'LIST',
    help: 'records that vanish, in the same way',
    read: (text, flag) => ({ deletions: change(text, flag) }),
  },
  fault: {
    value: 'KIND[:LIST]',
    help: 'what goes wrong, repeatable; see below',
    many: true,
    read: (text, flag) => ({ faults: [readFault(text, flag)] }),
  },
  'rate-limit': {
    value: 'N[:FORM]',
    help: 'requests per second before 429; Retry-After: seconds (default), date, none or garbage',
    read: (text, flag) => {
      const [perSecond, retryAfter = 'seconds'] = split(text, ':');
      return { rateLimit: { perSecond: number(perSecond, flag), retryAfter } } as SimulatorOptions;
    },
  },
  latency: {
    value: 'MS[-MS]',
    help: 'milliseconds before each answer, fixed or drawn between two',
    read: (text, flag) => {
      const [least, most] = split(text, '-');
      if (most === undefined) return { latency: number(least, flag) };
      return { latency: [number(least, flag), number(most, flag)] };
    },
  },
  gzip: {
    value: 'WHEN',
    help: 'asked (default), always or never',
    read: (gzip) => ({ gzip }) as SimulatorOptions,
  },
  'require-headers': {
    help: 'refuse requests without Content-Type and Accept',
    read: () => ({ requireHeaders: true }),
  },
  help: { help: 'this text', read: () => ({}) },
};

/**
 * The options that a command line asks for; `help` is for printing instead of starting.
 * @throws SimulatorInputError naming the flag that is wrong.
 */
export function readFlags(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): { options: SimulatorOptions } | { help: string } {
  const values = parse(args);
  if (values.help !== undefined) return { help: helpText() };
  const faults: NonNullable<SimulatorOptions['faults']>[number][] = [];
  let options: SimulatorOptions = { port: DEFAULT_PORT };
  if (environment.SIMULATOR_KEY) options = { ...options, key: environment.SIMULATOR_KEY };
  for (const [name, given] of Object.entries(values)) {
    for (const text of [given].flat()) {
      const read = FLAGS[name]?.read(String(text), name) ?? {};
      faults.push(...(read.faults ?? []));
      options = { ...options, ...read };
    }
  }
  return { options: { ...options, faults } };
}

function parse(args: readonly string[]): Record<string, unknown> {
  const options = Object.fromEntries(
    Object.entries(FLAGS).map(([name, { value, many = false }]) => [
      name,
      { type: value === undefined ? 'boolean' : 'string', multiple: many } as const,
    ]),
  );
  try {
    return parseArgs({ args: [...args], options, strict: true }).values;
  } catch (error) {
    // Its messages go on with advice about flags that begin with a dash.
    throw new SimulatorInputError((error as Error).message.split(/\.\s|\n/, 1)[0]);
  }
}

function helpText(): string {
  const lines = Object.entries(FLAGS).map(([name, { value, help }]) => {
    const flag = value === undefined ? `--${name}` : `--${name} ${value}`;
    return `  ${flag.padEnd(30)} ${help}`;
  });
  return `Usage: simulator [flags]

Serves the Event Query API with invented records, or with those of a file.

${lines.join('\n')}

Faults: KIND:NAME=VALUE,… with the conditions rate=SHARE, at=N+N+… (request numbers), times=N:
  status:status=N[,retryAfter=SECONDS|date+SECONDS|TEXT]   redirect:location=URL
  html  error-object  empty-body  null-list  wrong-json  body:body=TEXT
  delay:ms=N  drip:bytes=N,ms=N  stall  stall-body  reset  reset-body  hang-up
  truncate  wrong-length:by=N  cut-chunked  cut-close  truncate-gzip  false-gzip
`;
}

function number(text: string, flag: string): number {
  if (!/^-?\d+(\.\d+)?$/.test(text)) {
    throw new SimulatorInputError(`--${flag}: a number is expected, not "${text}"`);
  }
  return Number(text);
}

function split(text: string, mark: string): [string, string | undefined] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

function change(text: string, flag: string): Change {
  const values = Object.fromEntries(text.split(',').map((part) => split(part, '=')));
  const { every = '', count = '1', where = 'newest', limit, ...others } = values;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw new SimulatorInputError(`--${flag}: ${unknown} is not known`);
  return {
    every: number(every, flag),
    count: number(count, flag),
    where: where as Change['where'],
    ...(limit === undefined ? {} : { limit: number(limit, flag) }),
  };
}
