/** The simulator: a real HTTP server that speaks the Event Query API of docs/api-contract.md, as badly as it is told to. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { DatasetReport } from './dataset.ts';
import { listedText } from './envelopes.ts';
import { newRecord, type RecordInput } from './given-records.ts';
import { SimulatorInputError } from './input-error.ts';
import {
  DEFAULT_FIXED,
  FIXED_NAMES,
  openStreams,
  type SimulatorOptions,
  type Streams,
} from './options.ts';
import { type Filters, filterProblems, type Resource } from './query.ts';
import type { StoredRecord } from './record-list.ts';
import { RequestHandler } from './request-handler.ts';
import { type LoggedRequest, type RequestCounts, RequestLog } from './request-log.ts';
import { changeSwitches, DEFAULT_SWITCHES, type Switches } from './switches.ts';
import { instantsOf, readWallTime } from './wall-time.ts';

export type { DatasetReport } from './dataset.ts';
export type { EnvelopeShape, Totals } from './envelopes.ts';
export type { Fault, FaultConditions, FaultKind, RetryAfter } from './faults.ts';
export type { RecordInput } from './given-records.ts';
export type { Hook, HookAnswer } from './hook.ts';
export { SimulatorInputError } from './input-error.ts';
export type { SimulatorOptions } from './options.ts';
export type { Filter, Filters, Resource } from './query.ts';
export type { LoggedRequest, RequestCounts, SimulatedRequest } from './request-log.ts';
export type { Order } from './selection.ts';
export type { Change, Switches } from './switches.ts';
export type { SubSecond } from './wall-time.ts';

/** A window of a resource, and filters; `from` and `to` are written as in the API. */
export type MatchingQuery = Filters & {
  readonly resource?: Resource;
  readonly from: string;
  readonly to: string;
};

/** A running simulator. */
export interface Simulator {
  /** The base URL, prefix included: `{url}/api/events`. */
  readonly url: string;
  readonly port: number;
  /** The switches as they are now. */
  readonly switches: Switches;
  /** The newest requests, oldest first. */
  readonly requests: readonly LoggedRequest[];
  /** Counts over the whole life; nothing drops out of them. */
  readonly counts: RequestCounts;
  /** What was found in the files that were loaded. */
  readonly datasets: readonly DatasetReport[];
  /**
   * Changes switches for all requests that come from now on.
   * @throws SimulatorInputError when a switch or its value is unknown; then nothing is changed.
   */
  set(changes: Partial<Switches>): void;
  /** Raw record texts that the window holds now, oldest first: what a complete walk must bring. */
  matching(query: MatchingQuery): string[];
  /** The same as they stand in a list of the present envelope; differs for `hits` only. */
  listed(query: MatchingQuery): string[];
  /** How many records the window holds now. */
  count(query: MatchingQuery): number;
  /** Adds records, to `events` unless told otherwise. */
  insert(records: readonly RecordInput[], resource?: Resource): void;
  /** Takes out the records that `gone` accepts and returns how many; seeded records need a window to look in. */
  remove(
    gone: (record: { readonly time: number; readonly text: string }) => boolean,
    where?: { readonly resource?: Resource; readonly from?: string; readonly to?: string },
  ): number;
  /** Resolves when request number `count` has come in; rejects when the simulator stops before. */
  received(count: number): Promise<void>;
  /** Stops listening and ends every connection, stalled ones too. May be called twice. */
  close(): Promise<void>;
}

/**
 * Starts a simulator; it listens when the promise resolves.
 * @throws SimulatorInputError when an option, a file or the port cannot be used.
 */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const switches = Object.entries(options).filter(([name]) => !FIXED_NAMES.includes(name));
  const set = changeSwitches(DEFAULT_SWITCHES, Object.fromEntries(switches));
  const fixed = Object.fromEntries(
    Object.entries(options).filter(
      ([name, value]) => FIXED_NAMES.includes(name) && value !== undefined,
    ),
  ) as SimulatorOptions;
  const { streams, datasets } = await openStreams(fixed);
  const { port, host, prefix, seed, logLimit } = { ...DEFAULT_FIXED, ...fixed };
  const log = new RequestLog(logLimit);
  const handler = new RequestHandler({ streams, log, prefix, seed, switches: set });
  const server = createServer((request, response) => void handler.handle(request, response));
  const address = await listen(server, port, host);
  const shown = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  const url = `http://${shown}:${address.port}${prefix}`;
  return new RunningSimulator(server, handler, log, streams, datasets, url, address.port);
}

class RunningSimulator implements Simulator {
  readonly url: string;
  readonly port: number;
  readonly datasets: readonly DatasetReport[];
  readonly #server: Server;
  readonly #handler: RequestHandler;
  readonly #log: RequestLog;
  readonly #streams: Streams;
  #closed: Promise<void> | undefined;

  constructor(
    server: Server,
    handler: RequestHandler,
    log: RequestLog,
    streams: Streams,
    datasets: readonly DatasetReport[],
    url: string,
    port: number,
  ) {
    this.#server = server;
    this.#handler = handler;
    this.#log = log;
    this.#streams = streams;
    this.datasets = datasets;
    this.url = url;
    this.port = port;
  }

  get switches(): Switches {
    return this.#handler.switches;
  }

  get requests(): readonly LoggedRequest[] {
    return this.#log.entries;
  }

  get counts(): RequestCounts {
    return this.#log.counts;
  }

  set(changes: Partial<Switches>): void {
    this.#handler.set(changes);
  }

  matching(query: MatchingQuery): string[] {
    return Array.from(this.#select(query), (record) => record.bytes.toString());
  }

  listed(query: MatchingQuery): string[] {
    const shape = this.switches.envelope;
    return Array.from(this.#select(query), (record) => listedText(shape, record));
  }

  count(query: MatchingQuery): number {
    return this.#select(query).length;
  }

  insert(records: readonly RecordInput[], resource: Resource = 'events'): void {
    this.#streams[resource].insert(records.map(newRecord));
  }

  remove(
    gone: (record: { readonly time: number; readonly text: string }) => boolean,
    where: { readonly resource?: Resource; readonly from?: string; readonly to?: string } = {},
  ): number {
    const { resource = 'events', from, to } = where;
    const stream = this.#streams[resource];
    const test = (record: StoredRecord) =>
      gone({ time: record.time, text: record.bytes.toString() });
    if (from !== undefined && to !== undefined) {
      const records = [...this.#select({ resource, from, to })].filter(test);
      stream.removeThese(records);
      return records.length;
    }
    const removed = stream.removeEverywhere(test);
    if (removed === undefined) {
      throw new SimulatorInputError(
        'remove: seeded records have no end, so a from and a to are needed',
      );
    }
    return removed;
  }

  received(count: number): Promise<void> {
    return this.#log.received(count);
  }

  close(): Promise<void> {
    this.#closed ??= new Promise((resolve) => {
      this.#log.close();
      this.#server.close(() => resolve());
      // Stalled answers too: each of them waits for its connection to end.
      this.#server.closeAllConnections();
    });
    return this.#closed;
  }

  #select(query: MatchingQuery) {
    const { resource = 'events', from, to, ...filters } = query;
    const first = readWallTime(from);
    const last = readWallTime(to);
    const problems = filterProblems(filters);
    if (first === undefined || last === undefined) problems.push('from, to: YYYY-MM-DD HH:MM:SS');
    if (first === undefined || last === undefined || problems.length > 0) {
      throw new SimulatorInputError(problems.join('; '));
    }
    return this.#streams[resource].select(instantsOf(first, last, this.switches), filters);
  }
}

function listen(server: Server, port: number, host: string): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) =>
      reject(new SimulatorInputError(`cannot listen on ${host} port ${port}: ${error.message}`)),
    );
    server.listen(port, host, () => resolve(server.address() as AddressInfo));
  });
}
