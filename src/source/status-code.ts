/** What an answer's status means, where it is not 200; pure. */
import { type DaywalkError, RefusedError, RequestError, TransientError } from '../errors.ts';
import { excerpt, redact } from '../redactor.ts';

/** An answer that is not a page. */
export interface ErrorAnswer {
  readonly status: number;
  /** Milliseconds to wait, where a header names them. */
  readonly retryAfterMs: number | undefined;
  readonly location: string | undefined;
  /** The beginning of the body, without content coding. */
  readonly body: Buffer;
}

/** What was asked for. */
interface About {
  /** Scheme, host and path, safe to show. */
  readonly url: string;
  /** The same with start and length, for messages. */
  readonly place: string;
  readonly secrets: readonly string[];
}

/** Statuses besides 5xx that may pass by themselves. */
const TRANSIENT = new Set([408, 425, 429]);
/** Statuses that ask everyone to come later; a 403 only where it says when. */
const LATER = new Set([403, 429, 503]);

/** Whether everyone was asked to come later. */
export function asksForLater(error: unknown): error is TransientError {
  return error instanceof TransientError && LATER.has(error.status ?? 0);
}

/**
 * The error that `refusal` means.
 * @returns a TransientError, whose message is only the words, for 408, 425, 429, 5xx, and for a 403 or a 202 that names a time, as some
 *   APIs limit rates with the former, and with the latter fetch first what was archived; a RefusedError for 401 and any other 403; a RequestError for everything else, redirects and other 2xx included.
 */
export function errorOfStatus(refusal: ErrorAnswer, about: About): DaywalkError {
  const { status, retryAfterMs } = refusal;
  const text = excerpt(refusal.body, about.secrets);
  const said = text === '' ? `answered ${status}` : `answered ${status}: "${text}"`;
  const later = (status === 403 || status === 202) && retryAfterMs !== undefined;
  if (TRANSIENT.has(status) || later || (status >= 500 && status < 600))
    return new TransientError(said, { status, retryAfterMs });
  if (status === 401 || status === 403)
    return new RefusedError(status, `${about.place} ${said}`, {
      hint: status === 403 ? `${REFUSED}; ${leaveOut(about.url)}; ${NEWER_DAYS}` : REFUSED,
    });
  // What a 304 says is unchanged was not asked for: some APIs mean that there is nothing.
  const isRedirect = status >= 300 && status < 400 && status !== 304;
  const isNotThere = status === 404 || status === 405;
  const advice = isNotThere ? `${WRONG_PATH}; ${leaveOut(about.url)}` : HINTS[status];
  const hint = isRedirect ? NOT_FOLLOWED : (advice ?? (status < 400 ? NO_PAGE : undefined));
  const what = isRedirect ? `answered ${status}, ${target(refusal, about)}` : said;
  return new RequestError(status, `${about.place} ${what}`, { hint });
}

const REFUSED =
  'check the API key (its file, or DAYWALK_API_KEY) and its rights; daywalk stops asking, because the API may lock the key';

const NOT_FOLLOWED =
  'daywalk follows no redirect, since the key would go along; set api.url to the new address if it is the API';
const NO_PAGE = 'only a 200 is a page';

const WRONG_PATH = 'is the path prefix in api.url right? It ends before /api/events';
const NEWER_DAYS = 'if it shows newer days only, set `since` later';

/** Without `streams` both resources are asked for; an API may have one of them only, or a key the right to one. */
const leaveOut = (url: string): string =>
  `if other streams can be read, and not ${url.slice(url.lastIndexOf('/api/'))}, name those alone in \`streams\``;

const HINTS: Readonly<Record<number, string>> = {
  400: 'the API did not take a parameter: page_length may be too long, a filter of the stream wrong, or the day too old for it (set `since` later)',
  407: 'a proxy asks for a password; it is taken from the URL of the proxy',
  413: 'ask for fewer records per page (page_length)',
};

/** Where a redirect points, host only: its path and query may hold a session or the key. */
function target({ location }: ErrorAnswer, about: About): string {
  if (location === undefined) return 'a redirect without an address';
  // Its host alone may be the greater part of a key with a slash in it.
  if (redact(location, about.secrets) !== location) return 'a redirect to an address with a secret';
  if (!URL.canParse(location, about.url)) return 'a redirect to an unreadable address';
  const { protocol, host } = new URL(location, about.url);
  return `a redirect to ${excerpt(`${protocol}//${host}`, about.secrets)}`;
}
