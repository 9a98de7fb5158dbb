/** The envelopes of well-known servers, and the ways in which they say that there is nothing. */

export const ENVELOPES = [
  'array',
  'datatables',
  'elasticsearch',
  'wazuh',
  'spring',
  'laravel',
  'django',
  'odata',
  'items',
  'nested',
] as const;
export type EnvelopeName = (typeof ENVELOPES)[number];

/** What stands for an empty list: the envelope as ever, or something else. */
export type EmptyAnswer = 'same' | 'null' | '{}' | '""' | 'absent' | '204' | 'message' | '404';

/** A page to be wrapped. */
export interface Wrapped {
  /** Each is JSON text. */
  readonly records: readonly string[];
  /** JSON text; null: the envelope tells none. */
  readonly total: string | null;
  readonly start: number;
  readonly length: number;
  readonly more: boolean;
  /** The total is a lower bound, where an envelope can say so. */
  readonly atLeast?: boolean;
}

export interface Answer {
  readonly status: number;
  readonly body: string;
}

type Members = Readonly<Record<string, string | undefined>>;

/** An object whose values are JSON text; what is undefined is left out. */
function object(members: Members): string {
  const shown = Object.entries(members).filter(([, value]) => value !== undefined);
  return `{${shown.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`;
}

const NO_TOTAL: Pick<Wrapped, 'total'> = { total: null };
const link = (start: number) => JSON.stringify(`http://127.0.0.1/api/events?start=${start}`);

/** How each envelope is written round a list, which is JSON text or left out. */
const WRITERS: Readonly<Record<EnvelopeName, (page: Wrapped, list: string | undefined) => string>> =
  {
    array: (_, list) => list ?? '{}',
    datatables: ({ total }, list) =>
      object({
        draw: '0',
        recordsTotal: total ?? undefined,
        recordsFiltered: total ?? undefined,
        data: list,
      }),
    elasticsearch: ({ total, records, atLeast = false }, list) =>
      object({
        took: String(1 + records.length),
        timed_out: 'false',
        _shards: '{"total":5,"successful":5,"skipped":0,"failed":0}',
        hits: object({
          total:
            total === null
              ? undefined
              : object({ value: total, relation: atLeast ? '"gte"' : '"eq"' }),
          max_score: 'null',
          hits: list,
        }),
      }),
    wazuh: ({ total }, list) =>
      object({
        data: object({
          affected_items: list,
          total_affected_items: total ?? undefined,
          total_failed_items: '0',
          failed_items: '[]',
        }),
        message: '"All selected events were returned"',
        error: '0',
      }),
    spring: ({ total, records, start, length, more }, list) =>
      object({
        content: list,
        pageable: object({ offset: String(start), pageSize: String(length), paged: 'true' }),
        totalElements: total ?? undefined,
        totalPages:
          total === null
            ? undefined
            : String(Math.ceil(Number(total.replaceAll('"', '')) / length)),
        last: String(!more),
        first: String(start === 0),
        numberOfElements: String(records.length),
        size: String(length),
        empty: String(records.length === 0),
      }),
    laravel: ({ total, records, start, length, more }, list) =>
      object({
        current_page: String(Math.floor(start / length) + 1),
        data: list,
        from: records.length === 0 ? 'null' : String(start + 1),
        next_page_url: more ? link(start + length) : 'null',
        path: '"http://127.0.0.1/api/events"',
        per_page: String(length),
        prev_page_url: start === 0 ? 'null' : link(Math.max(0, start - length)),
        to: records.length === 0 ? 'null' : String(start + records.length),
        total: total ?? undefined,
      }),
    django: ({ total, start, length, more }, list) =>
      object({
        count: total ?? undefined,
        next: more ? link(start + length) : 'null',
        previous: start === 0 ? 'null' : link(Math.max(0, start - length)),
        results: list,
      }),
    odata: ({ total, start, length, more }, list) =>
      object({
        '@odata.context': '"http://127.0.0.1/$metadata#Events"',
        '@odata.count': total ?? undefined,
        value: list,
        '@odata.nextLink': more ? link(start + length) : undefined,
      }),
    items: ({ total }, list) => object({ items: list, total: total ?? undefined }),
    nested: ({ total }, list) =>
      object({ result: object({ rows: list, total: total ?? undefined }), took: '3' }),
  };

/** A page in its envelope; one without records as `empty` has it. */
export function wrap(name: EnvelopeName, page: Wrapped, empty: EmptyAnswer = 'same'): Answer {
  const write = WRITERS[name];
  if (page.records.length > 0 || empty === 'same')
    return { status: 200, body: write(page, `[${page.records.join(',')}]`) };
  switch (empty) {
    case 'null':
    case '{}':
    case '""':
      return { status: 200, body: write(page, empty) };
    case 'absent':
      return { status: 200, body: write(page, undefined) };
    case '204':
      return { status: 204, body: '' };
    case 'message':
      return {
        status: 200,
        body:
          name === 'array'
            ? '{"message":"no events"}'
            : `{"message":"no events",${write({ ...page, ...NO_TOTAL }, '[]').slice(1)}`,
      };
    case '404':
      return { status: 404, body: '{"detail":"No events match this query"}' };
  }
}
