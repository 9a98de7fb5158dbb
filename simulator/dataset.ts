/** Reads an NDJSON file, gzipped or not, into records that keep the bytes of their lines. */
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { SimulatorInputError } from './input-error.ts';
import type { StoredRecord } from './record-list.ts';
import { recordTime } from './record-time.ts';

/** What was found in a file. */
export interface DatasetReport {
  readonly file: string;
  readonly records: number;
  readonly bytes: number;
  /** How many UTC days have records, and the first and last of them (`YYYY-MM-DD`); undefined in an empty file. */
  readonly days: number;
  readonly firstDay: string | undefined;
  readonly lastDay: string | undefined;
  /** Records without a readable time of their own: they take the time of the record before them in the file. */
  readonly withoutTime: number;
}

/** Where records stand when nothing in the whole file has a time. */
const NO_TIME_AT_ALL = 0;

/**
 * Loads a file; its lines are served byte for byte, only line ends and empty lines are left out.
 * @throws SimulatorInputError when a line is not a JSON object, naming the line.
 */
export async function loadDataset(
  file: string,
): Promise<{ records: StoredRecord[]; report: DatasetReport }> {
  const lines: { bytes: Buffer; time: number | undefined }[] = [];
  let number = 0;
  try {
    for await (const line of linesOf(await contentOf(file))) {
      number++;
      if (line.length === 0) continue;
      lines.push({ bytes: line, time: timeOfLine(line, `${file}:${number}`) });
    }
  } catch (error) {
    if (error instanceof SimulatorInputError) throw error;
    throw new SimulatorInputError(`cannot read ${file}: ${(error as Error).message}`);
  }
  let known = lines.find((line) => line.time !== undefined)?.time ?? NO_TIME_AT_ALL;
  let withoutTime = 0;
  let bytes = 0;
  const days = new Set<number>();
  const records = lines.map((line, index): StoredRecord => {
    if (line.time === undefined) withoutTime++;
    else known = line.time;
    bytes += line.bytes.length;
    days.add(Math.floor(known / 86_400_000));
    return { time: known, bytes: line.bytes, serial: index };
  });
  const sorted = [...days].sort((one, other) => one - other);
  const dayText = (day: number | undefined) =>
    day === undefined ? undefined : new Date(day * 86_400_000).toISOString().slice(0, 10);
  const report = {
    file,
    records: records.length,
    bytes,
    days: days.size,
    firstDay: dayText(sorted[0]),
    lastDay: dayText(sorted.at(-1)),
    withoutTime,
  };
  return { records, report };
}

/** The file's content; gzip is known by its first two bytes, whatever the file is called. */
async function contentOf(file: string): Promise<Readable> {
  const magic = Buffer.alloc(2);
  const handle = await open(file);
  await handle.read(magic, 0, 2, 0).finally(() => handle.close());
  const raw = createReadStream(file, { highWaterMark: 1 << 20 });
  if (magic[0] !== 0x1f || magic[1] !== 0x8b) return raw;
  const plain = createGunzip({ chunkSize: 1 << 20 });
  raw.on('error', (error) => plain.destroy(error));
  return raw.pipe(plain);
}

/** Lines without their ends. A line is a view of the chunk that it came in: every byte is kept once. */
async function* linesOf(content: Readable): AsyncGenerator<Buffer> {
  let begun: Buffer[] = [];
  let first = true;
  for await (const chunk of content as AsyncIterable<Buffer>) {
    let at = 0;
    if (first && chunk.length >= 3 && chunk.readUIntBE(0, 3) === 0xefbbbf) at = 3;
    first = false;
    for (let end = chunk.indexOf(10, at); end >= 0; end = chunk.indexOf(10, at)) {
      const rest = chunk.subarray(at, end);
      yield withoutReturn(begun.length === 0 ? rest : Buffer.concat([...begun, rest]));
      begun = [];
      at = end + 1;
    }
    if (at < chunk.length) begun.push(chunk.subarray(at));
  }
  if (begun.length > 0) yield withoutReturn(Buffer.concat(begun));
}

function withoutReturn(line: Buffer): Buffer {
  return line.at(-1) === 13 ? line.subarray(0, -1) : line;
}

function timeOfLine(line: Buffer, place: string): number | undefined {
  let record: unknown;
  try {
    record = JSON.parse(line.toString());
  } catch {
    throw new SimulatorInputError(`${place}: not JSON`);
  }
  if (typeof record !== 'object' || record === null || Array.isArray(record)) {
    throw new SimulatorInputError(`${place}: not a JSON object`);
  }
  return recordTime(record);
}
