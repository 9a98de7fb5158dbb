/** Pings in the manner of healthchecks.io: a run has begun, or has ended with this exit status; both carry the run's id. */
import { EXIT } from '../errors.ts';
import type { Poster } from './post.ts';

/** The pings of one run. */
export interface RunPings {
  /** Says that the run has begun; does not hold it up. */
  start(): void;
  /** Says how it ended, after the start was said. */
  end(exitCode: number, text: string): Promise<void>;
}

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

/** The pings of a run. */
export function pingsOf(poster: Poster, base: string, runId: string): RunPings {
  const send = (what: 'start' | number, text: string) =>
    poster.post(pingUrl(base, what, runId), {
      headers: { 'content-type': 'text/plain; charset=utf-8' },
      body: text.slice(0, MOST_TEXT),
    });
  let started: Promise<unknown> = Promise.resolve();
  return {
    start() {
      started = send('start', '');
    },
    async end(exitCode, text) {
      await started;
      await send(exitCode, text);
    },
  };
}
