/** A page server that costs next to nothing: it cuts pages out of records made in advance, and waits as long as it is told. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { makeRecords, type RecordKind } from './records.ts';
import { pageFor, type ServedDays } from './served-days.ts';

/** What it serves, and how slowly. */
export interface ServedSource {
  readonly records: RecordKind;
  readonly recordsPerDay: number;
  readonly uneven?: boolean;
  readonly mostBefore?: number;
  readonly firstDay: string;
  /** What every request takes; one for days before the first takes nothing, so that a stream can be made known quickly. */
  readonly latencyMs?: number;
  /** What a request takes more for each record that it skips, as an SQL `OFFSET` does. */
  readonly msPerSkipped?: number;
}

/** What was asked of it so far. */
export interface Served {
  readonly requests: number;
  /** What all requests waited, in sum. */
  readonly waitedMs: number;
  readonly bytes: number;
}

/** A running page server. */
export interface PageServer {
  readonly url: string;
  served(): Served;
  close(): Promise<void>;
}

/** Starts it on a port of its own. */
export async function startPageServer(source: ServedSource): Promise<PageServer> {
  const block = makeRecords(source.records);
  const days: ServedDays = { ...source, block };
  let served = { requests: 0, waitedMs: 0, bytes: 0 };
  const server = createServer((request, response) => {
    const query = new URL(request.url ?? '/', 'http://localhost').searchParams;
    const start = Number(query.get('start'));
    const toDate = query.get('toDate') ?? '';
    const fromDate = query.get('fromDate') ?? '';
    const page = pageFor(days, { fromDate, toDate, start, length: Number(query.get('length')) });
    const isBefore = toDate < source.firstDay;
    const waitMs = isBefore
      ? 0
      : (source.latencyMs ?? 0) + (source.msPerSkipped ?? 0) * Math.min(start, page.total);
    served = {
      requests: served.requests + (isBefore ? 0 : 1),
      waitedMs: served.waitedMs + waitMs,
      bytes: served.bytes + page.bytes,
    };
    if (waitMs === 0) send(response, page.pieces, page.bytes);
    else setTimeout(() => send(response, page.pieces, page.bytes), waitMs);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    served: () => served,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function send(response: ServerResponse, pieces: readonly Buffer[], bytes: number): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes });
  response.cork();
  for (const piece of pieces) if (piece.length > 0) response.write(piece);
  response.end();
}
