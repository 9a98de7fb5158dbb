/** A TCP proxy in front of Postgres that can lose statements, or their answers, at a chosen moment. */

import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { listenBefore } from './listen-before.ts';
import { Messages } from './postgres-messages.ts';

/**
 * What becomes of a statement:
 * `drop-before`: the connection is cut, Postgres never gets it;
 * `drop-after`: Postgres has executed it, then the connection is cut before the answer;
 * `hold`: it is kept back until `release`, and delivered even if the client has gone;
 * `swallow`: it vanishes, the connection stays open and silent;
 * `mute`: Postgres has executed it, the answer vanishes, the connection stays open and silent.
 */
export type Fault = 'drop-before' | 'drop-after' | 'hold' | 'swallow' | 'mute';

/** A fault that waits for its statement. */
export interface Ambush {
  /** The statement has arrived here. */
  readonly met: Promise<void>;
  /** Postgres has answered it; for `drop-after`, `mute` and a released `hold`. */
  readonly executed: Promise<void>;
  /** Sends a held statement on. */
  release(): void;
}

interface Trap extends Ambush {
  readonly fault: Fault;
  readonly pattern: RegExp;
  readonly tell: { met: () => void; executed: () => void };
  readonly released: Promise<void>;
}

/** A proxy before one server; its faults are set while it runs. */
export interface PostgresProxy {
  /** The URL that goes through the proxy. */
  readonly url: string;
  /** Lets the next statement whose text matches meet the fault; others pass. */
  ambush(fault: Fault, pattern: RegExp): Ambush;
  /** How many statements came whose text matches, from the beginning. */
  count(pattern: RegExp): number;
  close(): Promise<void>;
}

/** Starts a proxy to the server of `url`. */
export async function startPostgresProxy(url: string): Promise<PostgresProxy> {
  const target = new URL(url);
  const traps: Trap[] = [];
  const statements: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(target.port || 5432), target.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      // Messages are written one by one: Nagle's algorithm would hold each back for 40 ms.
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.on('close', () => sockets.delete(socket));
    }
    pass(client, upstream, (text) => {
      statements.push(text);
      const at = traps.findIndex((trap) => trap.pattern.test(text));
      return at === -1 ? undefined : traps.splice(at, 1)[0];
    });
  });
  const own = await listenBefore(server, url);
  return {
    url: own,
    ambush(fault, pattern) {
      const trap = makeTrap(fault, pattern);
      traps.push(trap);
      return trap;
    },
    count: (pattern) => statements.filter((text) => pattern.test(text)).length,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function makeTrap(fault: Fault, pattern: RegExp): Trap {
  const met = moment();
  const executed = moment();
  const released = moment();
  return {
    fault,
    pattern,
    met: met.come,
    executed: executed.come,
    released: released.come,
    release: released.tell,
    tell: { met: met.tell, executed: executed.tell },
  };
}

/** Something that will happen once, and how to say that it has. */
function moment(): { readonly come: Promise<void>; readonly tell: () => void } {
  let tell = () => {};
  const come = new Promise<void>((resolve) => {
    tell = resolve;
  });
  return { come, tell };
}

/** Joins a client with its server, statement by statement: what stands between Parse (or Query) and Sync. */
function pass(client: Socket, upstream: Socket, trapFor: (text: string) => Trap | undefined): void {
  const fromClient = new Messages('startup');
  const fromServer = new Messages('typed');
  let trap: Trap | undefined;
  let muted = false;
  let held: Buffer[] | undefined;

  client.on('data', (chunk: Buffer) => {
    for (const message of fromClient.add(chunk)) {
      if (trap === undefined && message.statement !== undefined) {
        trap = trapFor(message.statement);
        if (trap !== undefined) spring(trap);
      }
      if (held !== undefined) held.push(message.bytes);
      else if (trap?.fault !== 'drop-before' && trap?.fault !== 'swallow')
        upstream.write(message.bytes);
    }
  });
  upstream.on('data', (chunk: Buffer) => {
    for (const message of fromServer.add(chunk)) {
      if (!muted) client.write(message.bytes);
      // ReadyForQuery: the statement is committed, or has failed.
      if (message.type !== 'Z' || trap === undefined || held !== undefined) continue;
      trap.tell.executed();
      if (trap.fault === 'drop-after') client.destroy();
      if (trap.fault === 'hold') trap = undefined;
    }
  });
  // A held statement outlives its client, as a delayed packet would.
  client.on('close', () => {
    if (held === undefined) upstream.end();
  });
  upstream.on('close', () => client.destroy());

  function spring(sprung: Trap): void {
    sprung.tell.met();
    if (sprung.fault === 'drop-before') {
      client.destroy();
      upstream.destroy();
    }
    muted = sprung.fault === 'drop-after' || sprung.fault === 'mute';
    if (sprung.fault !== 'hold') return;
    const kept: Buffer[] = [];
    held = kept;
    void sprung.released.then(() => {
      held = undefined;
      for (const bytes of kept) upstream.write(bytes);
      if (client.destroyed) void sprung.executed.then(() => upstream.end());
    });
  }
}
