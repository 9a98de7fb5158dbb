/** `daywalk serve-archive`: the two operations of the API, answered from what is stored. */
import { once } from 'node:events';
import { serveArchive } from '../../archive/archive-server.ts';
import { ServedArchive } from '../../archive/page.ts';
import { systemClock } from '../../clock.ts';
import { SettingsError } from '../../errors.ts';
import { print } from '../terminal/output.ts';
import { openMoved } from '../tier-wiring.ts';
import type { Invocation } from '../verb.ts';
import { askedOf, tellUrl, withStore } from '../wiring.ts';

/** Serves until it is stopped. */
export async function serveArchiveVerb(invocation: Invocation): Promise<number> {
  const asked = askedOf(invocation);
  const { settings, names: streams, signal } = asked;
  const key = settings.archiveKey?.reveal();
  const { archiveListen: address, archiveFields: fields, timezone: timeZone } = settings;
  if (key === undefined || address === null)
    throw new SettingsError('archive.key is not set, or archive.listen is off: nothing is served', {
      hint: 'Set DAYWALK_ARCHIVE_KEY or DAYWALK_ARCHIVE_KEY_FILE; it is a key of its own, not that of the source.',
    });
  return withStore(asked, async (store) => {
    const { database, log } = store;
    const moved = await openMoved(store);
    tellUrl(store, log);
    const archive = new ServedArchive(database, { streams, fields, timeZone }, moved);
    const listener = await serveArchive({ archive, address, key, clock: systemClock, log });
    store.later(listener);
    print(`serving ${streams.join(', ')} at ${listener.url}`);
    if (!signal.aborted) await once(signal, 'abort');
    throw signal.reason;
  });
}
