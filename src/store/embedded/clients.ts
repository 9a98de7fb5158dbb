/** The clients of a supervisor: each open connection is one reference to the server, ended by the kernel if its process dies. */
import { EventEmitter, once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { systemClock } from '../../clock.ts';
import { type Answer, listenExclusively, WAIT_FOR_STOP } from './control.ts';

/** Who uses the server, and what they are told. */
export interface Clients {
  /** Tells everyone who is there, and everyone who comes as long as it `holds`. */
  tell(answer: Answer, holds?: () => boolean): void;
  /** Those who come from now on are not told, and not counted; when we are gone, they try anew. */
  hush(): void;
  /** Resolves when nobody has been there for `graceMs` milliseconds; at once when the last to leave waits for that. */
  untilUnused(graceMs: number, signal: AbortSignal): Promise<void>;
  /** Resolves when someone has heard an answer, or after `ms` milliseconds. */
  untilHeard(ms: number): Promise<void>;
  /** Ends all connections and gives the control socket up. */
  close(): void;
}

/** Takes the control socket; undefined when another supervisor holds it. */
export async function receiveClients(address: string): Promise<Clients | undefined> {
  const present = new Set<Socket>();
  const connected = new Set<Socket>();
  const events = new EventEmitter();
  let answer: Answer | undefined;
  let stillHolds = () => true;
  let hushed = false;
  /** The last to leave waits for the stop, so nobody is expected to come. */
  let hurried = false;
  let heard = false;

  const say = (socket: Socket, said: Answer) =>
    socket.write(`${JSON.stringify(said)}\n`, () => {
      heard = true;
      events.emit('heard');
    });

  // Half-open, so that a client can leave and still be told when the server has stopped.
  const server: Server = createServer({ allowHalfOpen: true }, (socket) => {
    let waits = false;
    connected.add(socket);
    if (!hushed) present.add(socket);
    const leave = () => {
      if (present.delete(socket)) events.emit('left');
    };
    socket.on('error', leave);
    socket.on('close', () => {
      connected.delete(socket);
      leave();
    });
    socket.on('data', (chunk) => {
      waits ||= chunk.toString('latin1') === WAIT_FOR_STOP;
    });
    socket.on('end', () => {
      if (waits) hurried = true;
      else socket.end();
      leave();
    });
    if (hushed) return;
    hurried = false;
    events.emit('came');
    if (answer && stillHolds()) say(socket, answer);
  });

  if (!(await listenExclusively(server, address))) return undefined;
  server.on('error', () => undefined);

  return {
    tell(said, holds = () => true) {
      answer = said;
      stillHolds = holds;
      for (const socket of present) say(socket, said);
    },
    hush() {
      hushed = true;
    },
    async untilUnused(graceMs, signal) {
      while (!signal.aborted) {
        while (present.size > 0) await once(events, 'left', { signal });
        const came = new AbortController();
        const someone = () => came.abort();
        events.once('came', someone);
        try {
          await systemClock.sleep(hurried ? 0 : graceMs, AbortSignal.any([came.signal, signal]));
          return;
        } catch {
          // Someone came: wait until they have left, too.
        } finally {
          events.off('came', someone);
        }
      }
      signal.throwIfAborted();
    },
    async untilHeard(ms) {
      if (heard) return;
      const signal = systemClock.timeout(ms);
      await once(events, 'heard', { signal }).catch(() => undefined);
    },
    close() {
      server.close();
      for (const socket of connected) socket.destroy();
    },
  };
}
