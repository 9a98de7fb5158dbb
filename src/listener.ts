/** The HTTP listener of the status page and of the served archive: bounded in time, size and number, so that no visitor keeps others out. */
import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type Answer, write } from './answer.ts';
import type { Clock } from './clock.ts';
import { SettingsError } from './errors.ts';
import type { Logger } from './log.ts';

/** A request; its body, if it has one, is never read. */
export interface IncomingRequest {
  readonly path: string;
  /** What stands behind the first `?`, as it came. */
  readonly query: string;
  readonly headers: IncomingHttpHeaders;
}

/** Makes an answer, for as long as somebody waits for it. */
export type Work = (signal: AbortSignal) => Promise<Answer>;

/** What listening needs. */
export interface ListenerParts {
  /** For logs and errors: `the status page`. */
  readonly name: string;
  /** Port 0: any free one. */
  readonly address: { readonly host: string; readonly port: number };
  /** What to do where the address cannot be listened on. */
  readonly hint: string;
  readonly longestUrl: number;
  /** So many answers are worked on or sent at a time; whoever comes then is asked to come again. */
  readonly most: number;
  readonly clock: Clock;
  readonly log: Logger;
  /** The answer that is there at once, above all to what is refused; else the work that makes one. */
  readonly route: (asked: IncomingRequest) => Answer | Work;
  /** The answer to what is refused before it is routed. */
  readonly refuse: (status: number, text: string, headers?: Answer['headers']) => Answer;
}

/** A server that listens. */
export interface Listener {
  readonly url: string;
  /** Ends all connections. */
  close(): Promise<void>;
}

/** Slower than this is no client, and holds a connection that others need. Milliseconds. */
const HEADERS_MS = 5_000;
const REQUEST_MS = 10_000;
/** From the first byte of an answer to its last. */
const SENDING_MS = 60_000;
const MOST_CONNECTIONS = 64;
const MOST_HEADER_BYTES = 16_384;
/**
 * Listens.
 * @throws SettingsError where the address cannot be listened on.
 */
export async function listen(parts: ListenerParts): Promise<Listener> {
  const { address, log, name } = parts;
  const connections = new Connections();
  let answering = 0;
  const server = createServer(
    {
      headersTimeout: HEADERS_MS,
      requestTimeout: REQUEST_MS,
      keepAliveTimeout: HEADERS_MS,
      connectionsCheckingInterval: 1_000,
      maxHeaderSize: MOST_HEADER_BYTES,
    },
    (request, response) => {
      const ended = connections.begin(request.socket, response);
      if (ended === null) return;
      const perform = async (work: Work): Promise<Answer> => {
        if (answering >= parts.most)
          return parts.refuse(503, 'Too many are asking now.', { 'retry-after': '1' });
        answering += 1;
        const leave = () => {
          answering -= 1;
        };
        try {
          return await work(ended);
        } finally {
          // Who went away while it was worked on gives its place back with the work, not before.
          if (ended.aborted) leave();
          else ended.addEventListener('abort', leave);
        }
      };
      void respond(parts, perform, request, response, ended);
    },
  );
  server.maxRequestsPerSocket = 1_000;
  server.on('connection', (socket: Socket) => connections.add(socket));
  await open(server, parts);
  server.on('error', (error) => log.warn({ err: error }, `${name} had an error`));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${shown({ ...address, port })}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const shown = ({ host, port }: ListenerParts['address']): string =>
  `${host.includes(':') ? `[${host}]` : host}:${port}`;

async function open(server: Server, { name, address, hint }: ListenerParts): Promise<void> {
  server.listen({ ...address, exclusive: true });
  await once(server, 'listening').catch((cause: NodeJS.ErrnoException) => {
    const what = `${name} cannot be served at ${shown(address)}: ${reasonOf(cause)}`;
    throw new SettingsError(what, { cause, hint });
  });
}

function reasonOf({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'EADDRINUSE') return 'another program uses this port (another daywalk, perhaps)';
  if (code === 'EACCES') return 'this port is for root only';
  if (code === 'EADDRNOTAVAIL') return 'this machine does not have this address';
  return code ?? message;
}

/** The connections that are open, and among them those that wait for nothing: the oldest of these makes room for a new one. */
class Connections {
  readonly #idle = new Set<Socket>();
  #open = 0;

  add(socket: Socket): void {
    this.#open += 1;
    this.#idle.add(socket);
    socket.once('close', () => {
      this.#open -= 1;
      this.#idle.delete(socket);
    });
    if (this.#open <= MOST_CONNECTIONS) return;
    const [oldest] = this.#idle;
    oldest?.destroy();
  }

  /**
   * A request has come. One at a time on a connection: answers to more would pile up here while nobody reads them.
   * @returns a signal that aborts when its answer has been sent to the last byte, or will not be; null: there is no answer.
   */
  begin(socket: Socket, response: ServerResponse): AbortSignal | null {
    if (!this.#idle.delete(socket)) {
      socket.destroy();
      return null;
    }
    const ended = new AbortController();
    const end = () => {
      socket.off('close', end);
      response.off('close', end);
      if (!socket.destroyed) this.#idle.add(socket);
      ended.abort();
    };
    socket.once('close', end);
    response.once('close', end);
    return ended.signal;
  }
}

async function respond(
  parts: ListenerParts,
  perform: (work: Work) => Promise<Answer>,
  request: IncomingMessage,
  response: ServerResponse,
  ended: AbortSignal,
): Promise<void> {
  const { log, name, refuse, clock } = parts;
  response.on('error', () => {});
  const answer = async (): Promise<Answer> => {
    const found = refusalOf(parts, request) ?? parts.route(askedBy(request));
    return typeof found === 'function' ? perform(found) : found;
  };
  try {
    const found = await answer().catch((error: unknown) => {
      if (ended.aborted) throw error;
      log.error({ err: error }, `${name} could not answer`);
      return refuse(500, 'Something went wrong; the log tells more.');
    });
    clock
      .timeout(SENDING_MS)
      .addEventListener('abort', () => request.socket.destroy(), { signal: ended });
    await write(request, response, found);
  } catch {
    response.destroy();
  }
}

/** The answer to what is no request of this server; null: all is well. */
function refusalOf({ longestUrl, refuse }: ListenerParts, { method, url = '' }: IncomingMessage) {
  if (method !== 'GET' && method !== 'HEAD')
    return refuse(405, 'This server only shows; it takes nothing.', { allow: 'GET, HEAD' });
  if (url.length > longestUrl) return refuse(414, 'This address is too long.');
  return url.startsWith('/') ? null : refuse(400, 'This is no address of this server.');
}

function askedBy({ url = '/', headers }: IncomingMessage): IncomingRequest {
  const at = url.indexOf('?');
  return at < 0
    ? { path: url, query: '', headers }
    : { path: url.slice(0, at), query: url.slice(at + 1), headers };
}
