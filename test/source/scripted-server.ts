/** A TCP server that answers each request as a script says, byte for byte, and keeps what was asked. */
import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { onTestFinished } from 'vitest';

/** One request, as it came, and the socket to answer on. */
export interface Asked {
  /** Request line and headers, without the empty line. */
  readonly head: string;
  readonly socket: Socket;
}
export type Step = (asked: Asked) => void;

export interface ScriptedServer {
  readonly port: number;
  readonly url: string;
  readonly heads: readonly string[];
  /** Connections accepted so far. */
  connections(): number;
  /** Resolves when `count` requests have come. */
  asked(count: number): Promise<void>;
}

/** Listens on loopback until the test ends; the last step answers all further requests. */
export async function scriptedServer(
  steps: readonly Step[],
  tls?: TlsOptions,
): Promise<ScriptedServer> {
  const heads: string[] = [];
  const sockets = new Set<Socket>();
  const waiting: { count: number; resolve: () => void }[] = [];
  let connections = 0;
  const onSocket = (socket: Socket): void => {
    connections++;
    socket.on('error', () => {});
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      for (let end = received.indexOf('\r\n\r\n'); end >= 0; end = received.indexOf('\r\n\r\n')) {
        const head = received.slice(0, end);
        received = received.slice(end + 4);
        heads.push(head);
        (steps[heads.length - 1] ?? steps.at(-1))?.({ head, socket });
        for (const one of waiting) if (heads.length >= one.count) one.resolve();
      }
    });
  };
  const server: Server = tls ? createTlsServer(tls, onSocket) : createServer(onSocket);
  server.on('tlsClientError', () => {});
  // Before any handshake, so that one that failed cannot keep the server open.
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    port,
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    heads,
    connections: () => connections,
    asked: (count) =>
      new Promise((resolve) => {
        if (heads.length >= count) resolve();
        else waiting.push({ count, resolve });
      }),
  };
}

/** Answers with these bytes and keeps the connection. */
export function raw(...parts: readonly (string | Buffer)[]): Step {
  return ({ socket }) => {
    socket.write(Buffer.concat(parts.map((part) => Buffer.from(part as string))));
  };
}

/** Answers with these bytes and closes. */
export function rawThenEnd(...parts: readonly (string | Buffer)[]): Step {
  return ({ socket }) => {
    socket.end(Buffer.concat(parts.map((part) => Buffer.from(part as string))));
  };
}

/** A whole answer with its Content-Length. */
export function answer(
  body: string | Buffer,
  { status = 200, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
): Step {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return raw(
    `HTTP/1.1 ${status} Whatever\r\n${lines.join('')}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n`,
    body,
  );
}

/** An empty page. */
export const emptyPage = answer('{"data":[],"total":0}');
