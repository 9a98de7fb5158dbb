/** What an answer's status means, where it is not 200; pure. */
import { type DaywalkError, RefusedError, RequestError, TransientError } from '../errors.ts';
import { excerpt } from './excerpt.ts';
import { httpDateMs } from './http-date.ts';
import { parseRetryAfter } from './retry.ts';

/** An answer that is not a page. */
export interface Refusal {
  readonly status: number;
  readonly retryAfter: string | undefined;
  /** The `Date` of the server. */
  readonly date: string | undefined;
  readonly location: string | undefined;
  /** The beginning of the body, without content coding. */
  readonly body: Buffer;
}

/** Statuses besides 5xx that may pass by themselves (DESIGN 6). */
const TRANSIENT = new Set([408, 425, 429]);

/**
 * The error that `refusal` means.
 * @param about.url scheme, host and path of what was asked for, safe to show.
 * @param about.place `url` with start and length, for messages.
 * @returns a TransientError, whose message is only the words, for 408, 425, 429 and 5xx; a RefusedError for 401 and
 *   403; a RequestError for everything else, redirects and other 2xx included.
 */
export function errorOfStatus(
  refusal: Refusal,
  about: {
    readonly url: string;
    readonly place: string;
    readonly nowMs: number;
    readonly retryAfterLimitMs: number;
    readonly secrets: readonly string[];
  },
): DaywalkError {
  const { status } = refusal;
  const text = excerpt(refusal.body, about.secrets);
  const said = text === '' ? `answered ${status}` : `answered ${status}: "${text}"`;
  if (TRANSIENT.has(status) || (status >= 500 && status < 600)) {
    const sentAt = httpDateMs(refusal.date ?? '', about.nowMs) ?? about.nowMs;
    const retryAfterMs = parseRetryAfter(refusal.retryAfter, sentAt, about.retryAfterLimitMs);
    return new TransientError(said, {
      status,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    });
  }
  if (status === 401 || status === 403)
    return new RefusedError(status, `${about.place} ${said}`, {
      hint: 'check the API key (DAYWALK_API_KEY) and its rights; daywalk does not try again, because a lock-out may follow',
    });
  if (status >= 300 && status < 400)
    return new RequestError(
      status,
      `${about.place} answered ${status}, ${target(refusal, about)}`,
      {
        hint: 'daywalk follows no redirect, since the key would go along; set api.url to the new address if it is the API',
      },
    );
  const hint = HINTS[status] ?? (status < 300 ? 'only a 200 is a page' : undefined);
  return new RequestError(status, `${about.place} ${said}`, hint === undefined ? {} : { hint });
}

const HINTS: Readonly<Record<number, string>> = {
  400: 'the API did not take a parameter: a filter, the page length, or a start that is too deep',
  404: 'is the path prefix in api.url right? It ends before /api/events',
  405: 'is the path prefix in api.url right? It ends before /api/events',
  407: 'a proxy asks for a password; it is taken from the URL of the proxy',
  413: 'ask for fewer records per page (page_length)',
};

/** Where a redirect points, host only: its path and query may hold a session or the key. */
function target(
  { location }: Refusal,
  about: { readonly url: string; readonly secrets: readonly string[] },
): string {
  if (location === undefined) return 'a redirect without an address';
  if (!URL.canParse(location, about.url)) return 'a redirect to an unreadable address';
  const { protocol, host } = new URL(location, about.url);
  return `a redirect to ${excerpt(`${protocol}//${host}`, about.secrets)}`;
}
