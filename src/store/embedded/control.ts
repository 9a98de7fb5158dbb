/** The control socket: where the daywalk processes of one folder meet the supervisor of its Postgres, and what it tells them. */
import { createHash } from 'node:crypto';
import { unlink } from 'node:fs/promises';
import { connect as dial, type Server, type Socket } from 'node:net';

/** The one line that a supervisor says to each client. Closing without it means: come again. */
export type Answer =
  | { readonly port: number }
  | { readonly failed: string; readonly hint?: string };

/** What a client says to be told, by the end of the connection, when Postgres has stopped. */
export const WAIT_FOR_STOP = 'wait\n';

/**
 * The address of the control socket of a folder.
 * On Linux it is an abstract name: the kernel frees it with its process, and no path can be too long for it.
 */
export function controlAddress(folder: string, platform = process.platform): string {
  const name = `daywalk-${createHash('sha256').update(folder).digest('hex').slice(0, 32)}`;
  if (platform === 'linux') return `\0${name}`;
  if (platform === 'win32') return `\\\\.\\pipe\\${name}`;
  // Not os.tmpdir(): on macOS it differs between users and sessions.
  return `/tmp/${name}.sock`;
}

/**
 * Takes the control socket, which only one process can hold.
 * @returns whether it is ours now.
 */
export async function listenExclusively(server: Server, address: string): Promise<boolean> {
  if (await tryListen(server, address)) return true;
  if (!address.startsWith('/')) return false;
  const other = await connectControl(address);
  if (other) {
    other.destroy();
    return false;
  }
  // A socket file that nobody listens on was left by a killed supervisor.
  await unlink(address).catch(() => undefined);
  return tryListen(server, address);
}

function tryListen(server: Server, address: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException) => {
      server.off('listening', listening);
      if (error.code === 'EADDRINUSE') resolve(false);
      else reject(error);
    };
    const listening = () => {
      server.off('error', failed);
      resolve(true);
    };
    server.once('error', failed).once('listening', listening);
    server.listen(address);
  });
}

/** A connection to the supervisor, or undefined when there is none. */
export function connectControl(address: string): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = dial({ path: address });
    const failed = () => resolve(undefined);
    socket.once('error', failed).once('connect', () => {
      socket.off('error', failed);
      // What breaks a connection is told by its 'close'.
      socket.on('error', () => undefined);
      resolve(socket);
    });
  });
}

/**
 * The supervisor's answer; undefined when it closed without one, because it is stopping.
 * @throws the signal's reason, when that is aborted first.
 */
export function readAnswer(socket: Socket, signal: AbortSignal): Promise<Answer | undefined> {
  return new Promise((resolve, reject) => {
    let text = '';
    const settle = (outcome: () => void) => {
      socket.off('data', read).off('close', closed);
      signal.removeEventListener('abort', aborted);
      outcome();
    };
    const read = (chunk: Buffer) => {
      text += chunk.toString('utf8');
      const end = text.indexOf('\n');
      if (end >= 0) settle(() => resolve(parseAnswer(text.slice(0, end))));
    };
    const closed = () => settle(() => resolve(undefined));
    const aborted = () => settle(() => reject(signal.reason));
    socket.on('data', read).on('close', closed);
    signal.addEventListener('abort', aborted);
    if (signal.aborted) aborted();
  });
}

function parseAnswer(line: string): Answer {
  try {
    return JSON.parse(line) as Answer;
  } catch {
    return { failed: `the control socket is held by something that is not daywalk` };
  }
}
