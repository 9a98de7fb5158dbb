/** Ordinary options of a source, for tests that are about something else. */
import type { SourceOptions } from '../../src/source/source.ts';

export const SOURCE = {
  key: 'key',
  allowHttp: false,
  gzip: true,
  connections: 4,
  connectTimeoutMs: 10_000,
  pageTimeoutMs: 120_000,
  bodyLimitBytes: 64 * 1024 * 1024,
  retryTimeMs: 300_000,
  retryAfterLimitMs: 900_000,
} as const satisfies Partial<SourceOptions>;
