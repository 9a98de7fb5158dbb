/** One exchange: one request and its answer, all of it within one deadline. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { withDeadline } from '../clock.ts';
import { TransientError } from '../errors.ts';
import type { Priority } from '../model.ts';
import type { Api } from './api.ts';
import { beginning, type Collected, collect, tooLarge } from './body.ts';
import { namedFailure } from './exchange-failure.ts';
import { pageHeaders } from './request.ts';
import type { Spent } from './retry.ts';

/** A page that is being fetched: what is asked for, as messages show it, and what that has taken so far. */
export interface PageFetch extends Spent {
  readonly path: string;
  readonly url: string;
  readonly place: string;
  readonly signal: AbortSignal;
  readonly priority: Priority;
  requests: number;
  /** When its first request went. */
  startedAt: number | null;
  /** Whether a connection that was lost was replaced already, and a key that was refused. */
  freshConnection: boolean;
  freshKey: boolean;
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
export async function exchange(
  api: Api,
  { path, place, signal }: PageFetch,
  key: string,
  dispatcher: Dispatcher,
): Promise<HttpAnswer> {
  const { address, memory, redactor } = api;
  const { clock, gzip, pageTimeoutMs: ms, bodyLimitBytes: limitBytes } = api.options;
  let answering = false;
  /** An answer that is no page, without its body. */
  let refusal: HttpAnswer | null = null;
  let bytes = 0;
  const late = (): TransientError => {
    const within = `within ${ms / 1000} s`;
    return new TransientError(
      answering ? `no complete answer ${within} (${bytes} bytes came)` : `no answer ${within}`,
      {
        hint: 'ask for fewer records per page (page_length), or allow more time (page_timeout)',
        timedOut: true,
      },
    );
  };
  try {
    // undici notices an abort by itself only once it has a connection.
    return await withDeadline({ clock, ms, signal, late }, async (stop) => {
      const response = await dispatcher.request({
        origin: address.origin,
        path,
        method: 'GET',
        headers: pageHeaders(key, gzip),
        signal: stop,
      });
      answering = true;
      const { statusCode: status, headers: answered, body } = response;
      if (status !== 200) {
        refusal = { status, headers: answered, wire: Buffer.alloc(0), giveBack: () => {} };
        return { ...refusal, wire: await beginning(body, ERROR_BODY_BYTES) };
      }
      const known = Number(answered['content-length']);
      if (known > limitBytes) {
        body.on('error', () => {}).destroy();
        throw tooLarge(place, limitBytes);
      }
      const collected = await collect(body, known, memory, (total) => {
        if (total > limitBytes) throw tooLarge(place, limitBytes);
        bytes = total;
      });
      return { status, headers: answered, ...collected };
    });
  } catch (error) {
    signal.throwIfAborted();
    // Time was over before its body was: what it says of the page its status says.
    if (refusal !== null) return refusal;
    const secrets = redactor.secrets();
    throw namedFailure(error, { asked: place, host: address.host, answering, secrets });
  }
}
