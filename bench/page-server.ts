/** A page server that costs next to nothing: bodies made in advance, offsets honoured, one day like the other. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What it serves. */
export interface ServedDay {
  readonly recordsPerPage: number;
  readonly pages: number;
}

/** A running page server. */
export interface PageServer {
  readonly url: string;
  /** Bytes of the bodies of one day. */
  readonly bytesPerDay: number;
  /** The bodies of one day, in order. */
  readonly bodies: readonly Buffer[];
  close(): Promise<void>;
}

/** One record with the make-up of a security event, about 900 bytes. */
function recordText(index: number): string {
  const agent = index % 97;
  return JSON.stringify({
    timestamp: `2026-03-01T${String(Math.floor(index / 3600) % 24).padStart(2, '0')}:00:00.000Z`,
    sequence: index,
    agent: { id: String(agent).padStart(3, '0'), name: `host-${agent}`, ip: `10.0.${agent}.7` },
    manager: { name: 'manager-1' },
    rule: {
      level: index % 16,
      id: String(5_700 + (index % 60)),
      description: 'sshd: authentication failed for a user that does not exist',
      groups: ['syslog', 'sshd', 'authentication_failed'],
      mitre: { id: ['T1110'], tactic: ['Credential Access'], technique: ['Brute Force'] },
    },
    full_log: `Mar  1 10:00:00 host-${agent} sshd[${index}]: Failed password for invalid user admin from 203.0.113.${index % 250} port ${1024 + (index % 60_000)} ssh2`,
    location: '/var/log/auth.log',
    data: {
      srcip: `203.0.113.${index % 250}`,
      srcport: String(1024 + (index % 60_000)),
      srcuser: 'admin',
    },
  });
}

/** Starts a server whose every day holds the same records; a page asked for from one record before is as cheap. */
export async function startPageServer({ recordsPerPage, pages }: ServedDay): Promise<PageServer> {
  const total = recordsPerPage * pages - Math.floor(recordsPerPage / 2);
  const records = Array.from({ length: total }, (_, index) => recordText(index));
  const made = new Map<string, Buffer>();
  const body = (start: number, length: number): Buffer => {
    const key = `${start} ${length}`;
    const known = made.get(key);
    if (known !== undefined) return known;
    const page = Buffer.from(
      `{"total":${total},"data":[${records.slice(start, start + length).join(',')}]}`,
    );
    made.set(key, page);
    return page;
  };
  const step = recordsPerPage - 1;
  const bodies = Array.from({ length: Math.ceil((total - 1) / step) }, (_, page) =>
    body(page * step, recordsPerPage),
  );
  const server = createServer((request, response) => {
    const query = new URL(request.url ?? '/', 'http://localhost').searchParams;
    const seam = (query.get('fromDate') ?? '').endsWith('23:59:59');
    const answer = seam
      ? Buffer.from('{"total":0,"data":[]}')
      : body(Number(query.get('start')), Number(query.get('length')));
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': answer.length,
    });
    response.end(answer);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    bytesPerDay: bodies.reduce((sum, page) => sum + page.length, 0),
    bodies,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
