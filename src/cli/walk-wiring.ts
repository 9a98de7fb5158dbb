/** The wiring of the verbs that talk to the API: settings become a source and the options of the export. */
import { hostname } from 'node:os';
import { systemClock } from '../clock.ts';
import { sealing } from '../ledger/seal.ts';
import type { Logger, ProcessLogger } from '../log.ts';
import { type ApiSettings, proxyOf, type Settings } from '../settings/settings.ts';
import { readAgain } from '../settings/small-files.ts';
import { type Away, openSource, type Source, type SourceOptions } from '../source/source.ts';
import type { Database } from '../store/database.ts';
import { takeSlots } from '../store/rates.ts';
import { filtering } from '../tables/page-filters.ts';
import { keepingTables } from '../tables/record-tables.ts';
import type { InTier } from '../tier/move.ts';
import type { Follower } from '../walk/followers.ts';
import type { ExportOptions, ExportParts } from '../walk/run.ts';
import { claimedByTables } from './claimed-streams.ts';
import { keepHeapSmall } from './heap.ts';
import { redactor } from './process-redactor.ts';
import { type Asked, closing, type Store, windowsAtATime } from './wiring.ts';

/** The API as a source of pages. */
export async function openApi(
  settings: ApiSettings,
  given: Pick<SourceOptions, 'budget' | 'onAway' | 'watch'> = {},
): Promise<Source> {
  keepHeapSmall();
  const { apiKeyFile: keyFile, apiCaFile, apiClientCertFile, apiClientKeyFile } = settings;
  const [ca, clientCert, clientKey] = [apiCaFile, apiClientCertFile, apiClientKeyFile].map(
    (path) => path && readAgain(path),
  );
  return openSource({
    baseUrl: settings.apiUrl,
    key: settings.apiKey.reveal(),
    clock: systemClock,
    redactor,
    ...(keyFile !== undefined && { refreshKey: async () => readAgain(keyFile) }),
    tls: { ca, clientCert, clientKey },
    proxy: proxyOf(settings),
    allowHttp: settings.apiAllowHttp,
    gzip: settings.apiGzip,
    connections: settings.concurrency,
    connectTimeoutMs: settings.connectTimeout,
    pageTimeoutMs: settings.pageTimeout,
    bodyLimitBytes: settings.bodyLimit,
    retryTimeMs: settings.retryTime,
    retryAfterLimitMs: settings.retryAfterLimit,
    ...given,
  });
}

/** What the setting `rate` lets all who ask the API with this database ask together; nothing where it is not set. */
export function budgetOf(
  { settings, signal }: Asked<ApiSettings>,
  database: Database,
): Pick<SourceOptions, 'budget'> {
  const { rate, apiUrl } = settings;
  const { origin } = new URL(apiUrl);
  if (rate === undefined) return {};
  return { budget: { rate, take: (count) => takeSlots(database, origin, rate, count, signal) } };
}

/** The API, and what the export needs of it and of the other parts. */
export type Walking = Awaited<ReturnType<typeof openWalking>>;

/** Opens the API for who walks: asked no more often than the setting `rate` lets all workers together, and told when it is away. */
export async function openWalking(
  asked: Asked<ApiSettings>,
  { database, log, later }: Pick<Store, 'database' | 'log' | 'later'>,
  watch?: SourceOptions['watch'],
) {
  const { settings } = asked;
  const source = await openApi(settings, {
    onAway: tellAway(log),
    ...(watch && { watch }),
    ...budgetOf(asked, database),
  });
  later(source);
  return { source, parts: exportParts(database, source, log, settings) };
}

/** What the export needs of the other parts. */
export function exportParts(
  database: Database,
  source: Source,
  log: ProcessLogger,
  settings: Settings,
): ExportParts {
  return {
    database,
    fetchPage: source.fetchPage,
    reader: source,
    clock: systemClock,
    log,
    // For people who ask who holds a window; the tail tells a restarted container from the one before.
    owner: `${hostname()}:${process.pid}:${systemClock.uuid().slice(0, 6)}`,
    followers: [
      sealing({ database, log }),
      keepingTables({ database, log }, settings.tables),
      filtering({ database }),
      ...(settings.tierAfter === undefined ? [] : [tiering(settings, database, log)]),
    ],
  };
}

/** Tells that the API is away, and how long it is tried. */
export const tellAway =
  (log: Logger) =>
  ({ awayMs, until }: Away): void => {
    const time = new Date(until).toISOString();
    log.warn(
      { awayMs: Math.round(awayMs), until: time },
      `the API has been away for ${Math.round(awayMs / 1000)} s; trying until ${time.slice(11, 19)} UTC`,
    );
  };

/** The tier as something that follows a run; what it needs is loaded when the walking is done. It moves the days that are as old as `tier.after` says, but for streams whose days a record table is to have first. */
export const tiering = (settings: Settings, database: Database, log: Logger): Follower => ({
  what: 'the tier',
  atEnd: true,
  async catchUp(_, signal) {
    const { moveLimits, openTier } = await import('./tier-wiring.ts');
    const { moveDueDays } = await import('../tier/move.ts');
    const parts = { database, clock: systemClock, log };
    const claimed = await claimedByTables(database, settings.tables);
    for (const [stream, reason] of claimed) log.warn({ stream }, `its days do not move: ${reason}`);
    const limits = moveLimits(settings).filter(({ stream }) => !claimed.has(stream));
    const inTier: InTier = (work) =>
      closing(async (later) => work(await openTier(database, { settings, log, later, signal })));
    await moveDueDays(parts, limits, inTier, signal);
  },
});

/** What the export needs of the settings. */
export function exportOptions(settings: Settings): ExportOptions {
  return {
    streams: settings.streams,
    since: settings.since ?? null,
    timeZone: settings.timezone,
    settleMs: settings.settle,
    recheckDays: settings.recheckDays,
    keepBytes: settings.keepBytes === 'always',
    concurrency: settings.concurrency,
    windows: windowsAtATime(settings),
    aheadBytes: settings.aheadMemory,
    pageLength: settings.pageLength,
    windowRecords: settings.windowRecords,
    leaseTtlMs: settings.lease,
    walkAttempts: settings.walkAttempts,
  };
}
