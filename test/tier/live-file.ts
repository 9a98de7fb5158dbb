/** Files of the table, as its log names them, and a table of which nobody asks whose it is. */
import { systemClock } from '../../src/clock.ts';
import type { LiveFile } from '../../src/tier/delta/delta-actions.ts';
import type { TableOwner } from '../../src/tier/delta/delta-log.ts';

/** Of a table that is anybody's. */
export const ANYBODY: TableOwner = {
  newId: async () => systemClock.uuid(),
  owns: async () => true,
};

/** Makes files of a day of a stream that were written at this time, milliseconds since the epoch. */
export const filesAt =
  (modificationTime: number) =>
  (stream: string, day: string, name: string): LiveFile => ({
    path: `stream=${stream}/day=${day}/${name}.parquet`,
    partitionValues: { stream, day },
    size: name.length,
    modificationTime,
    dataChange: true,
    stats: '{"numRecords":1}',
  });
