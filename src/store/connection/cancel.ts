/** Cancels on the server what a connection runs: a statement that nobody waits for any more would go on, and keep its locks and its place. */
import pg from 'pg';
import type { Clock } from '../../clock.ts';

/** What `pg` knows of a connection and its types do not tell. */
interface Target {
  readonly processID: number | null;
  readonly secretKey: number;
  readonly host: string;
  readonly port: number;
  readonly ssl: pg.ClientConfig['ssl'];
  readonly sslNegotiation: 'postgres' | 'direct';
}
interface Wire extends pg.Connection {
  connect(portOrSocket: number | string, host?: string): void;
  requestSsl(): void;
  cancel(processID: number, secretKey: number): void;
}

/** How long the server may take to take the requests. */
const LONGEST_MS = 5_000;
/** A request that came before its statement did has cancelled nothing: others follow, after so many milliseconds. */
const WAITS_MS = [50, 100, 200, 400];

/**
 * Cancels what the connection runs, again where it has not ended. Never fails: it is a courtesy, and nothing depends on it.
 * @param running the statement; it ends with an error when it is cancelled.
 * @returns when it has ended, or no request is left.
 */
export async function cancelStatement(
  client: pg.ClientBase,
  running: Promise<unknown>,
  clock: Clock,
): Promise<void> {
  const deadline = clock.timeout(LONGEST_MS);
  const ended = running.then(() => true).catch(() => true);
  for (const waitMs of WAITS_MS) {
    await requestCancel(client, deadline);
    if (await Promise.race([ended, clock.sleep(waitMs).then(() => deadline.aborted)])) return;
  }
}

/**
 * Sends a cancel request over a connection of its own, as the protocol has it; PgBouncer passes it on. Resolves when the
 * server has taken it, could not be reached, or `deadline` has passed.
 * https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-CANCELING-REQUESTS
 */
function requestCancel(client: pg.ClientBase, deadline: AbortSignal): Promise<void> {
  const target = client as unknown as Target;
  const { processID, secretKey, host, port, ssl, sslNegotiation } = target;
  if (processID === null) return Promise.resolve();
  return new Promise((resolve) => {
    const wire = new pg.Connection({ ssl, sslNegotiation } as pg.ConnectionConfig) as Wire;
    const end = () => {
      wire.stream.destroy();
      resolve();
    };
    deadline.addEventListener('abort', end, { once: true });
    const send = () => wire.cancel(processID, secretKey);
    wire.on('error', end).on('end', end).on('sslconnect', send);
    wire.on('connect', () => {
      if (!ssl) send();
      else if (sslNegotiation !== 'direct') wire.requestSsl();
    });
    if (host.startsWith('/')) wire.connect(`${host}/.s.PGSQL.${port}`);
    else wire.connect(port, host);
  });
}
