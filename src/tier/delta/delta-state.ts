/** The events table at a version: its files, and those that were taken out of it a while ago, as the actions up to there say. */
import {
  type DeltaAction,
  DeltaLogError,
  ENGINE,
  fileOf,
  type LiveFile,
  type MetaData,
  PROTOCOL,
  type Protocol,
} from './delta-actions.ts';

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
        const path = decodeURIComponent(remove.path);
        this.files.delete(path);
        this.removed.set(path, remove.deletionTimestamp ?? 0);
      }
      if (add) {
        if (add.deletionVector) throw foreign('rows of a file are deleted there');
        const file = fileOf(add);
        this.removed.delete(file.path);
        this.files.set(file.path, file);
      }
    }
    this.version = version;
  }
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
