/** A server that speaks as much of Postgres' protocol as an impostor needs: it asks for a password, and keeps all that is sent. */
import { createServer, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { onTestFinished } from 'vitest';

/** What it does when it is asked for TLS, and what it wants of who comes. */
export interface Impostor {
  /** PEM; absent: it says that it has no TLS. */
  readonly tls?: { readonly key: string; readonly cert: string };
  /** The number of the wish in an authentication request: 3 clear text, 5 MD5, 10 SASL. */
  readonly wants: 3 | 5 | 10;
}

/** Listens on loopback until the test ends; gives its port and what it was sent so far, TLS taken off. */
export async function fakePostgres({ tls, wants }: Impostor): Promise<{
  readonly port: number;
  readonly sent: () => string;
}> {
  const parts: Buffer[] = [];
  const sockets = new Set<Socket>();
  const serve = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => {});
    let started = false;
    socket.on('data', (data: Buffer) => {
      // SSLRequest (PostgreSQL manual, message formats).
      if (!started && data.length === 8 && data.readInt32BE(4) === 80877103) {
        if (tls === undefined) return socket.write('N');
        socket.removeAllListeners('data');
        socket.write('S');
        return serve(new TLSSocket(socket, { isServer: true, ...tls }));
      }
      parts.push(data);
      if (started) return socket.end();
      started = true;
      return socket.write(authentication(wants));
    });
  };
  const server = createServer(serve);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('it listens on no port');
  return { port: address.port, sent: () => Buffer.concat(parts).toString('latin1') };
}

function authentication(wants: Impostor['wants']): Buffer {
  const more = wants === 5 ? 'salt' : wants === 10 ? 'SCRAM-SHA-256\0\0' : '';
  const message = Buffer.alloc(9 + more.length);
  message.write('R');
  message.writeInt32BE(8 + more.length, 1);
  message.writeInt32BE(wants, 5);
  message.write(more, 9);
  return message;
}
