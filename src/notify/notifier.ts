/** Telling people about runs: pings and the alarm, as the settings ask for. What cannot be told changes no result. */
import { hostname } from 'node:os';
import type { Clock } from '../clock.ts';
import { readStreamDays } from '../days/covered-days.ts';
import { describeLost } from '../days/gone.ts';
import { assessHealth } from '../days/health.ts';
import { readFirstDay } from '../days/rows.ts';
import { DaywalkError, EXIT, exitCodeOf, UnavailableError } from '../errors.ts';
import type { Logger } from '../log.ts';
import { proxyOf, type Settings } from '../settings/settings.ts';
import { openDispatcher } from '../source/dispatcher.ts';
import type { Database } from '../store/database.ts';
import { readGone } from '../store/publications.ts';
import { databaseNow } from '../store/windows.ts';
import { Alarm } from './alarm.ts';
import type { Trouble } from './message.ts';
import { pingsOf, type RunPings } from './ping.ts';
import { openPoster, type Poster } from './post.ts';
import { ProvenDays } from './proven-days.ts';

/** How a run ended. */
export interface RunEnd {
  readonly exitCode: number;
  /** In words, for the log of the check. */
  readonly text: string;
  /** What ended it early; undefined: it came to its end. */
  readonly error?: unknown;
  /** What is wrong besides the days. */
  readonly troubles?: readonly Trouble[];
}

/** Tells about one run. */
export interface RunNotifications {
  /** Never fails; takes some seconds at most. */
  ended(end: RunEnd): Promise<void>;
}

/** Tells about the runs of a process. */
export interface Notifier {
  /** A run begins. */
  begin(): RunNotifications;
  /** From now on there is a database, in which what was told is kept. Never fails. */
  attach(database: Database): Promise<void>;
  close(): Promise<void>;
}

/** The notifier of these settings; without a ping and a webhook it does nothing. */
export function openNotifier(
  settings: Settings,
  clock: Clock,
  log: Logger,
  strike: (text: string) => string,
): Notifier {
  const ping = settings.pingUrl?.reveal();
  const webhook = settings.webhookUrl?.reveal();
  const pingPoster = ping && posterTo(ping, 'ping', settings, clock, log);
  const webhookPoster = webhook && posterTo(webhook, 'webhook', settings, clock, log);
  const parts = webhookPoster && {
    poster: webhookPoster,
    url: webhook,
    format: settings.webhookFormat,
    host: hostname(),
    streams: settings.streams.map(({ name }) => name),
    clock,
    log,
    strike,
  };
  const alarm = parts ? new Alarm(parts) : null;
  const provenDays = parts && settings.webhookDayProven ? new ProvenDays(parts) : null;
  let database: Database | null = null;
  const ended = async (pings: RunPings | null, end: RunEnd) => {
    const there = database;
    try {
      await Promise.all([
        pings?.end(end.exitCode, strike(end.text)),
        alarm &&
          troublesOf(settings, there, end).then(
            (troubles) => troubles && alarm.note(there, troubles),
          ),
        there && provenDays?.tell(there),
      ]);
    } catch (error) {
      log.warn({ err: error }, 'the end of the run could not be told');
    }
  };
  return {
    begin() {
      const pings = pingPoster ? pingsOf(pingPoster, ping, clock.uuid()) : null;
      pings?.start();
      return { ended: (end) => ended(pings, end) };
    },
    async attach(opened) {
      database = opened;
      await provenDays?.begin(opened);
    },
    async close() {
      for (const poster of [pingPoster, webhookPoster]) if (poster) await poster.close();
    },
  };
}

/** What is wrong after a run: what ended it early or failed besides, what should be proven by now and is not, and what the source lost; null: nobody knows. */
async function troublesOf(
  settings: Settings,
  database: Database | null,
  end: RunEnd,
): Promise<Trouble[] | null> {
  const early = [
    ...(end.error === undefined ? [] : [troubleOf(end.error)]),
    ...(end.troubles ?? []),
  ];
  const away = end.error instanceof UnavailableError && end.error.part === 'database';
  if (database === null || away) return early;
  try {
    const streams = settings.streams.map(({ name }) => name);
    const overdue = await overdueOf(settings, streams, database);
    return [...early, ...overdue, ...(await lostOf(streams, database))];
  } catch {
    // A database that is away has ended the run as well, or the next run says so; that all is well it does not say.
    return early.length > 0 ? early : null;
  }
}

function troubleOf(error: unknown): Trouble {
  const message = error instanceof Error ? error.message : String(error);
  const hint = error instanceof DaywalkError && error.hint !== undefined ? ` ${error.hint}` : '';
  const code = exitCodeOf(error);
  const name = code === EXIT.unexpected ? 'unexpected error: ' : '';
  return { text: `${name}${message}${hint}`, command: 'daywalk doctor' };
}

async function overdueOf(
  settings: Settings,
  streams: readonly string[],
  database: Database,
): Promise<readonly Trouble[]> {
  const { timezone: timeZone, settle: settleMs, schedule, lateAfter: lateAfterMs } = settings;
  const [now, from] = await Promise.all([databaseNow(database), readFirstDay(database, streams)]);
  if (from === null) return [];
  const days = await readStreamDays(database, { streams, from, timeZone, settleMs });
  return assessHealth(days, now, { timeZone, settleMs, schedule, lateAfterMs }).problems;
}

async function lostOf(streams: readonly string[], database: Database): Promise<Trouble[]> {
  return (await readGone(database, streams)).flatMap((standing) => {
    const text = describeLost(standing);
    return text === null ? [] : [{ text, command: 'daywalk accept' }];
  });
}

/** A hook is asked for through the proxy of the settings, with the certificates that Node trusts. */
function posterTo(
  url: string,
  what: string,
  settings: Settings,
  clock: Clock,
  log: Logger,
): Poster {
  const { origin, protocol, host } = new URL(url);
  const dispatcher = openDispatcher({
    address: { origin, prefix: '', host, secure: protocol === 'https:', shown: origin },
    tls: {},
    proxy: proxyOf(settings),
    connections: 1,
    connectTimeoutMs: 3_000,
  });
  return openPoster({ dispatcher, clock, log, what });
}
