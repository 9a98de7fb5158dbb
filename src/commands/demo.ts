/** `daywalk demo`: a simulated API, a Postgres of its own, a week exported through faults and a kill, and what is then there. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../clock.ts';
import { readEnvironment } from '../config/environment.ts';
import { loadSettings } from '../config/load.ts';
import type { Settings } from '../config/settings.ts';
import { DaywalkError, EXIT } from '../errors.ts';
import { addDays, lastClosedDay } from '../plan/days.ts';
import { formatCount } from '../report/format.ts';
import { countPages, EXAMPLE_QUERY, type ExampleRow, runExampleQuery } from '../store/example.ts';
import { print } from './output.ts';
import type { Invocation } from './verb.ts';
import { type OpenDatabase, openDatabase, openLog } from './wiring.ts';

const DIRECTORY = join('.daywalk', 'demo');
const KEY = 'demo-key';
const DAYS = 7;
const EVENTS_PER_DAY = 12_000;
/** The first run is killed when so many pages are stored. */
const PAGES_BEFORE_KILL = 20;
const POLL_MS = 20;
const MAIN = fileURLToPath(new URL('../main.js', import.meta.url));
const SIMULATOR = fileURLToPath(new URL('../simulator/main.js', import.meta.url));

/** The demo could not be shown. */
class DemoError extends DaywalkError {}

/** Shows daywalk at work, on this machine only, and leaves the result in `.daywalk/demo` to be looked at. */
export async function demo(invocation: Invocation): Promise<number> {
  await clear();
  const settings = loadSettings({
    flags: { logLevel: 'warn', ...invocation.options, directory: DIRECTORY },
    environment: {},
    cwd: process.cwd(),
  });
  const log = await openLog(settings);
  print('1. A simulated Event Query API, and a Postgres of its own below .daywalk/demo');
  const simulator = await startSimulator(invocation.signal);
  try {
    const store = await openDatabase(settings, log, invocation.signal);
    try {
      await show(simulator.url, store, settings, invocation.signal);
    } finally {
      await store.close();
    }
  } finally {
    simulator.process.kill('SIGTERM');
    await log.flush();
  }
  return EXIT.done;
}

async function show(
  url: string,
  store: OpenDatabase,
  settings: Settings,
  signal: AbortSignal,
): Promise<void> {
  const to = lastClosedDay(systemClock.now(), settings.timezone, settings.settle);
  const from = addDays(to, 1 - DAYS);
  const backfill = ['backfill', '--from', from, '--to', to];
  const environment = {
    DAYWALK_API_URL: url,
    DAYWALK_API_KEY: KEY,
    DAYWALK_LEASE: '5s',
    DAYWALK_SINCE: from,
  };

  print(
    '',
    `2. daywalk ${backfill.join(' ')}`,
    '   The API answers some requests with 429 and 500; then the run is killed (kill -9).',
  );
  const first = daywalk(backfill, environment, signal);
  const pages = await pagesAtKill(store, first, signal);
  print(
    `   Killed with ${formatCount(pages)} pages stored. Each page is in Postgres together with its checkpoint.`,
  );

  print(
    '',
    '3. The same command again: it waits for the killed worker’s leases, then goes on at the checkpoints',
  );
  await expectSuccess(daywalk(backfill, environment, signal));

  print('', '4. daywalk status', '');
  await expectSuccess(daywalk(['status'], environment, signal));

  print('', '5. In SQL', '', ...EXAMPLE_QUERY.split('\n'), '');
  print(...tableOf(await runExampleQuery(store.database)));
  print('', 'That was the demo; its data stays in .daywalk/demo. To export your own API:', ...NEXT);
}

const NEXT = [
  '',
  '  export DAYWALK_API_URL=https://… DAYWALK_API_KEY=…',
  '  node dist/main.js doctor    # checks the settings against the API',
  '  node dist/main.js run       # exports what is due',
];

/** Removes what an earlier demo left, unless its Postgres still runs; then the new one goes on from it. */
async function clear(): Promise<void> {
  const running = await access(join(DIRECTORY, 'data', 'postmaster.pid')).then(
    () => true,
    () => false,
  );
  if (!running) await rm(DIRECTORY, { recursive: true, force: true });
}

async function startSimulator(
  signal: AbortSignal,
): Promise<{ url: string; process: ChildProcess }> {
  const child = spawn(
    process.execPath,
    [
      SIMULATOR,
      ...[
        '--port',
        '0',
        '--key',
        KEY,
        '--events-per-day',
        String(EVENTS_PER_DAY),
        '--latency',
        '10',
      ],
      ...[
        '--fault',
        'status:status=429,retryAfter=1,at=9+31',
        '--fault',
        'status:status=500,at=15+16',
      ],
    ],
    { stdio: ['ignore', 'pipe', 'inherit'], signal },
  );
  child.on('error', () => {});
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /http:\/\/\S+/.exec(line)?.[0];
    if (url !== undefined) return { url: url.replace(/["',].*$/, ''), process: child };
  }
  throw new DemoError('the simulator did not start');
}

/** This program with a verb, in a process of its own; it talks to the same terminal. */
function daywalk(
  args: readonly string[],
  environment: Record<string, string>,
  signal: AbortSignal,
): ChildProcess {
  const { PATH, HOME, LANG, TERM, NO_COLOR } = readEnvironment();
  const child = spawn(process.execPath, [MAIN, ...args, '--directory', DIRECTORY], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: {
      ...present({ PATH, HOME, LANG, TERM, NO_COLOR }),
      DAYWALK_LOG_LEVEL: 'warn',
      ...environment,
    },
    signal,
    killSignal: 'SIGTERM',
  });
  child.on('error', () => {});
  return child;
}

const present = (values: Record<string, string | undefined>) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Record<
    string,
    string
  >;

async function pagesAtKill(
  { database }: OpenDatabase,
  child: ChildProcess,
  signal: AbortSignal,
): Promise<number> {
  const exited = once(child, 'exit');
  for (;;) {
    const pages = await countPages(database);
    if (pages >= PAGES_BEFORE_KILL || child.exitCode !== null) break;
    await systemClock.sleep(POLL_MS, signal);
  }
  child.kill('SIGKILL');
  await exited;
  return countPages(database);
}

async function expectSuccess(child: ChildProcess): Promise<void> {
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new DemoError(`daywalk ended with exit code ${code ?? 'none'}`);
}

/** Rows as text, in columns. */
function tableOf(rows: readonly ExampleRow[]): string[] {
  const lines = [
    ['day', 'events', 'severe', 'different ids'],
    ...rows.map((row) => [
      row.day,
      formatCount(row.events),
      formatCount(row.severe),
      formatCount(row.different_ids),
    ]),
  ];
  return lines.map(
    (line) =>
      `   ${line.map((cell, column) => (column === 0 ? cell.padEnd(10) : cell.padStart(15))).join('')}`,
  );
}
