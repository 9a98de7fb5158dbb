/** The listener: reads requests, refuses what it should not answer, and writes answers; bounded in time, size and number. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import { formatListen, type ListenAddress } from '../config/listen.ts';
import { SettingsError } from '../errors.ts';
import type { Logger } from '../log.ts';
import { type Answer, STRICT_HEADERS, words } from './answer.ts';
import { isOurHost } from './hosts.ts';

/** What listening needs. */
export interface ListenerParts {
  readonly address: ListenAddress;
  /** Names under which it may be asked for; see hosts.ts. */
  readonly names: readonly string[];
  readonly log: Logger;
  /** Answers a path that begins with a slash; null: there is nothing there. */
  readonly answer: (path: string) => Promise<Answer | null>;
}

/** A server that listens. */
export interface Listener {
  readonly url: string;
  /** Ends all connections. */
  close(): Promise<void>;
}

/** Slower than this is no browser, and holds a connection that others need. Milliseconds. */
const HEADERS_MS = 5_000;
const REQUEST_MS = 10_000;
const IDLE_MS = 15_000;
const MOST_CONNECTIONS = 64;
const MOST_HEADER_BYTES = 8_192;
const MOST_URL_LETTERS = 512;
/** Smaller answers gain nothing. */
const WORTH_ZIPPING_BYTES = 2_048;

const zip = promisify(gzip);

/**
 * Listens.
 * @throws SettingsError where the address cannot be listened on.
 */
export async function listen(parts: ListenerParts): Promise<Listener> {
  const server = createServer(
    {
      headersTimeout: HEADERS_MS,
      requestTimeout: REQUEST_MS,
      keepAliveTimeout: HEADERS_MS,
      connectionsCheckingInterval: 1_000,
      maxHeaderSize: MOST_HEADER_BYTES,
    },
    (request, response) => void respond(parts, request, response),
  );
  server.maxConnections = MOST_CONNECTIONS;
  server.maxRequestsPerSocket = 1_000;
  server.setTimeout(IDLE_MS);
  await open(server, parts.address);
  server.on('error', (error) => parts.log.warn({ err: error }, 'the status server had an error'));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${formatListen({ ...parts.address, port })}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function open(server: Server, address: ListenAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        new SettingsError(
          `the status page cannot be served at ${formatListen(address)}: ${reasonOf(error)}`,
          {
            cause: error,
            hint: 'Set status.listen (DAYWALK_STATUS_LISTEN) to another address and port, or to off.',
          },
        ),
      ),
    );
    server.listen({ host: address.host, port: address.port, exclusive: true }, () => {
      server.removeAllListeners('error');
      resolve();
    });
  });
}

function reasonOf({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'EADDRINUSE') return 'another program uses this port (a second worker, perhaps)';
  if (code === 'EACCES') return 'this port is for root only';
  if (code === 'EADDRNOTAVAIL') return 'this machine does not have this address';
  return code ?? message;
}

async function respond(
  parts: ListenerParts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  response.on('error', () => {});
  try {
    const answer = refusalOf(parts, request) ?? (await parts.answer(pathOf(request)));
    await write(request, response, answer ?? words(404, 'There is nothing here.'));
  } catch (error) {
    parts.log.error({ err: error }, 'the status server could not answer');
    await write(request, response, words(500, 'Something went wrong; the log tells more.')).catch(
      () => response.destroy(),
    );
  }
}

const pathOf = ({ url = '/' }: IncomingMessage): string => url.split('?', 1)[0] ?? '/';

/** The answer to what should not be answered; null: all is well. */
function refusalOf({ names }: ListenerParts, request: IncomingMessage): Answer | null {
  const { method, url = '', headers } = request;
  if (method !== 'GET' && method !== 'HEAD')
    return words(405, 'This server only shows; it takes nothing.', { allow: 'GET, HEAD' });
  if (url.length > MOST_URL_LETTERS) return words(414, 'This address is too long.');
  if (!url.startsWith('/')) return words(400, 'This is no address of this server.');
  if (!isOurHost(headers.host, names))
    return words(
      421,
      'This server is not known under this name. If it should be, add the name to status.hosts (DAYWALK_STATUS_HOSTS).',
    );
  return null;
}

async function write(
  request: IncomingMessage,
  response: ServerResponse,
  { status, type, body, headers }: Answer,
): Promise<void> {
  const plain = Buffer.from(body);
  const zipped =
    plain.length >= WORTH_ZIPPING_BYTES &&
    /\bgzip\b/.test(String(request.headers['accept-encoding']));
  const bytes = zipped ? await zip(plain, { level: constants.Z_BEST_SPEED }) : plain;
  // A body that nobody asked for would be read as the next request.
  const more =
    Number(request.headers['content-length'] ?? 0) > 0 || request.headers['transfer-encoding'];
  response.writeHead(status, {
    ...STRICT_HEADERS,
    'content-type': type,
    'content-length': bytes.length,
    vary: 'accept-encoding',
    ...(zipped && { 'content-encoding': 'gzip' }),
    ...(more && { connection: 'close' }),
    ...headers,
  });
  response.end(request.method === 'HEAD' ? undefined : bytes);
}
