/** Pings in the manner of healthchecks.io: a run has begun, or has ended with this exit status; both carry the run's id. */
import { EXIT } from '../errors.ts';
import type { Poster } from './post.ts';

/** The longest text that is sent along. */
const MOST_TEXT = 10_000;

/**
 * The addresses: `…/start`, `…` for success, `…/3` for exit status 3, each with `?rid=`.
 * @param runId a UUID.
 */
export function pingUrl(base: string, what: 'start' | number, runId: string): URL {
  const url = new URL(base);
  const suffix = what === EXIT.done ? '' : `/${what}`;
  url.pathname = `${url.pathname.replace(/\/+$/, '')}${suffix}`;
  url.searchParams.set('rid', runId);
  return url;
}

/** Sends the pings of a run. @param base where to. */
export const pingsOf =
  ({ url: base, post }: Poster, runId: string) =>
  (what: 'start' | number, text: string): Promise<boolean> =>
    post(
      { headers: { 'content-type': 'text/plain; charset=utf-8' }, body: text.slice(0, MOST_TEXT) },
      pingUrl(base, what, runId),
    );
