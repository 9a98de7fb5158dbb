/** The shapes in which a page may be wrapped, and what they say about totals. */
import type { StoredRecord } from './record-list.ts';

/** `ambiguous` has two arrays of objects, `none` has no list at all. */
export const ENVELOPES = [
  'array',
  'datatables',
  'hits',
  'nested',
  'list',
  'ambiguous',
  'none',
] as const;
export type EnvelopeShape = (typeof ENVELOPES)[number];

/**
 * What the total says: `page` counts this page only, `string` is exact but a JSON string, `unfiltered`
 * counts the whole store, `{cap}` stops counting there, `{off}` is wrong by so many.
 */
export type Totals =
  | 'exact'
  | 'none'
  | 'page'
  | 'string'
  | 'unfiltered'
  | { readonly cap: number }
  | { readonly off: number };

/** The counts that a total may be made of; `store` is asked for only when it is needed. */
export interface Counts {
  readonly matching: number;
  readonly page: number;
  readonly store: () => number;
}

interface Total {
  /** JSON text; undefined when there is no total. */
  readonly text: string | undefined;
  readonly relation: 'eq' | 'gte';
}

const COMMA = Buffer.from(',');
const NULL = Buffer.from('null');

/** Writes the body of a page: the envelope around the records' own bytes. `noList` puts null where the list belongs. */
export function writeEnvelope(
  shape: EnvelopeShape,
  totals: Totals,
  page: readonly StoredRecord[],
  counts: Counts,
  noList = false,
): Buffer {
  const total = totalOf(totals, counts);
  const [before, after] = frame(
    shape,
    total,
    totals === 'unfiltered' ? counts.matching : undefined,
  );
  const parts: Buffer[] = [Buffer.from(before)];
  if (shape !== 'none') {
    if (noList) parts.push(NULL);
    else pushList(parts, shape, page);
  }
  parts.push(Buffer.from(after));
  return Buffer.concat(parts);
}

/** A record as it stands in the list of this envelope: its own text, or Elasticsearch's wrapper around it. */
export function listedText(shape: EnvelopeShape, record: StoredRecord): string {
  return shape === 'hits' ? `${hitStart(record)}${record.bytes}}` : record.bytes.toString();
}

function pushList(parts: Buffer[], shape: EnvelopeShape, page: readonly StoredRecord[]): void {
  parts.push(Buffer.from('['));
  for (const [index, record] of page.entries()) {
    if (index > 0) parts.push(COMMA);
    if (shape === 'hits') parts.push(Buffer.from(hitStart(record)), record.bytes, Buffer.from('}'));
    else parts.push(record.bytes);
  }
  parts.push(Buffer.from(']'));
}

function hitStart(record: StoredRecord): string {
  const id = record.serial.toString(36).padStart(12, '0');
  return `{"_index":"wazuh-alerts-4.x","_id":"${id}","_score":null,"_source":`;
}

function totalOf(totals: Totals, counts: Counts): Total {
  const exactly = (value: number): Total => ({ text: String(value), relation: 'eq' });
  if (typeof totals === 'object') {
    if ('off' in totals) return exactly(Math.max(0, counts.matching + totals.off));
    const capped = counts.matching > totals.cap;
    return capped ? { text: String(totals.cap), relation: 'gte' } : exactly(counts.matching);
  }
  switch (totals) {
    case 'exact':
      return exactly(counts.matching);
    case 'none':
      return { text: undefined, relation: 'eq' };
    case 'page':
      return exactly(counts.page);
    case 'string':
      return { text: `"${counts.matching}"`, relation: 'eq' };
    case 'unfiltered':
      return exactly(counts.store());
  }
}

/** The text before and after the list. `filtered`: DataTables has two totals, and says both when they differ. */
function frame(
  shape: EnvelopeShape,
  { text, relation }: Total,
  filtered: number | undefined,
): readonly [before: string, after: string] {
  const total = (key: string) => (text === undefined ? '' : `,"${key}":${text}`);
  switch (shape) {
    case 'array':
      return ['', ''];
    case 'datatables': {
      const both =
        text === undefined ? '' : `"recordsTotal":${text},"recordsFiltered":${filtered ?? text},`;
      return [`{"draw":0,${both}"data":`, '}'];
    }
    case 'hits': {
      const hitsTotal =
        text === undefined ? '' : `"total":{"value":${text},"relation":"${relation}"},`;
      return [`{"took":3,"timed_out":false,"hits":{${hitsTotal}"max_score":null,"hits":`, '}}'];
    }
    case 'nested':
      return ['{"status":"ok","result":{"items":', `${total('count')}}}`];
    case 'list':
      return ['{"events":', `${total('total')}}`];
    case 'ambiguous':
      return [
        '{"events":',
        `,"related":[{"id":1,"name":"one"},{"id":2,"name":"two"}]${total('total')}}`,
      ];
    case 'none':
      return ['{"status":"ok","message":"done"', `${total('total')}}`];
  }
}
