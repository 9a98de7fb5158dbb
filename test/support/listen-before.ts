/** Where a proxy of the tests listens, as the URL of what it stands in front of. */
import { once } from 'node:events';
import type { Server } from 'node:net';

/** Makes the server listen on a free port of loopback. @returns the URL with host and port changed to it. */
export async function listenBefore(server: Server, url: string): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const own = new URL(url);
  own.hostname = '127.0.0.1';
  own.port = String(address.port);
  return own.href;
}
