/** One exchange: one request and its answer, all of it within one deadline. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { type Clock, withDeadline } from '../clock.ts';
import { TransientError } from '../errors.ts';
import { beginning, type Collected, collect, tooLarge } from './body.ts';
import type { BodyMemory } from './body-memory.ts';
import { type FailurePlace, namedFailure } from './exchange-failure.ts';

export interface ExchangeOptions {
  readonly dispatcher: Dispatcher;
  readonly clock: Clock;
  readonly origin: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: Record<string, string>;
  /** Milliseconds for the whole exchange, waiting for a connection included. */
  readonly timeoutMs: number;
  /** Most bytes of a body on the wire. */
  readonly limitBytes: number;
  readonly signal: AbortSignal;
  readonly place: Omit<FailurePlace, 'answering'>;
  /** Lends the memory of a 200's body. */
  readonly memory: BodyMemory;
}

/** Its body is whole for a 200, and about `ERROR_BODY_BYTES` of anything else. */
export interface HttpAnswer extends Collected {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
}

/** How much is read of an answer that is not a page. */
const ERROR_BODY_BYTES = 16_384;

/**
 * Sends a GET and reads the answer.
 * @throws what `namedFailure` makes of a failure; TransientError when the time is over; TooLargeError; the reason of
 *   `signal` when it is aborted.
 */
export async function exchange(options: ExchangeOptions): Promise<HttpAnswer> {
  const { dispatcher, clock, origin, path, headers, timeoutMs, limitBytes, signal, place } =
    options;
  let answering = false;
  let bytes = 0;
  const late = (): TransientError => lateBy(timeoutMs, answering, bytes);
  try {
    // undici notices an abort by itself only once it has a connection.
    return await withDeadline({ clock, ms: timeoutMs, signal, late }, async (stop) => {
      const response = await dispatcher.request({
        origin,
        path,
        method: 'GET',
        headers,
        signal: stop,
      });
      answering = true;
      const { statusCode: status, headers: answered, body } = response;
      if (status !== 200) {
        const wire = await beginning(body, ERROR_BODY_BYTES);
        return { status, headers: answered, wire, lent: null };
      }
      const expected = Number(answered['content-length']);
      if (expected > limitBytes) {
        body.on('error', () => {}).destroy();
        throw tooLarge(place.asked, limitBytes);
      }
      const collected = await collect(body, {
        limitBytes,
        expected,
        place: place.asked,
        memory: options.memory,
        onBytes: (total) => {
          bytes = total;
        },
      });
      return { status, headers: answered, ...collected };
    });
  } catch (error) {
    signal.throwIfAborted();
    throw namedFailure(error, { ...place, answering });
  }
}

function lateBy(timeoutMs: number, answering: boolean, bytes: number): TransientError {
  const within = `within ${timeoutMs / 1000} s`;
  return new TransientError(
    answering ? `no complete answer ${within} (${bytes} bytes came)` : `no answer ${within}`,
    {
      hint: 'ask for fewer records per page (page_length), or allow more time (page_timeout)',
      timedOut: true,
    },
  );
}
