/** What is asked of a bucket until it is answered: with keys that are read anew when they are refused, and again after what may pass. */
import { ObjectStoreError, UnavailableError } from '../../errors.ts';
import type { Credentials } from '../../source/credentials.ts';
import { untilItSucceeds } from '../../source/retry.ts';
import { exchangeWith, type S3Answer, type S3Asked, type S3Link } from './s3-exchange.ts';
import { failureOf } from './s3-failure.ts';
import type { S3Keys } from './s3-keys.ts';

/**
 * One request and its answer, which is of an object.
 * @param takes what else is one; any other answer is an error.
 */
export type SendToS3 = (asked: S3Asked, takes: (answer: S3Answer) => boolean) => Promise<S3Answer>;

/** Whether an object was written or found: S3 always tells its ETag, which a page of a proxy on the way has not. */
const isOfObject = ({ status, headers }: S3Answer): boolean =>
  status >= 200 && status < 300 && headers.etag !== undefined;

/**
 * Runs an attempt until it throws no TransientError any more.
 * @param what is done with which key, for messages.
 * @throws {ObjectStoreError} when the time is over.
 */
export type AskS3 = <T>(
  what: string,
  signal: AbortSignal,
  attempt: (send: SendToS3) => Promise<T>,
) => Promise<T>;

/** Key files that change in the middle may be wrong together more than once. */
const MOST_RENEWALS = 3;

export function openS3Asking(link: S3Link, credentials: Credentials<S3Keys>): AskS3 {
  const { clock, retry: policy, onRetry } = link;
  const exchange = async (asked: S3Asked, signal: AbortSignal): Promise<S3Answer> => {
    for (let renewals = 0; ; renewals++) {
      const keys = await credentials.current();
      const answer = await exchangeWith(link, asked, keys, signal);
      // An expired token is a 400 for Amazon; and the answer to a HEAD has no code.
      const isRefusal = answer.status === 403 || answer.status === 400;
      if (!isRefusal || renewals === MOST_RENEWALS || !(await credentials.renew(keys)))
        return answer;
    }
  };
  return async (what, signal, attempt) => {
    const place = `${link.address.name}: ${what}`;
    const send: SendToS3 = async (asked, takes) => {
      const answer = await exchange(asked, signal);
      if (isOfObject(answer) || takes(answer)) return answer;
      throw failureOf(answer, place, link);
    };
    const spent = { ms: 0, namedMs: 0, pauseMs: null };
    const timed = async () => {
      const since = clock.monotonic();
      return attempt(send).finally(() => {
        spent.ms += clock.monotonic() - since;
      });
    };
    try {
      return await untilItSucceeds(timed, { policy, clock, signal, place, spent, onRetry });
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error;
      const { message, cause, hint } = error;
      throw new ObjectStoreError('away', message, { cause, hint });
    }
  };
}
