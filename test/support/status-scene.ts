/** A status server on a database with exported days, as its tests need it. */
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { type Clock, systemClock } from '../../src/clock.ts';
import { type Logger, silentLogger } from '../../src/log.ts';
import { type Activity, noActivity } from '../../src/status-page/activity.ts';
import { Metrics } from '../../src/status-page/metrics.ts';
import { StatusServer } from '../../src/status-page/status-server.ts';
import type { TestDatabase } from './database.ts';
import { IDLE } from './idle-limiter.ts';

/** A server, and what it watches. */
export interface StatusScene extends StatusServer {
  readonly url: string;
  readonly activity: Activity;
  readonly metrics: Metrics;
}

/** Statements get longer than readers wait: the machine of the tests may stand still for seconds. */
export const patientClock: Clock = {
  ...systemClock,
  timeout: (ms) => systemClock.timeout(15 * ms),
};
const LATE_AFTER_MS = 6 * 3_600_000;

/** Serves the status of a database at a free port. */
export async function serveStatus(
  databaseUrl: string,
  given: {
    readonly streams?: readonly string[];
    readonly log?: Logger;
    readonly clock?: Clock;
    readonly port?: number;
  } = {},
): Promise<StatusScene> {
  const activity: Activity = { ...noActivity(), limits: () => IDLE };
  const metrics = new Metrics();
  const server = new StatusServer({
    address: { host: '127.0.0.1', port: given.port ?? 0 },
    hosts: ['status.example'],
    streams: given.streams ?? ['events'],
    expectation: {
      timeZone: 'UTC',
      settleMs: 0,
      schedule: '15 * * * *',
      lateAfterMs: LATE_AFTER_MS,
    },
    version: '0.0.0-test',
    activity,
    metrics,
    clock: given.clock ?? patientClock,
    log: given.log ?? silentLogger,
    strike: (text) => text,
  });
  const url = await server.listen();
  server.attach(databaseUrl);
  return Object.assign(server, { url, activity, metrics });
}

/** An answer, as it came. */
export interface Got {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Asks without any care of fetch: methods, hosts and paths go out as they are. */
export function ask(
  base: string,
  path: string,
  { method = 'GET', headers = {} }: { method?: string; headers?: Record<string, string> } = {},
): Promise<Got> {
  const { hostname, port } = new URL(base);
  return new Promise((resolve, reject) => {
    const request = httpRequest({ hostname, port, path, method, headers }, async (response) => {
      let body = '';
      for await (const chunk of response.setEncoding('utf8')) body += chunk;
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
    });
    request.on('error', reject).end();
  });
}

/** Planned and proven days without pages, quickly: for the look and the speed of a long calendar. */
export async function fillCalendar(
  server: TestDatabase,
  stream: string,
  from: string,
  to: string,
): Promise<void> {
  await server.query(
    `with made as (
       insert into daywalk.streams (name, resource, filters, fingerprint, since, time_zone, settle)
       values ($1, 'events', '{}', 'f', $2::date, 'UTC', '0') returning stream_id
     ), planned as (
       insert into daywalk.windows (stream_id, kind, day, from_time, to_time, purpose, state, due_at, proof, proven_at)
       select stream_id, kind, d::date, d + after, d + before, 'scheduled', 'complete', null, '{"kind":"total","records":1000}', clock_timestamp()
         from made, generate_series($2::timestamp - interval '1 day', $3::timestamp, interval '1 day') as d,
              (values ('day', interval '0', interval '23:59:59'), ('cut', interval '23:59:59', interval '1 day')) as w (kind, after, before)
        where kind = 'cut' or d >= $2::timestamp
       returning window_id, kind, day
     )
     insert into daywalk.walks (window_id, number, day, from_time, to_time, page_length, next_start, pages, bytes, outcome, proof, shown, finished_at)
     select window_id, 1, day, day, day, 1000, 1000 + (window_id * 7919) % 9000, 10, 900000, 'proven',
            '{"kind":"total","records":1000}', 'whole', clock_timestamp() from planned where kind = 'day'`,
    [stream, from, to],
  );
}
