/** Takes each request from the log to its answer: refusals, the hook, the rate limit, faults, the page, and what changes behind it. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ChangeDuringWalk } from './changes.ts';
import { encode, giveNoAnswer, givesNoAnswer, pause, send } from './delivery.ts';
import { answerOfFault, answerOfHook, retryAfterHeader } from './fault-answers.ts';
import { type Fault, FaultDraw } from './faults.ts';
import type { Streams } from './options.ts';
import {
  type Answer,
  answerPage,
  errorAnswer,
  type PageAnswer,
  rawQuery,
  refusal,
} from './page-answer.ts';
import { decodeQuery, RESOURCES } from './query.ts';
import { mix, mixFraction, seedNumber } from './random.ts';
import { TokenBucket } from './rate-limit.ts';
import type { LoggedRequest, RequestLog, SimulatedRequest } from './request-log.ts';
import { type Change, changeSwitches, type Switches } from './switches.ts';
import { instantsOf } from './wall-time.ts';

export interface HandlerParts {
  readonly streams: Streams;
  readonly log: RequestLog;
  readonly prefix: string;
  readonly seed: string | number;
  readonly switches: Switches;
}

export class RequestHandler {
  readonly #streams: Streams;
  readonly #log: RequestLog;
  readonly #prefix: string;
  readonly #seed: number;
  readonly #draw: FaultDraw;
  #switches: Switches;
  #bucket: TokenBucket | undefined;
  #arrivals: ChangeDuringWalk | undefined;
  #deletions: ChangeDuringWalk | undefined;

  constructor({ streams, log, prefix, seed, switches }: HandlerParts) {
    this.#streams = streams;
    this.#log = log;
    this.#prefix = prefix;
    this.#seed = seedNumber(seed);
    this.#draw = new FaultDraw(mix(this.#seed, 1));
    this.#switches = switches;
    this.#begin(switches);
  }

  get switches(): Switches {
    return this.#switches;
  }

  /** Changes switches; a rate limit or a change during walks that is set begins anew. */
  set(changes: Partial<Switches>): void {
    this.#switches = changeSwitches(this.#switches, changes);
    this.#begin(changes);
  }

  /** Answers one request; it never rejects. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const entry = this.#log.begin(this.#read(request));
    const gone = new AbortController();
    response.on('close', () => {
      gone.abort();
      this.#log.end(entry);
    });
    response.on('error', () => gone.abort());
    try {
      await this.#answer(entry, request, response, gone.signal);
    } catch (error) {
      // A mistake in a hook or in here must be seen, and must not end the whole server.
      console.error(`simulator: request ${entry.number} failed:`, error);
      response.destroy();
    }
    this.#log.end(entry);
  }

  #begin(changes: Partial<Switches>): void {
    const change = (given: Change | null, place: number) =>
      given === null ? undefined : new ChangeDuringWalk(given, mix(this.#seed, place));
    const { rateLimit, arrivals, deletions } = changes;
    if (rateLimit !== undefined) {
      this.#bucket =
        rateLimit === null
          ? undefined
          : new TokenBucket(rateLimit.perSecond, rateLimit.burst, performance.now());
    }
    if (arrivals !== undefined) this.#arrivals = change(arrivals, 2);
    if (deletions !== undefined) this.#deletions = change(deletions, 3);
  }

  #read(request: IncomingMessage): Omit<SimulatedRequest, 'number'> {
    const path = request.url ?? '';
    const name = path.split('?', 1)[0];
    return {
      method: request.method ?? '',
      path,
      resource: RESOURCES.find((resource) => name === `${this.#prefix}/api/${resource}`),
      query: Object.fromEntries(decodeQuery(rawQuery(path)) ?? []),
      headers: request.headers,
      receivedAt: Date.now(),
    };
  }

  async #answer(
    entry: LoggedRequest,
    request: IncomingMessage,
    response: ServerResponse,
    signal: AbortSignal,
  ): Promise<void> {
    const switches = this.#switches;
    const deliver = async (answer: Answer, fault?: Fault) => {
      const encoded = await encode(answer, fault, request, switches.gzip);
      entry.status = encoded.status;
      entry.records = answer.records ?? 0;
      entry.bytes = encoded.body.length;
      entry.page = 'query' in answer;
      this.#log.count(entry);
      await send(encoded, fault, response, signal);
    };

    const refused = refusal(entry);
    if (refused !== undefined) return deliver(refused);
    const limited = this.#overLimit(switches);
    if (limited !== undefined) {
      entry.faults.push('rate-limit');
      return deliver(limited);
    }
    const hooked = await switches.respond?.(entry);
    if (hooked !== undefined && !('kind' in hooked)) {
      entry.faults.push('hook');
      return deliver(answerOfHook(hooked));
    }

    await pause(this.#latency(switches, entry.number), signal);
    let fault: Fault | undefined;
    for (const met of hooked === undefined ? this.#draw.draw(switches.faults, entry) : [hooked]) {
      entry.faults.push(met.kind);
      if (met.kind === 'delay') await pause(met.ms, signal);
      else fault = met;
    }
    if (fault !== undefined) {
      const instead = answerOfFault(fault);
      if (instead !== undefined) return deliver(instead);
      if (givesNoAnswer(fault)) {
        this.#log.count(entry);
        return giveNoAnswer(fault, response, signal);
      }
    }
    const noList = fault?.kind === 'null-list';
    const answer = answerPage(entry, this.#streams, switches, this.#seed, noList);
    // Before the answer leaves: when the client has it, the next request sees the change.
    if ('query' in answer) this.#pageServed(answer, switches);
    return deliver(answer, fault);
  }

  #overLimit(switches: Switches): Answer | undefined {
    const seconds = this.#bucket?.take(performance.now()) ?? 0;
    if (seconds === 0 || switches.rateLimit === null) return undefined;
    const whole = Math.ceil(seconds);
    const retryAfter = { seconds: whole, date: `date+${whole}`, none: undefined, garbage: 'soon' }[
      switches.rateLimit.retryAfter ?? 'seconds'
    ];
    const answer = errorAnswer(429, 'too many requests');
    return { ...answer, headers: { ...answer.headers, ...retryAfterHeader(retryAfter) } };
  }

  #latency(switches: Switches, number: number): number {
    const { latency } = switches;
    if (typeof latency === 'number') return latency;
    return latency[0] + (latency[1] - latency[0]) * mixFraction(this.#seed, number, 4);
  }

  #pageServed({ resource, query }: PageAnswer, switches: Switches): void {
    const stream = this.#streams[resource];
    const instants = instantsOf(query.from, query.to, switches);
    const select = () => stream.select(instants, query.filters);
    const leaving = this.#deletions?.due() ?? 0;
    if (leaving > 0) this.#deletions?.vanish(stream, select(), leaving);
    const coming = this.#arrivals?.due() ?? 0;
    if (coming > 0) this.#arrivals?.arrive(stream, select(), instants, coming);
  }
}
