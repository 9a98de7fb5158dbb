/** One message to an address that a person gave: bounded in time, never followed elsewhere, and never a reason to fail. */
import type { Dispatcher } from 'undici';
import type { Clock } from '../clock.ts';
import type { Logger } from '../log.ts';

/** What is sent. */
export interface Posted {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A way to the address of a ping or webhook. */
export type Poster = ReturnType<typeof openPoster>;

/** What posting needs. */
export interface PosterParts {
  readonly url: string;
  readonly dispatcher: Dispatcher;
  readonly clock: Clock;
  readonly log: Logger;
  /** `ping` or `webhook`, for the log. */
  readonly what: string;
}

/** Each of two attempts; in sum a run is held up by twice this and the wait at most. */
const TIMEOUT_MS = 5_000;
const WAIT_MS = 500;
const ATTEMPTS = 2;

/** Opens no connection yet. */
export function openPoster(parts: PosterParts) {
  /**
   * Sends a POST, and once more where that may help.
   * @returns null: the service took it; otherwise why not, without the address, which is a secret (I10).
   */
  async function deliver(posted: Posted, url = new URL(parts.url)): Promise<string | null> {
    let why: string | null = null;
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      if (attempt > 1) await parts.clock.sleep(WAIT_MS);
      why = await once(parts, url, posted);
      if (why === null || (/^answered [34]/.test(why) && why !== 'answered 429')) break;
    }
    return why;
  }
  return {
    url: parts.url,
    deliver,
    /** The same. @returns whether the service took it; why not is logged. */
    async post(posted: Posted, url?: URL): Promise<boolean> {
      const why = await deliver(posted, url);
      if (why !== null)
        parts.log.warn({ why }, `the ${parts.what} was not delivered; the export goes on`);
      return why === null;
    },
    close: () => parts.dispatcher.destroy(),
  };
}

/** Null: it was taken; otherwise why not. Codes only: an error's message may hold the address. */
async function once({ dispatcher, clock }: PosterParts, url: URL, { headers, body }: Posted) {
  try {
    const answer = await dispatcher.request({
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method: 'POST',
      headers: { ...headers, 'user-agent': 'daywalk' },
      body,
      signal: clock.timeout(TIMEOUT_MS),
    });
    // Not read: nobody wants the answer, and it may be without end.
    answer.body.on('error', () => {}).destroy();
    return answer.statusCode >= 200 && answer.statusCode < 300
      ? null
      : `answered ${answer.statusCode}`;
  } catch (error) {
    const { name, code } = error as { name?: string; code?: string };
    return name === 'TimeoutError'
      ? `no answer within ${TIMEOUT_MS} ms`
      : (code ?? name ?? 'error');
  }
}
