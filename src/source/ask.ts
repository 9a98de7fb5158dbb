/** How one request is made, what its answer is taken for, and what the limiter learns from it. */
import type { Dispatcher } from 'undici';
import { type DaywalkError, RefusedError, TransientError } from '../errors.ts';
import type { Page } from '../model.ts';
import { holdsSecret } from '../redactor.ts';
import type { Api } from './api.ts';
import { decodeBody, emptyAnswer, inUtf8, judgeBody } from './body.ts';
import { exchange, type HttpAnswer, type PageFetch } from './exchange.ts';
import type { Permit } from './limiter.ts';
import { type Quota, quotaOf } from './quota.ts';
import { httpDateMs, parseRetryAfter } from './retry.ts';
import { asksForLater, errorOfStatus } from './status-code.ts';

/** A body as a page holds it. */
export type Body = Pick<Page, 'body' | 'release' | 'status' | 'refused'>;

/** One request; its body when it is one that may be a page. The limiter learns from it whatever comes. */
export async function askOnce(
  api: Api,
  page: PageFetch,
  key: string,
  dispatcher: Dispatcher,
  permit: Permit,
): Promise<Body> {
  const { credentials, redactor, policy } = api;
  const { clock, bodyLimitBytes, watch } = api.options;
  const startedAt = clock.monotonic();
  page.startedAt ??= startedAt;
  page.pauseMs = null;
  const ended = (status: number | 'none'): void => {
    const took = clock.monotonic() - startedAt;
    page.ms += took;
    watch?.answered(status, took);
    if (status !== 'none' && status < 500) api.away = null;
    else api.away ??= { since: startedAt, toldAt: startedAt };
  };
  const answer = await exchange(api, page, key, dispatcher).catch((error: unknown) => {
    if (error instanceof TransientError && error.timedOut) permit.release({ kind: 'late' });
    ended('none');
    throw error;
  });
  ended(answer.status);
  api.everAnswered = true;
  // By the server's own clock where it tells it, so that ours need not agree.
  const dated = httpDateMs(one(answer.headers.date) ?? '');
  const now = dated ?? clock.now();
  api.skewMs = dated === undefined ? api.skewMs : dated - clock.now();
  const quota = quotaOf(answer.headers, now, policy.retryAfterLimitMs);
  if (answer.status !== 200) {
    const { error, body } = await errorOf(api, page, answer, quota, now);
    if (asksForLater(error)) {
      const { retryAfterMs = null } = error;
      watch?.refused(retryAfterMs ?? 0);
      page.pauseMs = permit.release({ kind: 'refused', retryAfterMs, quota });
    }
    // A refused key keeps its place until there is another one, so that nobody goes with the old one meanwhile.
    if (!(error instanceof RefusedError)) permit.release({ kind: 'answered', quota });
    const empty = emptyAnswer(answer.status, body);
    // A body that says the key back is not stored.
    if (empty === null || holdsSecret(empty.body, credentials.newest())) throw error;
    return { ...empty, refused: error };
  }
  permit.release({ kind: 'answered', quota });
  const judging = {
    limitBytes: bodyLimitBytes,
    place: page.place,
    secrets: redactor.secrets(),
  };
  const sent = await decodeBody(answer.wire, answer.headers['content-encoding'], judging);
  const body = inUtf8(sent, one(answer.headers['content-type']));
  judgeBody(body, credentials.newest(), judging);
  if (body === answer.wire) return { body, release: answer.giveBack };
  answer.giveBack();
  return { body };
}

/** The error of an answer that is not a 200, and its body. */
async function errorOf(
  { policy, redactor }: Api,
  { url, place }: PageFetch,
  { status, headers, wire }: HttpAnswer,
  quota: Quota | null,
  now: number,
): Promise<{ error: DaywalkError; body: Buffer }> {
  const secrets = redactor.secrets();
  const judging = { limitBytes: wire.length * 50, place, secrets };
  const body = await decodeBody(wire, headers['content-encoding'], judging).catch(() =>
    Buffer.alloc(0),
  );
  const named = parseRetryAfter(one(headers['retry-after']), now, policy.retryAfterLimitMs);
  const retryAfterMs = named ?? (quota?.remaining === 0 ? quota.resetMs : undefined);
  const location = one(headers.location);
  const error = errorOfStatus({ status, retryAfterMs, location, body }, { url, place, secrets });
  return { error, body };
}

/** The first of a header that may have come several times. */
const one = (header: string | readonly string[] | undefined): string | undefined =>
  [header].flat()[0];
