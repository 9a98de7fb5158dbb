/** The log as objects, and the events table as it tells of it: read by number, from a checkpoint or what is known to the end. */
import { EVENTS_FOLDER } from '../day-objects.ts';
import { readObject } from '../object-file.ts';
import type { ObjectStore } from '../object-store.ts';
import {
  actionsOf,
  type DeltaAction,
  DeltaLogError,
  ENGINE,
  type LiveFile,
  type MetaData,
  PROTOCOL,
  type Protocol,
} from './delta-actions.ts';

const LOG = `${EVENTS_FOLDER}_delta_log/`;
const numbered = (version: number): string => `${LOG}${String(version).padStart(20, '0')}`;

export const commitKey = (version: number): string => `${numbered(version)}.json`;
export const checkpointKey = (version: number): string => `${numbered(version)}.checkpoint.parquet`;
/** Names the newest checkpoint. */
export const LAST_CHECKPOINT = `${LOG}_last_checkpoint`;

/** The table as the commits say that were added. */
export class DeltaState {
  /** -1: there is no table yet. */
  version = -1;
  /** The version of the newest checkpoint; -1: there is none. */
  checkpoint = -1;
  metaData: MetaData | null = null;
  /** By path. */
  readonly files = new Map<string, LiveFile>();
  /** Files whose objects are still there for those who read an older version, with the time of their removal. */
  readonly removed = new Map<string, number>();

  /**
   * Adds a commit, or all of a checkpoint.
   * @throws {DeltaLogError} where it says that a reader or writer must know more than daywalk does.
   */
  take(version: number, actions: readonly DeltaAction[]): void {
    for (const { protocol, metaData, add, remove } of actions) {
      if (protocol) checkProtocol(protocol);
      if (metaData) this.metaData = metaData;
      if (remove) {
        this.files.delete(remove.path);
        this.removed.set(remove.path, remove.deletionTimestamp ?? 0);
      }
      if (add) {
        if (add.deletionVector) throw foreign('rows of a file are deleted there');
        this.removed.delete(add.path);
        this.files.set(add.path, add);
      }
    }
    this.version = version;
  }
}

/** Commits are small: so many are asked for at once. */
const READ_AT_ONCE = 4;
const HINT =
  'Is the folder or bucket the right one, and mounted? Otherwise somebody removed or changed it: put it back from a copy. Without one, remove events/_delta_log: the next daywalk tier makes it anew.';

/** The state with the commits behind it; null: what it rests on is not there any more. */
export async function readOn(store: ObjectStore, state: DeltaState, signal: AbortSignal) {
  const known = state.version;
  if (known < 0 || (await follow(store, state, 1, signal)) !== null) return null;
  // Asked last: whoever cleans the log up begins at its beginning, so all behind it was there till now.
  return (await store.size(commitKey(known), signal)) === null ? null : state;
}

/**
 * The state as the log tells it: the checkpoint that is named as the newest, and the commits behind it. Commits that somebody
 * removed are told where others stand behind them, up to three in a row; more of them, or what a process that caught up finds
 * lacking next, look like the log's end: the next commits take their numbers, and `settleLog` puts the table right by Postgres.
 * @throws {DeltaLogError} where a commit is missing, is none, or is one of another program.
 */
export async function readState(store: ObjectStore, signal: AbortSignal): Promise<DeltaState> {
  const named = await readLastCheckpoint(store, signal);
  const isThere = named !== null && (await store.size(checkpointKey(named), signal)) !== null;
  const state = isThere ? await readCheckpoint(store, named, signal) : new DeltaState();
  let missing = await follow(store, state, READ_AT_ONCE, signal);
  // A table of which only the name of a checkpoint is left is not a new one.
  if (named !== null && state.version < 0) missing ??= 0;
  if (missing !== null)
    throw new DeltaLogError(`${store.name} has no ${commitKey(missing)}`, { hint: HINT });
  return state;
}

/** The state that the checkpoint of this version holds. */
async function readCheckpoint(store: ObjectStore, version: number, signal: AbortSignal) {
  const state = new DeltaState();
  const number = (_: string, value: unknown) => (typeof value === 'bigint' ? Number(value) : value);
  for await (const rows of readObject<object>(store, checkpointKey(version), signal))
    state.take(
      version,
      rows.map((row): DeltaAction => JSON.parse(JSON.stringify(row, number))),
    );
  // Also where it holds no row.
  state.version = version;
  state.checkpoint = version;
  return state;
}

/** The version that is named as that of the newest checkpoint; null: none is. It is a help only, whatever it holds. */
async function readLastCheckpoint(store: ObjectStore, signal: AbortSignal): Promise<number | null> {
  const named = await store.read(LAST_CHECKPOINT, signal);
  const version = Number(/"version"\s*:\s*(\d{1,15})\b/.exec(named?.toString() ?? '')?.[1]);
  return Number.isSafeInteger(version) ? version : null;
}

/**
 * Adds the commits behind a state, up to the first that is not there.
 * @param atOnce how many are asked for first: most often there is none.
 * @returns the version of that commit, if one behind it is there.
 */
async function follow(store: ObjectStore, state: DeltaState, atOnce: number, signal: AbortSignal) {
  for (let length = atOnce; ; length = READ_AT_ONCE) {
    const first = state.version + 1;
    const read = await Promise.all(
      Array.from({ length }, (_, index) => readCommit(store, first + index, signal)),
    );
    for (const actions of read) {
      if (actions === null) break;
      state.take(state.version + 1, actions);
    }
    if (state.version >= first) continue;
    if (read.every((actions) => actions === null)) return null;
    // Another writer may have written both since this one was asked for.
    if ((await readCommit(store, first, signal)) === null) return first;
  }
}

/**
 * @returns null: it is not there.
 * @throws {DeltaLogError} where it is no commit, or one of another program.
 */
async function readCommit(store: ObjectStore, version: number, signal: AbortSignal) {
  const key = commitKey(version);
  const commit = await store.read(key, signal);
  if (commit === null) return null;
  let actions: DeltaAction[];
  try {
    actions = actionsOf(commit);
  } catch (cause) {
    const what = `${store.name}: ${key} is no commit of a Delta Lake table`;
    throw new DeltaLogError(what, { cause, hint: HINT });
  }
  if (!isOwnCommit(actions)) throw foreign(`${key} in ${store.name} is not one of daywalk's`);
  return actions;
}

/** Whether a commit changes nothing, or is one of daywalk's: another engine may have taken records out, or put its own files in. */
export const isOwnCommit = (actions: readonly DeltaAction[]): boolean =>
  actions.some(({ commitInfo }) => commitInfo?.engineInfo === ENGINE) ||
  actions.every(({ protocol, metaData, add, remove }) => !(protocol || metaData || add || remove));

function checkProtocol({ minReaderVersion: reader, minWriterVersion: writer }: Protocol): void {
  if (reader > PROTOCOL.minReaderVersion || writer > PROTOCOL.minWriterVersion)
    throw foreign(`it wants a reader of version ${reader} and a writer of version ${writer}`);
}

/** The table is not only ours any more. */
export const foreign = (what: string): DeltaLogError =>
  new DeltaLogError(`another program has changed the Delta Lake table of events: ${what}`, {
    hint: 'Only daywalk may write to it: give the other program another table, or copy this one.',
  });
