/** `daywalk demo`: a simulated API, a Postgres of its own, a week exported through faults and a kill, and what is then there. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../clock.ts';
import { DaywalkError, EXIT, SettingsError } from '../../errors.ts';
import { addDays, lastClosedDay } from '../../plan/days.ts';
import { readEnvironment } from '../../settings/environment.ts';
import { loadSettings } from '../../settings/load.ts';
import type { Database } from '../../store/database.ts';
import { counted, formatCount, utcSecond } from '../../text.ts';
import { countPages, EXAMPLE_QUERY, TABLE_QUERY } from '../demo-rows.ts';
import { numberFlag } from '../flags.ts';
import { columns, print } from '../terminal/output.ts';
import type { Invocation } from '../verb.ts';
import { openDatabase, withLog } from '../wiring.ts';

const DIRECTORY = join('.daywalk', 'demo');
const KEY = 'demo-key';
/** Less than this is exported before anybody can kill it. */
const LEAST_EVENTS = 2_000;
/** The first run is killed when this share of the pages is stored. */
const SHARE_BEFORE_KILL = 0.25;
const POLL_MS = 20;
/** An embedded Postgres stops soon after its last user. */
const STOPS_WITHIN_MS = 5_000;
const MAIN = fileURLToPath(new URL('../../main.js', import.meta.url));
const SIMULATOR = fileURLToPath(new URL('../../simulator/main.js', import.meta.url));

/** The demo could not be shown. */
class DemoError extends DaywalkError {}

/** Shows daywalk at work, on this machine only, and leaves the result in `.daywalk/demo` to be looked at. */
export async function demo({ options, signal }: Invocation): Promise<number> {
  const { days: daysGiven, events, ...flags } = options;
  const days = numberFlag('--days', daysGiven, 1, 31) ?? 7;
  const eventsPerDay = numberFlag('--events', events, LEAST_EVENTS, 100_000) ?? 12_000;
  const settings = loadSettings({
    // Whatever a file of the real export says.
    flags: { logLevel: 'warn', ...flags, embedded: true, directory: DIRECTORY, config: devNull },
    environment: {},
    cwd: process.cwd(),
  });
  await clear(signal);
  return withLog(settings, async (log, later) => {
    print('1. A simulated Event Query API, and a Postgres of its own below .daywalk/demo');
    const simulator = await startSimulator(eventsPerDay, signal);
    later(simulator);
    const opened = await openDatabase({ settings, signal }, log, { makes: 'cluster' });
    later(opened);
    const { database } = opened;
    const to = lastClosedDay(systemClock.now(), settings.timezone, settings.settle);
    const from = addDays(to, 1 - days);
    const config = join(DIRECTORY, 'daywalk.yaml');
    await writeFile(config, SETTINGS);
    const environment = {
      DAYWALK_CONFIG: config,
      DAYWALK_API_URL: simulator.url,
      DAYWALK_API_KEY: KEY,
      DAYWALK_LEASE: '5s',
      DAYWALK_SINCE: from,
    };
    const daywalk = (...args: readonly string[]) => startDaywalk(args, environment, signal);
    const backfill = ['backfill', '--from', from, '--to', to];
    print(
      '',
      `2. daywalk ${backfill.join(' ')}`,
      '   The API answers some requests with 429 and 500; then the run is killed (kill -9).',
    );
    const enough = ((days * eventsPerDay) / settings.pageLength) * SHARE_BEFORE_KILL;
    const pages = await pagesAtKill(daywalk(...backfill), database, enough, signal);
    print(
      `   Killed with ${counted(pages, 'page')} stored. Each page is in Postgres together with its checkpoint.`,
      '',
      '3. The same command again: it waits for the killed worker’s leases, then goes on at the checkpoints',
    );
    await expectSuccess(daywalk(...backfill), signal);
    print('', '4. daywalk status', '');
    await expectSuccess(daywalk('status'), signal);
    await query(database);
    print('', NEXT);
    return EXIT.done;
  });
}

/** Shows what is there now, in SQL. */
async function query(database: Database): Promise<void> {
  for (const [title, sql] of [
    ['5. In SQL', EXAMPLE_QUERY],
    ['6. From a record table, which the run has kept in step', TABLE_QUERY],
  ] as const)
    print('', title, '', sql.split('\n'), '', tableOf(await database.persist(sql)));
}

/** A record table of the events. */
const SETTINGS = `time_path: timestamp
tables:
  alerts:
    stream: events
    columns:
      at:    { path: timestamp, type: timestamptz, index: yes }
      agent: { path: agent.name, index: yes }
      level: { path: rule.level, type: smallint, index: yes }
      rule:  { path: rule.description }
`;

const NEXT = [
  `That was the demo; its data stays in ${DIRECTORY}. To look at it:`,
  '',
  `  daywalk status --embedded --directory ${DIRECTORY}`,
  '',
  'To export your own API:',
  '',
  '  export DAYWALK_API_URL=https://… DAYWALK_API_KEY=…',
  '  daywalk init --embedded    # checks them, writes daywalk.yaml, and makes a Postgres below .daywalk/',
  '  daywalk run                # exports what is due',
  '',
  '(`daywalk` is `node dist/main.js` here; `npm link` puts it on the path.)',
];

/** Removes what an earlier demo left, once its Postgres has stopped. */
async function clear(signal: AbortSignal): Promise<void> {
  const since = systemClock.monotonic();
  while (existsSync(join(DIRECTORY, 'data', 'postmaster.pid'))) {
    if (systemClock.monotonic() - since > STOPS_WITHIN_MS)
      throw new SettingsError(`the Postgres of an earlier demo still runs in ${DIRECTORY}`, {
        hint: `Disconnect what uses it, such as psql, or remove ${DIRECTORY}; then start the demo again.`,
      });
    await systemClock.sleep(POLL_MS, signal);
  }
  await rm(DIRECTORY, { recursive: true, force: true }).catch((cause: NodeJS.ErrnoException) => {
    throw new SettingsError(`${DIRECTORY} cannot be removed (${cause.code})`, {
      hint: 'Start one demo at a time, in a folder that this user may write to.',
      cause,
    });
  });
}

async function startSimulator(eventsPerDay: number, signal: AbortSignal) {
  const faults =
    '--fault status:status=429,retryAfter=1,at=9+31 --fault status:status=500,at=15+16';
  const flags = `--port 0 --key ${KEY} --events-per-day ${eventsPerDay} --latency 10 ${faults}`;
  const child = spawn(process.execPath, [SIMULATOR, ...flags.split(' ')], {
    stdio: ['ignore', 'pipe', 'inherit'],
    signal,
  });
  child.on('error', () => {});
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /http:\/\/[^\s"',]+/.exec(line)?.[0];
    if (url !== undefined) return { url, close: async () => child.kill('SIGTERM') };
  }
  signal.throwIfAborted();
  throw new DemoError('the simulator did not start');
}

/** This program with a verb, in a process of its own; it talks to the same terminal. */
function startDaywalk(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  signal: AbortSignal,
): ChildProcess {
  const { PATH, HOME, LANG, TERM, NO_COLOR } = readEnvironment();
  const child = spawn(process.execPath, [MAIN, ...args, '--embedded', '--directory', DIRECTORY], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { PATH, HOME, LANG, TERM, NO_COLOR, DAYWALK_LOG_LEVEL: 'warn', ...environment },
    signal,
  });
  child.on('error', () => {});
  return child;
}

async function pagesAtKill(
  child: ChildProcess,
  database: Database,
  enough: number,
  signal: AbortSignal,
): Promise<number> {
  const exited = exitOf(child);
  while (child.exitCode === null && (await countPages(database)) < enough)
    await systemClock.sleep(POLL_MS, signal);
  child.kill('SIGKILL');
  const code = await exited;
  if (code !== null)
    throw new DemoError(`daywalk ended with exit code ${code}, before it was killed`);
  return countPages(database);
}

async function expectSuccess(child: ChildProcess, signal: AbortSignal): Promise<void> {
  const code = await exitOf(child);
  signal.throwIfAborted();
  if (code !== 0) throw new DemoError(`daywalk ended with exit code ${code ?? 'none'}`);
}

/** The exit code of a process, when it has ended; null: a signal ended it. */
const exitOf = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve) => child.once('exit', (code) => resolve(code)));

/** Rows of an answer as text, below the names of their columns. */
function tableOf(rows: readonly Record<string, unknown>[]): string[] {
  const cells = rows.map((row) => Object.values(row).map(textOf));
  return columns([Object.keys(rows[0] ?? {}), ...cells]).map((line) => `   ${line}`);
}

function textOf(value: unknown): string {
  if (value instanceof Date) return utcSecond(value);
  return typeof value === 'number' ? formatCount(value) : String(value);
}
