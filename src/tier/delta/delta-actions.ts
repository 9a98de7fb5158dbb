/** What stands in the log of the events table: the actions of Delta Lake's protocol that daywalk writes and reads, a line of JSON each. */
import { DaywalkError } from '../../errors.ts';
import type { Day } from '../../model.ts';
import { EVENT_COLUMNS } from '../day-objects.ts';

/** The log is not as daywalk writes it, or another program wants more of a writer: nothing is written until a person has looked. */
export class DeltaLogError extends DaywalkError {}

/** A file of the table, as the action that adds it tells of it. */
export interface LiveFile {
  /** Below the folder of the table. The protocol wants a URI: names of streams and of publications are the same as one. */
  readonly path: string;
  readonly partitionValues: { readonly stream: string; readonly day: Day };
  /** Bytes. */
  readonly size: number;
  /** When it was written: milliseconds since 1970. */
  readonly modificationTime: number;
  /** False in a checkpoint, which says again what commits said. */
  readonly dataChange: boolean;
  /** How many records, in the words of the protocol. */
  readonly stats?: string | null;
}

/** One of these; what else there may be is for others. */
export interface DeltaAction {
  readonly commitInfo?: Readonly<Record<string, unknown>>;
  readonly protocol?: Protocol | null;
  readonly metaData?: MetaData | null;
  readonly add?: (LiveFile & { readonly deletionVector?: unknown }) | null;
  readonly remove?: {
    readonly path: string;
    readonly deletionTimestamp?: number | null;
    readonly dataChange: boolean;
  } | null;
}

/** Who wrote a commit, in its `commitInfo`. */
export const ENGINE = 'daywalk';

/** The oldest protocol that is still written: every reader takes it. */
export const PROTOCOL = { minReaderVersion: 1, minWriterVersion: 2 };
export type Protocol = Readonly<typeof PROTOCOL>;

const TYPE_OF: Readonly<Record<string, string>> = {
  text: 'string',
  int64: 'long',
  int32: 'integer',
  microseconds: 'timestamp',
};

/** The table as a new log tells of it. */
export const metaDataOf = (id: string, createdTime: number) => ({
  id,
  name: 'events',
  description: 'Records as daywalk.events of daywalk shows them, of days that moved here',
  format: { provider: 'parquet', options: {} },
  schemaString: JSON.stringify({
    type: 'struct',
    fields: [
      { name: 'stream', type: 'string', nullable: false, metadata: {} },
      { name: 'day', type: 'date', nullable: false, metadata: {} },
      ...EVENT_COLUMNS.map(({ name, kind, optional }) => ({
        name,
        type: TYPE_OF[kind],
        nullable: optional === true,
        metadata: {},
      })),
    ],
  }),
  partitionColumns: ['stream', 'day'],
  createdTime,
  configuration: {},
});
export type MetaData = Readonly<ReturnType<typeof metaDataOf>>;

/** A commit as its object. */
export const commitBytes = (actions: readonly DeltaAction[]): Buffer =>
  Buffer.from(actions.map((action) => `${JSON.stringify(action)}\n`).join(''));

/** The actions of a commit. */
export const actionsOf = (commit: Buffer): DeltaAction[] =>
  commit
    .toString()
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line));
