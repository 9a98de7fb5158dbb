/** Turns records that are given in code into stored ones; their texts are kept as they are. */
import type { NewRecord } from './event-stream.ts';
import { SimulatorInputError } from './input-error.ts';
import { readTime, recordTime } from './record-time.ts';

/**
 * A record given in code: its raw text, or the text with a time (milliseconds since the epoch, or written:
 * UTC unless it says otherwise). A text need not be JSON when a time is given with it.
 */
export type RecordInput =
  | string
  | { readonly text: string | Uint8Array; readonly time?: number | string };

/** @throws SimulatorInputError when a record has no time, neither beside it nor in it. */
export function newRecord(input: RecordInput): NewRecord {
  const { text, time } = typeof input === 'string' ? { text: input, time: undefined } : input;
  const bytes = Buffer.from(text);
  const known =
    typeof time === 'number' ? time : time === undefined ? timeIn(bytes) : readTime(time);
  if (known === undefined || !Number.isFinite(known)) {
    throw new SimulatorInputError(`a record without a time: ${bytes.toString().slice(0, 80)}`);
  }
  return { time: known, bytes };
}

function timeIn(bytes: Buffer): number | undefined {
  try {
    const record: unknown = JSON.parse(bytes.toString());
    return typeof record === 'object' && record !== null ? recordTime(record) : undefined;
  } catch {
    return undefined;
  }
}
