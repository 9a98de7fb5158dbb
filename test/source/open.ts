/** Opens a source against a test server, with a fake clock, and closes it with the test. */

import { onTestFinished } from 'vitest';
import type { PageRequest } from '../../src/model.ts';
import { openSource, type Source, type SourceOptions } from '../../src/source/source.ts';
import { SOURCE } from '../support/source-options.ts';
import { type FakeClock, fakeClock } from './fake-clock.ts';

/** Looked for in every message; a leak is an error. */
export const CANARY = 'CANARY-0123456789/+=';

export const firstPage: PageRequest = {
  resource: 'events',
  filters: {},
  from: '2026-03-01 00:00:00',
  to: '2026-03-01 23:59:59',
  start: 0,
  length: 50,
};

export interface Opened {
  readonly source: Source;
  readonly clock: FakeClock;
  fetch(request?: Partial<PageRequest>, signal?: AbortSignal): ReturnType<Source['fetchPage']>;
  /** The error that fetching a page ends in. */
  fails(signal?: AbortSignal): Promise<Error>;
  /** Its words at each retry. */
  readonly retries: string[];
}

export function open(baseUrl: string, options: Partial<SourceOptions> = {}): Opened {
  const clock = fakeClock();
  const source = openSource({ ...SOURCE, baseUrl, key: CANARY, clock, ...options });
  onTestFinished(() => source.close());
  const retries: string[] = [];
  const fetch: Opened['fetch'] = (request = {}, signal = new AbortController().signal) =>
    source.fetchPage(
      { ...firstPage, ...request },
      { signal, onRetry: ({ error }) => void retries.push(error.message) },
    );
  return {
    source,
    clock,
    retries,
    fetch,
    fails: async (signal) => {
      try {
        await fetch({}, signal);
      } catch (error) {
        if (error instanceof Error) return error;
        throw error;
      }
      throw new Error('the page was fetched');
    },
  };
}

/** All that an error says, with its causes, fields and stacks, for searching. */
export function everythingOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const fields = JSON.stringify(error, Object.getOwnPropertyNames(error));
  return `${fields} ${error.message} ${error.stack} ${error.cause === undefined ? '' : everythingOf(error.cause)}`;
}
