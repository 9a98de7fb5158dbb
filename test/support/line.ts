/** A TCP line to a database server that a test can cut, freeze, and lead to another server. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** A line with one end for clients. */
export interface Line {
  /** The same database, over this line. */
  over(url: string): string;
  /** New connections lead there. */
  leadTo(port: number): void;
  /** Ends all connections. */
  cut(): void;
  /** From now on nothing gets through in any direction; nobody is told, and new connections are taken (a black hole). */
  freeze(): void;
  thaw(): void;
  close(): Promise<void>;
}

/** Lays a line to `port` on loopback. */
export async function layLine(port: number): Promise<Line> {
  let target = port;
  let frozen = false;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.on('data', (chunk: Buffer) => {
        if (!frozen) other.write(chunk);
      });
      socket.on('end', () => {
        if (!frozen) other.end();
      });
      socket.on('close', () => {
        sockets.delete(socket);
        if (!frozen) other.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    over(url) {
      const own = new URL(url);
      [own.hostname, own.port] = ['127.0.0.1', String(address.port)];
      return own.href;
    },
    leadTo(other) {
      target = other;
    },
    cut,
    freeze() {
      frozen = true;
    },
    thaw() {
      // What was sent meanwhile is lost, so no connection of that time is any good.
      frozen = false;
      cut();
    },
    async close() {
      frozen = false;
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}
