/** The records of the benchmarks: made in advance, in one buffer, so that a page is a piece of it and costs nothing to make. */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

/** Which records. */
export type RecordKind =
  /** Security events as Wazuh shows them, about 700 bytes. */
  | { readonly kind: 'events'; readonly count: number }
  /** The shortest that still look like events, about 110 bytes: for many millions. */
  | { readonly kind: 'compact'; readonly count: number }
  /** The lines of an NDJSON file, plain or gzip. */
  | { readonly kind: 'file'; readonly path: string; readonly count: number };

/** Records as JSON, each followed by a comma; record `i` lies between `offsets[i]` and `offsets[i + 1] - 1`. */
export interface Block {
  readonly count: number;
  readonly bytes: Buffer;
  readonly offsets: Float64Array;
}

/** Makes the records; the same for the same kind. */
export function makeRecords(kind: RecordKind): Block {
  switch (kind.kind) {
    case 'events':
      return blockOf(Array.from({ length: kind.count }, (_, index) => eventText(index)));
    case 'compact':
      return compactBlock(kind.count);
    case 'file':
      return blockOf(linesOf(kind.path).slice(0, kind.count));
  }
}

/** The text of records `from` to `to`, without a comma behind the last. */
export function textOf({ bytes, offsets }: Block, from: number, to: number): Buffer {
  if (from >= to) return Buffer.alloc(0);
  return bytes.subarray(offsets[from], (offsets[to] as number) - 1);
}

function blockOf(texts: readonly string[]): Block {
  if (texts.length === 0) throw new RangeError('there are no records');
  const offsets = new Float64Array(texts.length + 1);
  let end = 0;
  for (const [index, text] of texts.entries()) {
    end += Buffer.byteLength(text) + 1;
    offsets[index + 1] = end;
  }
  const bytes = Buffer.allocUnsafe(end);
  for (const [index, text] of texts.entries()) bytes.write(`${text},`, offsets[index] as number);
  return { count: texts.length, bytes, offsets };
}

function linesOf(path: string): string[] {
  const bytes = readFileSync(path);
  const text = (bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes).toString();
  return text.split('\n').filter((line) => line.trim() !== '');
}

function eventText(index: number): string {
  const agent = index % 97;
  return JSON.stringify({
    timestamp: `2026-03-01T${String(Math.floor(index / 3600) % 24).padStart(2, '0')}:00:00.000Z`,
    sequence: index,
    agent: { id: String(agent).padStart(3, '0'), name: `host-${agent}`, ip: `10.0.${agent}.7` },
    manager: { name: 'manager-1' },
    rule: {
      level: index % 16,
      id: String(5_700 + (index % 60)),
      description: 'sshd: authentication failed for a user that does not exist',
      groups: ['syslog', 'sshd', 'authentication_failed'],
      mitre: { id: ['T1110'], tactic: ['Credential Access'], technique: ['Brute Force'] },
    },
    full_log: `Mar  1 10:00:00 host-${agent} sshd[${index}]: Failed password for invalid user admin from 203.0.113.${index % 250} port ${1024 + (index % 60_000)} ssh2`,
    location: '/var/log/auth.log',
    data: {
      srcip: `203.0.113.${index % 250}`,
      srcport: String(1024 + (index % 60_000)),
      srcuser: 'admin',
    },
  });
}

const DIGITS = 9;

/** All of one length, so that ten million of them are made in a second. */
function compactBlock(count: number): Block {
  const head = '{"timestamp":"2026-03-01T10:00:00.000Z","sequence":"';
  const record = Buffer.from(
    `${head}${'0'.repeat(DIGITS)}","agent":{"id":"007"},"rule":{"level":5,"id":"5710"}},`,
  );
  const bytes = Buffer.alloc(record.length * count, record);
  const offsets = new Float64Array(count + 1);
  for (let index = 0; index < count; index++) {
    offsets[index + 1] = (index + 1) * record.length;
    let rest = index;
    for (let digit = DIGITS - 1; rest > 0; digit--) {
      bytes[index * record.length + head.length + digit] = 0x30 + (rest % 10);
      rest = Math.floor(rest / 10);
    }
  }
  return { count, bytes, offsets };
}
