/** The export that most cases run: so many days of so many pages, and the floors of the same pages. */
import pg from 'pg';
import { Agent, request } from 'undici';
import { isRound } from '../src/walk/rules/verdict.ts';
import type { Bench } from './case.ts';
import { type Compression, type Scratch, withDatabase } from './databases.ts';
import { type Exported, type ExportOrder, exportRange } from './exporter.ts';
import type { ServedSource } from './page-server.ts';
import { type Block, makeRecords } from './records.ts';
import { pageFor, sizeOf } from './served-days.ts';
import { withSource } from './source.ts';
import { parallel, timed } from './statistics.ts';

/** Days of pages. */
export interface Workload {
  readonly days: number;
  readonly pagesPerDay: number;
  readonly pageLength: number;
}

export const FIRST_DAY = '2026-03-01';

/** The day that is `days` after the first one. */
export function dayAfter(days: number, first = FIRST_DAY): string {
  return new Date(Date.parse(`${first}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10);
}

/** Pages overlap by one record; the last one is one short of full, as the last page of a day is hardly ever full. */
export function recordsPerDay({ pagesPerDay, pageLength }: Workload): number {
  return pagesPerDay * (pageLength - 1);
}

/** Pages of each day of a source. */
export function pagesPerDay(source: ServedSource, { days, pageLength }: Workload): number[] {
  return Array.from({ length: days }, (_, day) =>
    Math.max(1, Math.ceil((sizeOf(source, day) - 1) / (pageLength - 1))),
  );
}

/** The totals of both halves of a day, and what lies across the cut between them. */
const REQUESTS_OF_HALVES = 3;

/**
 * Requests that completeness needs of a stream that is not new: pages, a cut for each day, and the halves of a day that is
 * larger than all before it or whose size is a round number (docs/completeness.md C5 and C6).
 */
export function requiredRequests(source: ServedSource, workload: Workload): number {
  const sizes = Array.from({ length: DAYS_BEFORE + workload.days }, (_, day) =>
    sizeOf(source, day - DAYS_BEFORE),
  );
  const halved = sizes.filter(
    (size, day) => day >= DAYS_BEFORE && (isRound(size) || size > Math.max(...sizes.slice(0, day))),
  ).length;
  const pages = pagesPerDay(source, workload).reduce((sum, one) => sum + one, 0);
  return pages + workload.days + REQUESTS_OF_HALVES * halved;
}

/** What the page server needs in order to serve the workload; days differ, as real ones do. */
export function served(bench: Pick<Bench, 'dataset'>, workload: Workload): ServedSource {
  const perDay = recordsPerDay(workload);
  const count = perDay * (DAYS_BEFORE + workload.days);
  return {
    records:
      bench.dataset === null
        ? { kind: 'events', count }
        : { kind: 'file', path: bench.dataset, count },
    recordsPerDay: perDay,
    uneven: true,
    firstDay: FIRST_DAY,
  };
}

/** The workload's pages as the page server gives them, by day. */
export function pagesOf(source: ServedSource, workload: Workload): readonly (readonly Buffer[])[] {
  const block: Block = makeRecords(source.records);
  const { pageLength } = workload;
  return pagesPerDay(source, workload).map((pages, day) =>
    Array.from({ length: pages }, (_, page) => {
      const start = page * (pageLength - 1);
      const times = timesOf(day);
      return Buffer.concat(
        pageFor({ ...source, block }, { ...times, start, length: pageLength }).pieces,
      );
    }),
  );
}

const timesOf = (day: number) => ({
  fromDate: `${dayAfter(day)} 00:00:00`,
  toDate: `${dayAfter(day)} 23:59:59`,
});

/** What the paper says of it. */
export const NOT_NEW =
  'The stream is not new: three days were exported before, unmeasured. The first window of a new one is walked twice, by its halves, too, and one window in fifty after that; days differ by up to a tenth, as real ones do.';

/** Days before the first one, by which totals are calibrated and one window is audited. */
const DAYS_BEFORE = 3;

/**
 * Exports the workload into a database of its own, as a stream that is not new: what is learned once, by walking the first
 * window twice, was learned from the days before.
 */
export function exportWorkload(
  bench: Bench,
  apiUrl: string,
  workload: Workload,
  concurrency: number,
  target: {
    readonly postgresUrl: string;
    readonly compression?: Compression;
    /** Months before the first day for which there are partitions; absent: none. */
    readonly monthsBefore?: number;
  } = { postgresUrl: bench.postgres.url },
): Promise<Exported> {
  const { postgresUrl, monthsBefore = 0, ...compressed } = target;
  return withDatabase(postgresUrl, { schema: true, ...compressed }, async ({ url, query }) => {
    await query(
      'select daywalk.ensure_partition(($1::date - make_interval(months => back))::date) from generate_series(1, $2::integer) as back',
      [FIRST_DAY, monthsBefore],
    );
    const order = orderOf(bench, apiUrl, workload, url, concurrency);
    await exportRange({ ...order, from: dayAfter(-DAYS_BEFORE), to: dayAfter(-1) });
    return exportRange(order);
  });
}

/** The order to export the workload into a database. */
export const orderOf = (
  { signal }: Bench,
  apiUrl: string,
  { days, pageLength }: Workload,
  databaseUrl: string,
  concurrency = 4,
): ExportOrder => ({
  databaseUrl,
  apiUrl,
  from: FIRST_DAY,
  to: dayAfter(days - 1),
  concurrency,
  pageLength,
  signal,
});

/** Serves and exports the workload, and works with what is in the database then. */
export function withExported<T>(
  bench: Bench,
  workload: Workload,
  work: (scratch: Scratch, apiUrl: string) => Promise<T>,
): Promise<T> {
  return withSource(served(bench, workload), bench.signal, ({ url: apiUrl }) =>
    withDatabase(bench.postgres.url, { schema: true }, async (scratch) => {
      bench.say('exporting');
      await exportRange(orderOf(bench, apiUrl, workload, scratch.url));
      return work(scratch, apiUrl);
    }),
  );
}

/** The same pages fetched and thrown away, a day after the other on each of `width` connections; milliseconds. */
export async function fetchFloor(
  apiUrl: string,
  source: ServedSource,
  workload: Workload,
  width: number,
  signal: AbortSignal,
): Promise<number> {
  const dispatcher = new Agent({ connections: width });
  const jobs = pagesPerDay(source, workload).map((pages, day) => async () => {
    const times = new URLSearchParams(timesOf(day));
    for (let page = 0; page < pages; page++) {
      const start = page * (workload.pageLength - 1);
      const answer = await request(
        `${apiUrl}/?${times}&start=${start}&length=${workload.pageLength}`,
        { dispatcher, signal },
      );
      await answer.body.arrayBuffer();
    }
  });
  try {
    return await timed(() => parallel(jobs, width));
  } finally {
    await dispatcher.close();
  }
}

const JSONB_VERSION = Buffer.from([1]);

/** The same pages inserted from memory into a table as `daywalk.pages` is, with `width` connections; milliseconds. */
export function insertFloor(
  target: { readonly postgresUrl: string; readonly compression?: Compression },
  pages: readonly (readonly Buffer[])[],
  width: number,
): Promise<number> {
  const { postgresUrl, ...compressed } = target;
  return withDatabase(postgresUrl, { schema: true, ...compressed }, async ({ url, query }) => {
    await query('create table floor (like daywalk.pages including all)');
    const pool = new pg.Pool({ connectionString: url, max: width });
    // The database is dropped while the last of its connections says goodbye.
    pool.on('error', () => {});
    const jobs = pages.map((bodies, day) => async () => {
      for (const [page, body] of bodies.entries())
        await pool.query(
          `insert into floor (walk_id, page_no, day, start, length, records, body, record_hashes, sha256, byte_count,
                              fetched_at, duration_ms)
           values ($1, $2, $3, 0, 1, 0, $4::jsonb, '{}', $5, $6, clock_timestamp(), 0)`,
          [
            day,
            page,
            dayAfter(day),
            Buffer.concat([JSONB_VERSION, body]),
            Buffer.alloc(32),
            body.length,
          ],
        );
    });
    const took = await timed(() => parallel(jobs, width));
    await pool.end();
    return took;
  });
}
