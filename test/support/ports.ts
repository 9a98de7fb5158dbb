/** Ports on loopback for tests: one where nobody listens, and free ones for programs that cannot choose for themselves. */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Nobody listens there: no system hands it out. */
export const CLOSED_PORT = 1;

/** Below the ports that systems hand out by themselves (Linux from 32768, others from 49152), so that nobody gets one of these by chance. */
const FIRST = 15_000;
const AFTER_LAST = 32_000;

/** A port that is free now, and that no test gets which does not ask here. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, AFTER_LAST);
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
