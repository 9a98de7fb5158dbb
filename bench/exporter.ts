/** The whole export in this process: wired and set as the program is, planned, walked, proven, published, sealed. */
import { exportOptions, exportParts, openApi } from '../src/cli/walk-wiring.ts';
import { openDatabase, openLog } from '../src/cli/wiring.ts';
import { loadSettings } from '../src/settings/load.ts';
import type { ApiSettings } from '../src/settings/settings.ts';
import { backfill, type RunReport } from '../src/walk/run.ts';
import { postgresCpuMs } from './postgres-cpu.ts';

/** Which export. */
export interface ExportOrder {
  readonly databaseUrl: string;
  readonly apiUrl: string;
  readonly from: string;
  readonly to: string;
  readonly concurrency: number;
  readonly pageLength: number;
  /** With what has its turn when all days are complete; absent: without. */
  readonly atEnd?: boolean;
  readonly signal: AbortSignal;
}

/** What it took. */
export interface Exported {
  readonly ms: number;
  /** Until the last window was complete; what follows the data may take longer. */
  readonly completeMs: number;
  /** User and system time of this process. */
  readonly cpuMs: number;
  /** The same of Postgres with all its processes; null: it is not on this machine. */
  readonly postgresMs: number | null;
  readonly report: RunReport;
}

/** Settings are those that a user would set, by environment; everything else is the default. */
export function environmentOf(
  order: Pick<ExportOrder, 'databaseUrl' | 'apiUrl' | 'concurrency' | 'pageLength'>,
): Record<string, string> {
  return {
    DATABASE_URL: order.databaseUrl,
    DAYWALK_API_URL: order.apiUrl,
    DAYWALK_API_KEY: 'bench-key',
    DAYWALK_CONCURRENCY: String(order.concurrency),
    DAYWALK_PAGE_LENGTH: String(order.pageLength),
    DAYWALK_STREAMS: 'events',
    DAYWALK_LOG_LEVEL: 'error',
    DAYWALK_LOG_FORMAT: 'json',
  };
}

/** Exports the range and checks that every day of it is complete. */
export async function exportRange(order: ExportOrder): Promise<Exported> {
  const settings = loadSettings({
    flags: {},
    environment: environmentOf(order),
    cwd: '/',
    require: ['api'],
  }) as ApiSettings;
  const log = await openLog(settings);
  const source = await openApi(settings);
  const { database, close } = await openDatabase({ settings, signal: order.signal }, log);
  try {
    const all = exportParts(database, source, log, settings);
    // What has its turn when all days are complete is measured by itself.
    const followers = all.followers.filter(({ atEnd }) => order.atEnd === true || atEnd !== true);
    const parts = { ...all, followers };
    const request = { from: order.from, to: order.to, newestFirst: false };
    const [connection] = await database.query<{ pid: number }>('select pg_backend_pid() as pid');
    const postgres = () => postgresCpuMs(connection?.pid ?? 0);
    const postgresBefore = postgres();
    const cpu = process.cpuUsage();
    const began = performance.now();
    let completeMs = 0;
    const report = await backfill(
      parts,
      exportOptions(settings),
      request,
      order.signal,
      (event) => {
        if (event.kind === 'complete') completeMs = performance.now() - began;
      },
    );
    const ms = performance.now() - began;
    const { user, system } = process.cpuUsage(cpu);
    const postgresAfter = postgres();
    if (report.gaps.length > 0)
      throw new Error(
        `the export left ${report.gaps.length} days incomplete: ${report.failures[0]?.reason ?? 'without a reason'}`,
      );
    const postgresMs =
      postgresBefore === null || postgresAfter === null ? null : postgresAfter - postgresBefore;
    return { ms, completeMs, cpuMs: (user + system) / 1000, postgresMs, report };
  } finally {
    await close();
    await source.close();
    await log.flush();
  }
}
