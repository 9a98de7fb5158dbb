/** A real HTTP server in the place of a ping service or a webhook: it remembers what it was sent, and answers as told. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** One request. */
export interface Hooked {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** The server. */
export interface HookServer {
  readonly url: string;
  readonly got: readonly Hooked[];
  /** The statuses of the next answers; 0: none at all. Then 200 again. */
  answer(...statuses: number[]): void;
}

/** Starts it; it ends with the test. */
export async function startHookServer(): Promise<HookServer> {
  const got: Hooked[] = [];
  const next: number[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    const { method = '', url = '', headers } = request;
    got.push({ method, url, headers, body });
    const status = next.shift() ?? 200;
    if (status === 0) return;
    response.writeHead(status, { location: 'http://127.0.0.1:9/elsewhere' });
    response.end('OK');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    got,
    answer: (...statuses) => void next.push(...statuses),
  };
}
