/** Files of the table, as its log names them. */
import type { LiveFile } from '../../src/tier/delta/delta-actions.ts';

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
