/** The source: asks the Event Query API for pages, and gives back each page's bytes or an error that says what to do. */
import type { PageRequest } from '../model.ts';
import { excerpt } from '../redactor.ts';
import { apiOf, type SourceOptions } from './api.ts';
import { type FetchOptions, fetchPage } from './fetch.ts';
import { type ContractHints, findContract } from './find-contract.ts';
import { lengtheningPages } from './short-pages.ts';

export type { Away, SourceOptions, SourceWatch } from './api.ts';

/**
 * Opens a source; no connection is made yet.
 * @throws SettingsError for a URL, key, certificate or proxy that cannot be used.
 */
export function openSource(options: SourceOptions) {
  const api = apiOf(options);
  const { credentials, redactor } = api;
  return {
    /**
     * Fetches one page. A 204, or a 404 in JSON, is one too: some sources answer so where there are no records.
     * @throws RefusedError, RequestError, EnvelopeError, TooLargeError, SettingsError (TLS) at once; UnavailableError
     *   after retries, whose cause is the last TransientError; the signal's reason.
     */
    fetchPage: lengtheningPages((request: PageRequest, fetch: FetchOptions) =>
      fetchPage(api, request, fetch),
    ),
    /** As `findContract`, with the key struck out of its messages. */
    findContract: (body: Buffer, hints?: ContractHints) =>
      findContract(body, { ...hints, secrets: redactor.secrets() }),
    /** What may be shown of text that this source sent: short, one line, without the key. */
    excerpt: (content: string | Uint8Array) => excerpt(content, redactor.secrets()),
    /** What the limiter of this source does now. */
    limits: () => api.limiter.state,
    /** By how many milliseconds the clock of the API is ahead of this machine's; null: no answer told the time. */
    skewMs: () => api.skewMs,
    /** The key of the next request, read again from where it came. */
    currentKey: async () => {
      await credentials.renew(await credentials.current());
      return credentials.current();
    },
    /** The key that was refused last, by an answer that names no time; null: none was. */
    refusedKey: () => api.refusal?.key ?? null,
    /** Drops all connections; what is under way fails. */
    close: () => api.dispatcher.destroy(),
  };
}

/** A source that is open. */
export type Source = Readonly<ReturnType<typeof openSource>>;
