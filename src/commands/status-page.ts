/** The status page of the worker: opened as the settings say. */
import { systemClock } from '../clock.ts';
import { secretsOf } from '../config/describe.ts';
import { SettingsError } from '../errors.ts';
import { secretFilter } from '../log.ts';
import type { Activity } from '../serve/activity.ts';
import type { Metrics } from '../serve/metrics.ts';
import { openStatusServer } from '../serve/status-server.ts';
import type { ExportSession } from './export-verb.ts';
import { version } from './version.ts';

/**
 * Serves the page, unless it is off. An address that somebody chose and that is taken is an error; the default one may
 * be taken by another worker on this machine, and then this one goes on without a page.
 * @returns closes it.
 * @throws SettingsError
 */
export async function openStatusPage(
  { settings, databaseUrl, log, limits }: ExportSession,
  watchers: { readonly activity: Activity; readonly metrics: Metrics },
): Promise<() => Promise<void>> {
  const { statusListen: address, timezone: timeZone, settle: settleMs, schedule } = settings;
  if (address === null) return async () => {};
  try {
    const server = await openStatusServer({
      ...watchers,
      address,
      hosts: settings.statusHosts ?? [],
      databaseUrl,
      streams: settings.streams.map(({ name }) => name),
      expectation: { timeZone, settleMs, schedule, lateAfterMs: settings.lateAfter },
      version: version(),
      limits,
      clock: systemClock,
      log,
      strike: secretFilter(secretsOf(settings).filter((secret) => secret.length > 3)),
    });
    return () => server.close();
  } catch (error) {
    const chosen = settings.origins['status.listen'] !== undefined;
    if (chosen || !(error instanceof SettingsError)) throw error;
    log.warn({ err: error }, 'this worker has no status page');
    return async () => {};
  }
}
