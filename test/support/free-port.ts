/** A port at which nobody listens now. */
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Asks the system for one, on loopback. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
