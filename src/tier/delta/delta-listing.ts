/** The objects of the log: how they are called, which of them are there, and one of them as actions. */

import { EVENTS_FOLDER } from '../event-file.ts';
import type { ObjectStore } from '../object-store.ts';
import { actionsOf, type DeltaAction, DeltaLogError } from './delta-actions.ts';
import { foreign, isOwnCommit } from './delta-state.ts';

const LOG = `${EVENTS_FOLDER}_delta_log/`;
const numbered = (version: number): string => `${LOG}${String(version).padStart(20, '0')}`;

export const commitKey = (version: number): string => `${numbered(version)}.json`;
export const checkpointKey = (version: number): string => `${numbered(version)}.checkpoint.parquet`;
/** Names a checkpoint, so that nobody has to list what is before it. */
export const LAST_CHECKPOINT = `${LOG}_last_checkpoint`;

/** Versions, ascending. */
export interface LogListing {
  readonly commits: readonly number[];
  readonly checkpoints: readonly number[];
}

interface LogEntry {
  readonly key: string;
  readonly kind: 'commits' | 'checkpoints';
  readonly version: number;
  readonly modifiedAt: Date;
}

/** The commits and checkpoints from a version on. */
async function* entriesFrom(
  store: ObjectStore,
  version: number,
  signal: AbortSignal,
): AsyncGenerator<LogEntry> {
  // A name without its ending is before every name with one.
  for await (const { key, modifiedAt } of store.list(LOG, signal, numbered(version))) {
    const [, digits, ending] =
      /^(\d{20})\.(json|checkpoint\.parquet)$/.exec(key.slice(LOG.length)) ?? [];
    if (digits === undefined) continue;
    const kind = ending === 'json' ? 'commits' : 'checkpoints';
    yield { key, kind, version: Number(digits), modifiedAt };
  }
}

export async function listLog(
  store: ObjectStore,
  version: number,
  signal: AbortSignal,
): Promise<LogListing> {
  const listing: Record<LogEntry['kind'], number[]> = { commits: [], checkpoints: [] };
  for await (const entry of entriesFrom(store, version, signal))
    listing[entry.kind].push(entry.version);
  return listing;
}

/** The version that is named as that of the newest checkpoint; null: none is. */
export async function readLastCheckpoint(
  store: ObjectStore,
  signal: AbortSignal,
): Promise<number | null> {
  const named = await store.read(LAST_CHECKPOINT, signal);
  // It is a help only: whatever else it holds, the listing tells.
  const version = Number(/"version"\s*:\s*(\d{1,15})\b/.exec(named?.toString() ?? '')?.[1]);
  return Number.isSafeInteger(version) ? version : null;
}

/** @throws {DeltaLogError} where it is not there, is no commit, or is one of another program. */
export async function readCommit(
  store: ObjectStore,
  version: number,
  signal: AbortSignal,
): Promise<DeltaAction[]> {
  const key = commitKey(version);
  const hint = 'Somebody removed or changed it: put it back from a copy of the folder or bucket.';
  const commit = await store.read(key, signal);
  if (commit === null) throw new DeltaLogError(`${store.name} has no ${key}`, { hint });
  let actions: DeltaAction[];
  try {
    actions = actionsOf(commit);
  } catch (cause) {
    const what = `${store.name}: ${key} is no commit of a Delta Lake table`;
    throw new DeltaLogError(what, { cause, hint });
  }
  if (!isOwnCommit(actions)) throw foreign(`${key} in ${store.name} is not one of daywalk's`);
  return actions;
}

/**
 * Removes what nobody needs to know the table since an instant: the commits and checkpoints before the newest checkpoint
 * that was there by then.
 */
export async function removeOldLog(
  store: ObjectStore,
  before: number,
  signal: AbortSignal,
): Promise<void> {
  const old: LogEntry[] = [];
  for await (const entry of entriesFrom(store, 0, signal)) {
    if (entry.modifiedAt.getTime() > before) break;
    old.push(entry);
  }
  const checkpoint = old.findLast(({ kind }) => kind === 'checkpoints')?.version ?? 0;
  for (const { key, version } of old) if (version < checkpoint) await store.remove(key, signal);
}
