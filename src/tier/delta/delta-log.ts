/** The log of the events table (Delta Lake): numbered commits, each an object that nobody overwrites, with a checkpoint now and then. */
import type { Clock } from '../../clock.ts';
import { EVENTS_FOLDER } from '../day-objects.ts';
import { spoiledObject } from '../object-file.ts';
import type { ObjectStore } from '../object-store.ts';
import {
  commitBytes,
  type DeltaAction,
  DeltaLogError,
  ENGINE,
  type LiveFile,
  metaDataOf,
  PROTOCOL,
} from './delta-actions.ts';
import { checkpointOf } from './delta-checkpoint.ts';
import {
  checkpointKey,
  commitKey,
  DeltaState,
  LAST_CHECKPOINT,
  readOn,
  readState,
} from './delta-replay.ts';

/** A day of the table: the file that it has, or none. */
export type DayFile = LiveFile | (Pick<LiveFile, 'partitionValues'> & { readonly path: null });

/** Whose table it is. */
export interface TableOwner {
  /** The id of a table that begins. */
  newId(): Promise<string>;
  /** Whether a table of this id is one that began so. */
  owns(id: string): Promise<boolean>;
}

/** Nobody reads more commits than about so many. */
const CHECKPOINT_EVERY = 50;
/** Another writer that always is first is none of ours. */
const MOST_ATTEMPTS = 50;

/** So long an older version of the table can be read, as Delta Lake has it, too: a week. */
const FILES_KEPT_MS = 7 * 86_400_000;
/** What a file of ours is called; nothing else is ever removed. */
const OURS = /^stream=[^/]+\/day=[^/]+\/[^/]+\.parquet$/;

/** The log of one store, for one call after the other. Writers may be many; daywalk lets one of them write at a time. */
export class DeltaLog {
  readonly #store: ObjectStore;
  readonly #clock: Clock;
  readonly #owner: TableOwner;
  /** Of the table that is ours; empty: nobody has looked yet. */
  #tableId = '';
  #state = new DeltaState();

  /** @param owner asked before anything is believed of the table. */
  constructor(store: ObjectStore, clock: Clock, owner: TableOwner) {
    this.#store = store;
    this.#clock = clock;
    this.#owner = owner;
  }

  /** The files of the table as it is now, by path; what is known already is not read again. */
  async files(signal: AbortSignal): Promise<ReadonlyMap<string, LiveFile>> {
    return new Map((await this.#newest(signal)).files);
  }

  /**
   * Commits that a day has this file and no other one. May be repeated: where nothing is left to do nothing is written.
   * @throws {DeltaLogError} where the log is not as daywalk writes it.
   * @throws {ObjectStoreError} where there is no such object.
   */
  async commit(day: DayFile, signal: AbortSignal): Promise<void> {
    const { version, checkpoint } = await this.#newest(signal);
    // Before the commit, so that what fails here leaves nothing half done.
    if (version - checkpoint >= CHECKPOINT_EVERY) await this.#writeCheckpoint(signal);
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      if (await this.#tryCommit(day, signal)) return;
      await this.#newest(signal);
    }
    throw new DeltaLogError(`${this.#store.name}: each commit was taken by another writer`, {
      hint: 'Find what else writes to the table of events; only daywalk may.',
    });
  }

  /** @returns false: another writer was first. */
  async #tryCommit(day: DayFile, signal: AbortSignal): Promise<boolean> {
    const actions = actionsFor(this.#state, day, this.#tableId, this.#clock.now());
    if (actions === null) return true;
    for (const { add } of actions) if (add) await this.#checkObject(add, signal);
    const version = this.#state.version + 1;
    const made = await this.#store.create(commitKey(version), commitBytes(actions), signal);
    if (made === 'exists') return false;
    this.#state.take(version, actions);
    return true;
  }

  /** Cleaning up may have removed an object that an earlier attempt left. */
  async #checkObject({ path, size }: LiveFile, signal: AbortSignal): Promise<void> {
    const key = `${EVENTS_FOLDER}${path}`;
    if ((await this.#store.size(key, signal)) !== size) throw spoiledObject(this.#store, key);
  }

  /**
   * Removes the objects of files that left the table a week ago; the log stays, which is small.
   * While it runs, nobody may add a file again that left.
   * @param isKept tells of keys that stay all the same.
   */
  async cleanUp(signal: AbortSignal, isKept: (key: string) => boolean = () => false) {
    const now = this.#clock.now();
    const { removed } = await this.#newest(signal);
    const over = [...removed].filter(
      ([path, at]) =>
        at <= now - FILES_KEPT_MS && OURS.test(path) && !isKept(`${EVENTS_FOLDER}${path}`),
    );
    for (const [path] of over) {
      await this.#store.remove(`${EVENTS_FOLDER}${path}`, signal);
      removed.delete(path);
    }
    // So that nobody removes them again, because the commits say that they left.
    if (over.length > 0) await this.#writeCheckpoint(signal);
  }

  async #newest(signal: AbortSignal): Promise<DeltaState> {
    const known = this.#state;
    // What fails in the middle is not gone on with.
    this.#state = new DeltaState();
    this.#state =
      (await readOn(this.#store, known, signal)) ?? (await readState(this.#store, signal));
    await this.#checkOwner(this.#state);
    return this.#state;
  }

  async #checkOwner({ metaData }: DeltaState): Promise<void> {
    // Asked once, before a commit: whoever commits holds connections that others may wait for.
    if (metaData === null) this.#tableId ||= await this.#owner.newId();
    if (metaData === null || metaData.id === this.#tableId) return;
    if (!(await this.#owner.owns(metaData.id)))
      throw new DeltaLogError(`${this.#store.name}: its table of events is another database's`, {
        hint: 'One folder, or bucket and prefix, belongs to one database: set tier.url to one that is empty.',
      });
    this.#tableId = metaData.id;
  }

  /** Writes a checkpoint of what is known, and says where it is. */
  async #writeCheckpoint(signal: AbortSignal): Promise<void> {
    const { version, files } = this.#state;
    const { body, actions } = await checkpointOf(this.#state);
    await this.#store.replace(checkpointKey(version), body, signal);
    const last = { version, size: actions, sizeInBytes: body.length, numOfAddFiles: files.size };
    await this.#store.replace(LAST_CHECKPOINT, Buffer.from(JSON.stringify(last)), signal);
    this.#state.checkpoint = version;
  }
}

/** What is still to be done; null: nothing. */
function actionsFor(
  { files, metaData }: DeltaState,
  wanted: DayFile,
  tableId: string,
  timestamp: number,
): DeltaAction[] | null {
  const { stream, day } = wanted.partitionValues;
  const removed = [...files.values()].filter(
    ({ path, partitionValues: of }) =>
      of.stream === stream && of.day === day && path !== wanted.path,
  );
  const added = wanted.path === null || files.has(wanted.path) ? [] : [wanted];
  if (added.length + removed.length === 0) return null;
  const operation = added.length > 0 ? 'WRITE' : 'DELETE';
  const commitInfo = { timestamp, operation, operationParameters: {}, engineInfo: ENGINE };
  return [
    { commitInfo },
    ...(metaData === null
      ? [{ protocol: PROTOCOL }, { metaData: metaDataOf(tableId, timestamp) }]
      : []),
    ...removed.map(({ path }) => ({
      remove: { path, deletionTimestamp: timestamp, dataChange: true },
    })),
    ...added.map((add) => ({ add })),
  ];
}
