/** The served archive on HTTP: the two operations of the API, its key header, and errors as JSON. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Clock } from '../clock.ts';
import { SettingsError, TransientError, UnavailableError } from '../errors.ts';
import type { Logger } from '../log.ts';
import { RESOURCES, type Resource } from '../model.ts';
import { Refusal } from './refusal.ts';
import { MOST_DAYS_TOLD, type ServedArchive } from './served-page.ts';
import { readServedQuery } from './served-query.ts';

/** What the server needs of the settings. */
export interface ArchiveServerOptions {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** What stands before `/api/events`: empty, or as `/tenant-7`. */
  readonly prefix: string;
  readonly key: string;
  /** The largest `length`. */
  readonly longest: number;
  /** Requests that are answered at a time; as many wait again for each of them. */
  readonly concurrency: number;
}

/** What the server works with. */
export interface ArchiveServerParts {
  readonly archive: ServedArchive;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Smaller answers are not worth compressing. */
const GZIP_FROM = 1_000;
const WAITING_EACH = 8;
const compress = promisify(gzip);

/**
 * Serves until `signal` aborts.
 * @param onListening gets the address, `http://127.0.0.1:8472/tenant-7`.
 * @throws {SettingsError} when the address cannot be listened on; the signal's reason.
 */
export async function serveArchive(
  parts: ArchiveServerParts,
  options: ArchiveServerOptions,
  signal: AbortSignal,
  onListening: (url: string) => void,
): Promise<never> {
  const desk = new Desk(options.concurrency);
  const server = createServer({ headersTimeout: 10_000, requestTimeout: 30_000 });
  server.on('request', (request, response) => {
    void answer(parts, options, desk, signal, request, response);
  });
  try {
    const port = await listen(server, options);
    const host = options.host.includes(':') ? `[${options.host}]` : options.host;
    onListening(`http://${host}:${port}${options.prefix}`);
    await new Promise((_, reject) => {
      const stop = () => reject(signal.reason);
      if (signal.aborted) stop();
      else signal.addEventListener('abort', stop, { once: true });
      server.once('error', reject);
    });
    throw signal.reason;
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

function listen(server: Server, { host, port }: ArchiveServerOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) =>
      reject(
        new SettingsError(
          `archive.host, archive.port: cannot listen on ${host} port ${port} (${error.message})`,
          {
            cause: error,
            hint: 'Is another program there? Give another --archive-port.',
          },
        ),
      ),
    );
    server.listen({ host, port }, () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}

/** So many are served at a time, so many wait; the others are sent away, to come back. */
class Desk {
  readonly #most: number;
  readonly #waiting: (() => void)[] = [];
  #busy = 0;

  constructor(most: number) {
    this.#most = most;
  }

  async serve<T>(work: () => Promise<T>): Promise<T> {
    if (this.#busy < this.#most) this.#busy += 1;
    else if (this.#waiting.length < this.#most * WAITING_EACH)
      // Who leaves hands the place over, so the number of those who are served stays.
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else throw new Refusal(503, 'too many requests at a time', { hint: 'Try again in a second.' });
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#busy -= 1;
      else next();
    }
  }
}

async function answer(
  { archive, clock, log }: ArchiveServerParts,
  options: ArchiveServerOptions,
  desk: Desk,
  stopping: AbortSignal,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const since = clock.monotonic();
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  response.on('error', () => {});
  const signal = AbortSignal.any([gone.signal, stopping]);
  try {
    const { resource, query } = route(request, options);
    const page = await desk.serve(() => archive.page(resource, query, signal));
    await send(request, response, 200, page.body, {
      'x-total-count': String(page.total),
      ...(page.incomplete.length === 0 ? {} : { 'x-daywalk-incomplete': listed(page.incomplete) }),
    });
    const ms = Math.round(clock.monotonic() - since);
    log.info({ resource, ...query, records: page.records, total: page.total, ms }, 'served');
  } catch (error) {
    if (signal.aborted && gone.signal.aborted) return;
    const { status, body, headers } = errorAnswer(error);
    log[status >= 500 ? 'error' : 'info'](
      { status, ...(status >= 500 ? { err: error } : { why: body.error }) },
      'refused',
    );
    await send(request, response, status, JSON.stringify(body), headers).catch(() => {});
  }
}

/** Days as a header holds them: the first hundred, then how many more there are. */
function listed(days: readonly string[]): string {
  const more = days.length - MOST_DAYS_TOLD;
  return days
    .slice(0, MOST_DAYS_TOLD)
    .concat(more > 0 ? `+${more}` : [])
    .join(' ');
}

/** The operation that is asked for; the key comes first, so that nothing is told to who has none. */
function route(request: IncomingMessage, { key, prefix, longest }: ArchiveServerOptions) {
  if (!isKey(request.headers['x-api-key'], key))
    throw new Refusal(401, 'the X-API-Key header is missing or wrong');
  const [path = '', query = ''] = (request.url ?? '').split('?', 2);
  const resource = RESOURCES.find((name): name is Resource => path === `${prefix}/api/${name}`);
  if (resource === undefined)
    throw new Refusal(404, 'there is no such resource', {
      hint: `There are ${RESOURCES.map((name) => `${prefix}/api/${name}`).join(' and ')}.`,
    });
  if (request.method !== 'GET') throw new Refusal(405, 'only GET is understood here');
  return { resource, query: readServedQuery(query, longest) };
}

/** Compared as digests, which are of one length and tell nothing by how long it takes. */
function isKey(given: string | string[] | undefined, key: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return (
    timingSafeEqual(digest(typeof given === 'string' ? given : ''), digest(key)) && given !== ''
  );
}

function errorAnswer(error: unknown) {
  if (error instanceof Refusal) {
    const headers: Record<string, string> = error.status === 503 ? { 'retry-after': '1' } : {};
    if (error.status === 405) headers.allow = 'GET';
    return { status: error.status, body: bodyOf(error.message, error.hint, error.more), headers };
  }
  const away = error instanceof TransientError || error instanceof UnavailableError;
  return away
    ? { status: 503, body: bodyOf('the database is away'), headers: { 'retry-after': '5' } }
    : { status: 500, body: bodyOf('unexpected; the log tells more'), headers: {} };
}

const bodyOf = (error: string, hint?: string, more: object = {}) => ({
  error,
  ...(hint === undefined ? {} : { hint }),
  ...more,
});

async function send(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  const zip = text.length >= GZIP_FROM && acceptsGzip(request);
  const body = zip ? await compress(text, { level: 1 }) : Buffer.from(text);
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': body.length,
    'cache-control': 'no-store',
    ...(zip ? { 'content-encoding': 'gzip', vary: 'accept-encoding' } : {}),
    ...headers,
  });
  response.end(body);
}

const acceptsGzip = ({ headers }: IncomingMessage): boolean =>
  String(headers['accept-encoding'] ?? '')
    .split(',')
    .some((coding) => /^\s*(gzip|\*)\s*(;\s*q=(?!0(\.0*)?\s*$).*)?$/i.test(coding));
