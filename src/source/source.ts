/** The source: asks the Event Query API for pages, and gives back each page's bytes or an error that says what to do. */
import type { Page, PageRequest } from '../model.ts';
import { excerpt } from '../redactor.ts';
import { apiOf, type SourceOptions } from './api.ts';
import { type FetchOptions, fetchPage } from './fetch.ts';
import { type ContractHints, type FoundContract, findContract } from './find-contract.ts';
import type { LimiterState } from './limiter.ts';
import { lengtheningPages } from './short-pages.ts';

export type { Away, SourceOptions, SourceWatch } from './api.ts';

export interface Source {
  /**
   * Fetches one page. A 204, or a 404 in JSON, is one too: some sources answer so where there are no records.
   * @throws RefusedError, RequestError, EnvelopeError, TooLargeError, SettingsError (TLS) at once; UnavailableError
   *   after retries, whose cause is the last TransientError; the signal's reason.
   */
  fetchPage(request: PageRequest, options: FetchOptions): Promise<Page>;
  /** As `findContract`, with the key struck out of its messages. */
  findContract(body: Buffer, hints?: ContractHints): FoundContract;
  /** What may be shown of text that this source sent: short, one line, without the key. */
  excerpt(content: string | Uint8Array): string;
  /** What the limiter of this source does now. */
  limits(): LimiterState;
  /** The key of the next request, read again from where it came. */
  currentKey(): Promise<string>;
  /** The key that was refused last, by an answer that names no time; null: none was. */
  refusedKey(): string | null;
  /** Drops all connections; what is under way fails. */
  close(): Promise<void>;
}

/**
 * Opens a source; no connection is made yet.
 * @throws SettingsError for a URL, key, certificate or proxy that cannot be used.
 */
export function openSource(options: SourceOptions): Source {
  const api = apiOf(options);
  const { credentials, redactor } = api;
  return {
    fetchPage: lengtheningPages((request, fetch) => fetchPage(api, request, fetch)),
    findContract: (body, hints) => findContract(body, { ...hints, secrets: redactor.secrets() }),
    excerpt: (content) => excerpt(content, redactor.secrets()),
    limits: () => api.limiter.state,
    currentKey: async () => {
      await credentials.renew(await credentials.current());
      return credentials.current();
    },
    refusedKey: () => api.refusal?.key ?? null,
    close: () => api.dispatcher.destroy(),
  };
}
