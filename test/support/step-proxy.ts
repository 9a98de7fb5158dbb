/** A TCP proxy in front of Postgres that stops every statement twice, before Postgres has it and before its answer is given back. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { listenBefore } from './listen-before.ts';
import { type Message, Messages } from './postgres-messages.ts';

/** Where a statement stands: Postgres does not have it yet, or has answered it and nobody knows. */
export type Moment = 'before' | 'after';

/** What becomes of a statement at that moment: it goes on, or both connections end there. */
export type Verdict = 'pass' | 'cut';

/** Decides about every statement, twice. Nothing goes on while it thinks. */
export type StatementGate = (statement: string, moment: Moment) => Verdict | Promise<Verdict>;

/** A proxy before one server. */
export interface StepProxy {
  /** The URL that goes through the proxy. */
  readonly url: string;
  /** How many connections to the server are open; a dead client's ends when its last statement has. */
  readonly open: () => number;
  /** While true nothing passes in either direction, and no connection ends: a network that is gone. */
  isolate(isolated: boolean): void;
  close(): Promise<void>;
}

/** Starts a proxy to the server of `url`. */
export async function startStepProxy(url: string, gate: StatementGate): Promise<StepProxy> {
  const target = new URL(url);
  const links = new Set<Link>();
  let isolated = false;
  const server = createServer((client) => {
    const upstream = connect(Number(target.port || 5432), target.hostname);
    const link = new Link(client, upstream, gate);
    if (isolated) link.hold();
    links.add(link);
    upstream.once('close', () => links.delete(link));
  });
  const own = await listenBefore(server, url);
  return {
    url: own,
    open: () => links.size,
    isolate(next) {
      isolated = next;
      for (const link of links)
        if (next) link.hold();
        else link.goOn();
    },
    async close() {
      for (const link of links) link.cut();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A client, its server connection, and the statement that is under way between them. */
class Link {
  readonly #client: Socket;
  readonly #upstream: Socket;
  readonly #gate: StatementGate;
  readonly #fromClient = new Messages('startup');
  readonly #fromServer = new Messages('typed');
  /** What has come and is not yet passed on, in order. */
  #work: Promise<void> = Promise.resolve();
  #statement: string | undefined;
  #answer: Buffer[] = [];
  #held: Promise<void> | undefined;
  #release: () => void = () => {};

  constructor(client: Socket, upstream: Socket, gate: StatementGate) {
    this.#client = client;
    this.#upstream = upstream;
    this.#gate = gate;
    for (const socket of [client, upstream]) {
      // Messages are written one by one: Nagle's algorithm would hold each back for 40 ms.
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
    }
    client.on('data', (chunk: Buffer) =>
      this.#inOrder(this.#fromClient.add(chunk), this.#toServer),
    );
    upstream.on('data', (chunk: Buffer) =>
      this.#inOrder(this.#fromServer.add(chunk), this.#toClient),
    );
    client.on('close', () => this.#later(() => this.#upstream.end()));
    upstream.on('close', () => this.#later(() => this.#client.destroy()));
  }

  hold(): void {
    this.#held ??= new Promise((resolve) => {
      this.#release = resolve;
    });
  }

  goOn(): void {
    this.#held = undefined;
    this.#release();
  }

  cut(): void {
    this.goOn();
    this.#client.destroy();
    this.#upstream.destroy();
  }

  #inOrder(messages: readonly Message[], pass: (message: Message) => Promise<void>): void {
    for (const message of messages) this.#later(() => pass.call(this, message));
  }

  #later(step: () => unknown): void {
    this.#work = this.#work.then(async () => {
      await this.#held;
      await step();
    });
  }

  async #toServer(message: Message): Promise<void> {
    if (message.statement !== undefined && this.#statement === undefined) {
      this.#statement = message.statement;
      await this.#ask('before');
    }
    if (!this.#upstream.destroyed) this.#upstream.write(message.bytes);
  }

  /** The answer to a statement is kept until it is whole (ReadyForQuery): then it is committed, or has failed. */
  async #toClient(message: Message): Promise<void> {
    this.#answer.push(message.bytes);
    if (message.type === 'Z' && this.#statement !== undefined) {
      await this.#ask('after');
      this.#statement = undefined;
    }
    if (this.#statement !== undefined) return;
    for (const bytes of this.#answer.splice(0))
      if (!this.#client.destroyed) this.#client.write(bytes);
  }

  async #ask(moment: Moment): Promise<void> {
    if (this.#client.destroyed) return;
    if ((await this.#gate(this.#statement ?? '', moment)) === 'cut') this.cut();
  }
}
