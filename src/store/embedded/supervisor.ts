/**
 * The program that runs the embedded Postgres of one folder for all daywalk processes there, and outlives each of them.
 * It is started by embedded.ts, in a session of its own, so that neither Ctrl-C nor a killed daywalk takes Postgres
 * down uncleanly: `node supervisor.js <folder>`.
 */
import { statSync } from 'node:fs';
import { systemClock } from '../../clock.ts';
import { SettingsError } from '../../errors.ts';
import { chooseAccount } from './account.ts';
import { type Binaries, findBinaries, prepareBinaries } from './binaries.ts';
import { type Clients, receiveClients } from './clients.ts';
import { ensureCluster } from './cluster.ts';
import { controlAddress } from './control.ts';
import { ensureDatabase } from './database.ts';
import { type Folder, OWN_DATABASE_HINT, placesIn, readPassword, reasonOf } from './folder.ts';
import type { Runner } from './program.ts';
import { adoptServer, type Server, startServer, stopServer } from './server.ts';

/** How long the server runs on without a client: the next command often comes at once. */
const GRACE_MS = 1000;
/** How long the clients have to leave once we are told to stop. */
const LEAVE_MS = 5000;
/** Recovering after a crash may take long; clients that gave up find it done when they come again. */
const START_MS = 600_000;
/** Our standard error is the log file, and Postgres writes there, too. */
const LOG_FILE = 2;

async function supervise(folder: Folder): Promise<void> {
  const clients = await receiveClients(controlAddress(folder.path));
  if (!clients) return;
  const told = new AbortController();
  process.on('SIGTERM', () => told.abort(new Error('stopped by SIGTERM')));
  // These are meant for the program in the foreground.
  for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
  try {
    const binaries = await findBinaries();
    const pgCtl = { command: binaries.pgCtl, data: folder.data };
    const signal = AbortSignal.any([told.signal, systemClock.timeout(START_MS)]);
    const server = await bringUp(folder, binaries, signal);
    try {
      await serve(folder, clients, server, told.signal);
    } finally {
      clients.hush();
      await stopServer(server, pgCtl);
    }
  } catch (error) {
    process.stderr.write(`daywalk: ${reasonOf(error)}\n`);
    process.exitCode = 1;
    const hint = (error instanceof SettingsError && error.hint) || OWN_DATABASE_HINT;
    clients.tell({ failed: reasonOf(error), hint });
    await clients.untilHeard(GRACE_MS);
  } finally {
    clients.close();
  }
}

async function bringUp(folder: Folder, binaries: Binaries, signal: AbortSignal): Promise<Server> {
  const adopted = await adoptServer(folder, signal);
  const server = adopted ?? (await startOwn(folder, binaries, signal));
  try {
    await ensureDatabase(server.port, await readPassword(folder));
  } catch (error) {
    if (!adopted) await stopServer(server);
    throw error;
  }
  return server;
}

async function startOwn(folder: Folder, binaries: Binaries, signal: AbortSignal): Promise<Server> {
  const environment = await prepareBinaries(binaries, folder.libraries);
  const { postgres } = binaries;
  const account = await chooseAccount({ folder, postgres, environment, signal });
  const runner: Runner = { account, environment };
  await ensureCluster(folder, binaries, runner, signal);
  return startServer(folder, binaries, runner, LOG_FILE, signal);
}

/** Lets clients use the server until nobody does, or it ends, or we are told to stop, or its data is taken away. */
async function serve(
  folder: Folder,
  clients: Clients,
  server: Server,
  told: AbortSignal,
): Promise<void> {
  const over = new AbortController();
  const taken = new AbortController();
  const born = identity(folder);
  clients.tell({ port: server.port }, () => {
    if (identity(folder) === born) return true;
    taken.abort();
    return false;
  });
  try {
    await Promise.race([
      clients.untilUnused(GRACE_MS, over.signal),
      server.exited,
      untilAborted(taken.signal),
      untilAborted(told).then(() => {
        clients.hush();
        return Promise.race([
          clients.untilUnused(0, over.signal),
          systemClock.sleep(LEAVE_MS, over.signal),
        ]);
      }),
    ]);
  } finally {
    over.abort();
  }
}

/** Tells the data from other data that was put in its place. */
function identity(folder: Folder): number | undefined {
  return statSync(folder.data, { throwIfNoEntry: false })?.ino;
}

function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
}

const [path] = process.argv.slice(2);
if (path) await supervise(placesIn(path));
