/** The wiring of the tier: settings become a folder or a bucket. */
import { systemClock } from '../clock.ts';
import { SettingsError } from '../errors.ts';
import type { Logger } from '../log.ts';
import type { AgeLimit } from '../model.ts';
import { proxyOf, type Settings } from '../settings/settings.ts';
import { readAgain } from '../settings/small-files.ts';
import type { Database } from '../store/database.ts';
import type { MovedRecords } from '../store/moved-days.ts';
import { DeltaLog } from '../tier/delta/delta-log.ts';
import { openFolderStore } from '../tier/folder-store.ts';
import type { TierParts } from '../tier/moved-log.ts';
import { StoredRecords, UNREACHED_RECORDS } from '../tier/moved-records.ts';
import type { ObjectStore } from '../tier/object-store.ts';
import { ownedBy } from '../tier/rows.ts';
import { redactor } from './process-redactor.ts';
import type { Later } from './wiring.ts';

/** What opening needs. */
interface Opening {
  readonly settings: Settings;
  readonly log: Logger;
  readonly later: Later;
}

/** The tier of the settings; see {@link openObjectStore}. */
export async function openTier(database: Database, opening: Opening & Pick<TierParts, 'signal'>) {
  const store = await openObjectStore(opening);
  const log = new DeltaLog(store, systemClock, ownedBy(database));
  return { database, store, log, clock: systemClock, signal: opening.signal };
}

/** What days that moved hold; without a setting that says where that is, each of them is an error. */
export async function openMoved(opening: Opening): Promise<MovedRecords> {
  if (opening.settings.tierUrl === undefined) return UNREACHED_RECORDS;
  return new StoredRecords(await openObjectStore(opening));
}

/**
 * The folder or bucket of the settings.
 * @throws {SettingsError} where there is none.
 */
export async function openObjectStore({ settings, log, later }: Opening): Promise<ObjectStore> {
  const { tierUrl, tierRegion, tierLockDays, tierCaFile } = settings;
  if (tierUrl === undefined)
    throw new SettingsError('nothing says where days move to: tier.url is not set', {
      hint: 'Set tier.url in daywalk.yaml to a folder, or to s3://bucket/prefix; docs/tier.md tells more.',
    });
  if (!tierUrl.startsWith('s3://')) return openFolderStore(tierUrl, systemClock);
  const { S3Store } = await import('../tier/s3/s3-store.ts');
  const [bucket = '', ...prefix] = tierUrl.slice('s3://'.length).split('/');
  const store = new S3Store({
    endpoint: settings.tierEndpoint ?? `https://s3.${tierRegion}.amazonaws.com`,
    bucket,
    prefix: prefix.join('/'),
    pathStyle: settings.tierPathStyle,
    region: tierRegion,
    keys: keysOf(settings),
    tls: tierCaFile === undefined ? {} : { ca: readAgain(tierCaFile), of: 'tier' },
    proxy: proxyOf(settings),
    clock: systemClock,
    redactor,
    lockDays: tierLockDays,
    onRetry: ({ error, failures, waitMs }) =>
      log.warn({ err: error, failures, waitMs }, 'the bucket cannot be used now, trying again'),
  });
  later(store);
  return store;
}

/** Those of files are read anew whenever they are refused. */
function keysOf(settings: Settings) {
  const read = async (key: 'tierKey' | 'tierSecret' | 'tierSessionToken') => {
    const path = settings[`${key}File`];
    return path === undefined ? settings[key]?.reveal() : readAgain(path);
  };
  return async () => ({
    accessKeyId: (await read('tierKey')) ?? '',
    secretAccessKey: (await read('tierSecret')) ?? '',
    sessionToken: (await read('tierSessionToken')) ?? '',
  });
}

/** The age at which days of these streams move by themselves; none where they do not. */
export const moveLimits = (
  { streams, tierAfter }: Pick<Settings, 'streams' | 'tierAfter'>,
  olderThanMs = tierAfter,
): AgeLimit[] =>
  olderThanMs === undefined ? [] : streams.map(({ name }) => ({ stream: name, olderThanMs }));
