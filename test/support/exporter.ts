/** An exporter inside the process of the test: its parts and options, ordinary ones where a test does not care. */
import { type Clock, systemClock } from '../../src/clock.ts';
import { sealing } from '../../src/ledger/seal.ts';
import { silentLogger } from '../../src/log.ts';
import type { Stream } from '../../src/model.ts';
import type { ExportOptions, ExportParts } from '../../src/walk/run.ts';

export const EVENTS: Stream = { name: 'events', resource: 'events', filters: {} };

/** Every window once, in small pages, in nobody's way. */
export const OPTIONS: ExportOptions = {
  streams: [EVENTS],
  since: null,
  timeZone: 'UTC',
  settleMs: 0,
  recheckDays: 7,
  keepBytes: false,
  concurrency: 2,
  aheadBytes: 32 * 1024 * 1024,
  pageLength: 100,
  windowRecords: Number.POSITIVE_INFINITY,
  leaseTtlMs: 60_000,
  walkAttempts: 4,
};

/** What a test must choose, and what it may. */
export type GivenParts = Pick<ExportParts, 'database'> & {
  readonly source: ExportParts['reader'] & Pick<ExportParts, 'fetchPage'>;
  readonly clock?: Clock;
  readonly owner?: string;
  /** Instead of the source's own. */
  readonly fetchPage?: ExportParts['fetchPage'];
};

/** The parts of an exporter that reads `source` into `database` and seals days. */
export function exporterParts({
  database,
  source,
  clock = systemClock,
  owner = 'test',
  fetchPage = (request, options) => source.fetchPage(request, options),
}: GivenParts): ExportParts {
  return {
    database,
    fetchPage,
    reader: source,
    clock,
    log: silentLogger,
    owner,
    followers: [sealing({ database, log: silentLogger })],
  };
}
