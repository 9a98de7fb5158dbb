/** Telling people about runs: pings and the alarm, as the settings ask for. What cannot be told changes no result. */
import { hostname } from 'node:os';
import type { Dispatcher } from 'undici';
import type { Clock } from '../clock.ts';
import { readHealth } from '../days/health.ts';
import { DaywalkError, EXIT, exitCodeOf, UnavailableError } from '../errors.ts';
import type { Logger } from '../log.ts';
import { expectationOf, proxyOf, type Settings } from '../settings/settings.ts';
import { openDispatcher } from '../source/dispatcher.ts';
import type { Database } from '../store/database.ts';
import { openAlarm } from './alarm.ts';
import { shapeMessage, TEST_WORDS, type Trouble, type Words } from './message.ts';
import { openNews } from './news.ts';
import { openPoster, type Poster } from './post.ts';

/** The longest text that is sent along with a ping. */
const MOST_TEXT = 10_000;

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

/** Tells about the runs of a process. */
export type Notifier = ReturnType<typeof openNotifier>;

/** The notifier of these settings; without a ping and a webhook it does nothing. */
export function openNotifier(
  settings: Settings,
  clock: Clock,
  log: Logger,
  strike: (text: string) => string,
) {
  const ping = posterTo('ping', settings, clock, log);
  const webhook = posterTo('webhook', settings, clock, log);
  const parts = webhook && {
    tell: (words: Words) =>
      webhook.post(shapeMessage(words, settings.webhookFormat, hostname(), clock.now())),
    streams: settings.streams.map(({ name }) => name),
    clock,
    log,
    strike,
  };
  const alarm = parts && openAlarm(parts);
  const news = parts && openNews(parts, settings.webhookDayProven);
  let database: Database | null = null;
  return {
    /** A run begins. @returns tells how it ended; that never fails, and takes some seconds at most. */
    begin(): (end: RunEnd) => Promise<void> {
      const send = ping && pingsOf(ping, clock.uuid());
      const started = send?.('start', '');
      return async (end) => {
        const there = database;
        try {
          await Promise.all([
            started?.then(() => send?.(end.exitCode, strike(end.text))),
            alarm &&
              troublesOf(settings, there, end).then(
                (troubles) => troubles && alarm(there, troubles),
              ),
            there && news?.tell(there),
          ]);
        } catch (error) {
          log.warn({ err: error }, 'the end of the run could not be told');
        }
      };
    },
    /** From now on there is a database, in which what was told is kept. Never fails. */
    async attach(opened: Database): Promise<void> {
      database = opened;
      await news?.begin(opened);
    },
    async close(): Promise<void> {
      await ping?.close();
      await webhook?.close();
    },
  };
}

/** Sends the webhook a test message. @returns null: it was taken; otherwise why not, without the address. */
export async function sendTest(settings: Settings, clock: Clock, log: Logger) {
  const webhook = posterTo('webhook', settings, clock, log);
  if (webhook === null) return 'none is set';
  const shaped = shapeMessage(TEST_WORDS, settings.webhookFormat, hostname(), clock.now());
  return webhook.deliver(shaped).finally(() => webhook.close());
}

/** The way to one of the two addresses; null: it is not set. */
function posterTo(what: 'ping' | 'webhook', settings: Settings, clock: Clock, log: Logger) {
  const url = settings[`${what}Url`]?.reveal();
  if (url === undefined) return null;
  return openPoster({ url, dispatcher: dispatcherTo(url, settings), clock, log, what });
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
    const { health } = await readHealth(database, streams, expectationOf(settings));
    // The loss of events first: of many, only the first are told.
    return [...early, ...health.lost, ...health.problems];
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

/** A hook is asked for through the proxy of the settings, with the certificates that Node trusts. */
function dispatcherTo(url: string, settings: Settings): Dispatcher {
  const { origin, protocol, host } = new URL(url);
  return openDispatcher({
    address: { origin, prefix: '', host, secure: protocol === 'https:', shown: origin },
    tls: {},
    proxy: proxyOf(settings),
    connections: 1,
    connectTimeoutMs: 3_000,
  });
}

/** Sends the pings of a run, in the manner of healthchecks.io: it has begun, or has ended with this exit status. */
const pingsOf =
  ({ url: base, post }: Poster, runId: string) =>
  (what: 'start' | number, text: string): Promise<boolean> =>
    post(
      { headers: { 'content-type': 'text/plain; charset=utf-8' }, body: text.slice(0, MOST_TEXT) },
      pingUrl(base, what, runId),
    );

/**
 * The addresses: `…/start`, `…` for success, `…/3` for exit status 3, each with `?rid=`.
 * @param runId a UUID.
 */
export function pingUrl(base: string, what: 'start' | number, runId: string): URL {
  const url = new URL(base);
  const suffix = what === EXIT.done ? '' : `/${what}`;
  url.pathname = `${url.pathname.replace(/\/+$/, '')}${suffix}`;
  url.searchParams.set('rid', runId);
  return url;
}
