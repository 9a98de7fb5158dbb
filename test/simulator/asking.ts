/** A plain client for the simulator's own tests: exact bytes, one connection per request, nothing decoded or retried. */
import { type IncomingHttpHeaders, request } from 'node:http';
import type { Simulator } from '../../simulator/simulator.ts';

/** The reference request of docs/api-contract.md, whose window is one day. */
export const REFERENCE: Readonly<Record<string, string>> = {
  start: '0',
  length: '50',
  search: '',
  agent: '',
  rule_level: '',
  fromDate: '2026-03-01 00:00:00',
  toDate: '2026-03-01 23:59:59',
  filters: '',
  manager: '',
  manager_tags: '',
  rule_mitre_technique: '',
  rule_mitre_tactic: '',
  rule_level_from: '',
  rule_level_to: '',
  organization: '',
  agent_tags: '',
  hideread: '0',
  detection_type: '',
};

/** The same window for `simulator.matching`. */
export const DAY = { from: '2026-03-01 00:00:00', to: '2026-03-01 23:59:59' };

export interface Reply {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** The body as text. */
  text: string;
}

/** Asks with exactly this target. */
export function askRaw(
  simulator: Simulator,
  target: string,
  headers: Record<string, string> = {},
  method = 'GET',
  signal?: AbortSignal,
): Promise<Reply> {
  const { hostname, port } = new URL(simulator.url);
  return new Promise((resolve, reject) => {
    const asked = request(
      {
        hostname,
        port,
        path: target,
        method,
        agent: false,
        headers: { 'X-API-Key': 'demo-key', ...headers },
        ...(signal ? { signal } : {}),
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const body = Buffer.concat(chunks);
          const { statusCode: status = 0, headers: got } = response;
          resolve({ status, headers: got, body, text: body.toString() });
        });
      },
    );
    asked.on('error', reject);
    asked.end();
  });
}

/** The target of a request that differs from the reference in `changes`; undefined leaves a parameter out. */
export function target(
  changes: Record<string, string | number | undefined> = {},
  resource = 'events',
): string {
  const query = Object.entries({ ...REFERENCE, ...changes })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
    .join('&');
  return `/api/${resource}?${query}`;
}

/** Asks for a page of `events`. */
export function ask(
  simulator: Simulator,
  changes: Record<string, string | number | undefined> = {},
  headers: Record<string, string> = {},
): Promise<Reply> {
  return askRaw(simulator, target(changes), headers);
}

/** The `n` numbers of the records of a DataTables page made by `numbered`. */
export async function numbersOf(
  simulator: Simulator,
  changes: Record<string, string | number> = {},
): Promise<number[]> {
  const { data } = JSON.parse((await ask(simulator, changes)).text);
  return data.map((record: { n: number }) => record.n);
}

/** `count` records `{"n":0,…}` on 2026-03-01, one each minute or all at once. */
export function numbered(count: number, apart = 60_000): string[] {
  const first = Date.parse('2026-03-01T08:00:00Z');
  return Array.from({ length: count }, (_, n) => {
    const timestamp = new Date(first + n * apart).toISOString();
    return JSON.stringify({ n, timestamp });
  });
}
