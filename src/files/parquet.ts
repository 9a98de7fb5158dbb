/** A day as Parquet: one row a record, one row group after another, so that memory holds one of them at most. */
import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import type { Day } from '../model.ts';
import type { ArchivedRecord } from './rows.ts';
import { LineDigest, type Written } from './written.ts';

type Library = typeof import('hyparquet-writer');
type Schema = ConstructorParameters<Library['ParquetWriter']>[0]['schema'];

/** Bytes of record text in a row group. */
const GROUP_BYTES = 16_000_000;
const DAY_MS = 86_400_000;

const TIME = {
  type: 'INT64',
  logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
} as const;

/** The columns of daywalk.events. The record is JSON text: a reader that takes numbers for doubles can still get at every digit. */
const SCHEMA: Schema = [
  { name: 'records', num_children: 10 },
  { name: 'stream', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'REQUIRED' },
  { name: 'day', type: 'INT32', converted_type: 'DATE', repetition_type: 'REQUIRED' },
  {
    name: 'record',
    type: 'BYTE_ARRAY',
    logical_type: { type: 'JSON' },
    repetition_type: 'REQUIRED',
  },
  { name: 'walk_id', type: 'INT64', repetition_type: 'REQUIRED' },
  { name: 'page_no', type: 'INT32', repetition_type: 'REQUIRED' },
  { name: 'position', type: 'INT64', repetition_type: 'REQUIRED' },
  { name: 'fetched_at', ...TIME, repetition_type: 'REQUIRED' },
  { name: 'first_seen', ...TIME, repetition_type: 'REQUIRED' },
  { name: 'gone_since', ...TIME, repetition_type: 'OPTIONAL' },
  { name: 'revision', type: 'INT32', repetition_type: 'REQUIRED' },
];

/** As the footer tells it: DuckDB looks at the older mark of JSON only. While rows are written the library would take it for a wish to turn each value into JSON once more. */
const FOOTER: Schema = SCHEMA.map((element) =>
  element.name === 'record' ? { ...element, converted_type: 'JSON' } : element,
);

/** Writes the records, as they come, into `file`. */
export async function writeParquet(
  file: FileHandle,
  chunks: AsyncIterable<readonly ArchivedRecord[]>,
  { stream, day }: { stream: string; day: Day },
  signal: AbortSignal,
): Promise<Written> {
  // Loaded when it is needed: other verbs begin without it.
  const { ByteWriter, ParquetWriter } = await import('hyparquet-writer');
  const lines = new LineDigest();
  const hash = createHash('sha256');
  const writer = new ByteWriter();
  let bytes = 0;
  const flush = async () => {
    const part = Buffer.from(writer.getBytes());
    hash.update(part);
    bytes += part.length;
    await file.writeFile(part);
    writer.index = 0;
  };
  const parquet = new ParquetWriter({
    writer: Object.assign(writer, { flush }),
    schema: SCHEMA,
    codec: 'GZIP',
    compressors: { GZIP: (input: Uint8Array) => gzipSync(input, { level: 4 }) },
    createdBy: 'daywalk',
  });
  for await (const group of groupsOf(chunks)) {
    signal.throwIfAborted();
    lines.take(group);
    await parquet.write({ columnData: columnsOf(group, stream, day), rowGroupSize: group.length });
  }
  parquet.schema = FOOTER;
  await parquet.finish();
  await flush();
  return { ...lines.end(), bytes, sha256: hash.digest('hex') };
}

function columnsOf(group: readonly ArchivedRecord[], stream: string, day: Day) {
  const date = Date.parse(`${day}T00:00:00Z`) / DAY_MS;
  const column = (name: string, data: unknown[]) => ({ name, data, offsetIndex: false });
  return [
    column(
      'stream',
      group.map(() => stream),
    ),
    column(
      'day',
      group.map(() => date),
    ),
    {
      ...column(
        'record',
        group.map(({ text }) => Buffer.from(text)),
      ),
      // Records hardly ever repeat, and the smallest of them says nothing.
      encoding: 'PLAIN' as const,
      statistics: false,
    },
    column(
      'walk_id',
      group.map(({ walkId }) => BigInt(walkId)),
    ),
    column(
      'page_no',
      group.map(({ pageNo }) => pageNo),
    ),
    column(
      'position',
      group.map(({ position }) => BigInt(position)),
    ),
    column(
      'fetched_at',
      group.map(({ fetchedAt }) => BigInt(fetchedAt.getTime())),
    ),
    column(
      'first_seen',
      group.map(({ firstSeen }) => BigInt(firstSeen.getTime())),
    ),
    column(
      'gone_since',
      group.map(({ goneSince }) => (goneSince === null ? undefined : BigInt(goneSince.getTime()))),
    ),
    column(
      'revision',
      group.map(({ revision }) => revision),
    ),
  ];
}

/** Chunks joined until there is enough for a row group. */
async function* groupsOf(
  chunks: AsyncIterable<readonly ArchivedRecord[]>,
): AsyncGenerator<ArchivedRecord[]> {
  let group: ArchivedRecord[] = [];
  let size = 0;
  for await (const records of chunks)
    for (const record of records) {
      group.push(record);
      size += record.text.length;
      if (size < GROUP_BYTES) continue;
      yield group;
      group = [];
      size = 0;
    }
  if (group.length > 0) yield group;
}
