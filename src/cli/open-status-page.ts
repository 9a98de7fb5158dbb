/** The status page of the worker: opened as the settings say. */
import { systemClock } from '../clock.ts';
import { SettingsError } from '../errors.ts';
import type { Logger } from '../log.ts';
import { expectationOf, type Settings } from '../settings/settings.ts';
import type { Activity } from '../status-page/activity.ts';
import type { Metrics } from '../status-page/metrics.ts';
import { StatusServer } from '../status-page/status-server.ts';
import { packageVersion } from './package-version.ts';
import { redactor } from './process-redactor.ts';

/**
 * Serves the page, unless it is off. An address that somebody chose and that is taken is an error; the default one may
 * be taken by another worker on this machine, and then this one goes on without a page.
 * It is there before the database is, and says that it waits.
 * @returns null: there is no page.
 * @throws SettingsError
 */
export async function openStatusPage(
  settings: Settings,
  log: Logger,
  watchers: { readonly activity: Activity; readonly metrics: Metrics },
): Promise<StatusServer | null> {
  const { statusListen: address } = settings;
  if (address === null) return null;
  try {
    const server = new StatusServer({
      ...watchers,
      address,
      hosts: settings.statusHosts ?? [],
      streams: settings.streams.map(({ name }) => name),
      expectation: expectationOf(settings),
      version: packageVersion(),
      clock: systemClock,
      log,
      strike: redactor.redact,
    });
    await server.listen();
    return server;
  } catch (error) {
    const chosen = settings.origins['status.listen'] !== undefined;
    if (chosen || !(error instanceof SettingsError)) throw error;
    log.warn({ err: error }, 'this worker has no status page');
    return null;
  }
}
