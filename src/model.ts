/** The nouns of daywalk, one sentence each; the same words stand in SQL, logs, flags and docs. */

/** A resource is an operation of the API: `GET {base}/api/events` or `GET {base}/api/smart-event`. */
export const RESOURCES = ['events', 'smart-event'] as const;
export type Resource = (typeof RESOURCES)[number];

/** The query parameters that a stream may fix as its filters; the other four (start, length, fromDate, toDate) belong to the walk. */
export const FILTER_NAMES = [
  'search',
  'agent',
  'rule_level',
  'filters',
  'manager',
  'manager_tags',
  'rule_mitre_technique',
  'rule_mitre_tactic',
  'rule_level_from',
  'rule_level_to',
  'organization',
  'agent_tags',
  'hideread',
  'detection_type',
] as const;
export type FilterName = (typeof FILTER_NAMES)[number];
/** Filters are the fixed query parameters of a stream; an absent one is sent empty (`hideread` as 0). */
export type Filters = Readonly<Partial<Record<FilterName, string>>>;
/** Filters without those that are sent so anyway: the same request is the same stream. */
export const onlySet = (filters: Filters): Filters =>
  Object.fromEntries(
    Object.entries(filters).filter(
      ([name, value]) => value !== '' && !(name === 'hideread' && value === '0'),
    ),
  );

/** A stream is a resource with a fixed set of filters, exported under a name. */
export interface Stream {
  readonly name: string;
  readonly resource: Resource;
  readonly filters: Filters;
  /** Where the record list is; absent: found on the first page. `[]` is the body itself. */
  readonly recordsPath?: readonly string[];
  /** Where the total is; absent: found on the first page; null: this source has no total that can be trusted. */
  readonly totalPath?: readonly string[] | null;
  /** Where in a record that stands which identifies it; absent: a record is its content. */
  readonly idPath?: readonly string[];
  /** Where in a record the time of the event stands; absent: the views have no time. */
  readonly timePath?: readonly string[];
  /** How that time is written; absent: it is ISO 8601, or counts from 1970 on. */
  readonly timeFormat?: TimeFormat;
  /** How long a closed day is kept at least, milliseconds; absent: for ever. Only `daywalk prune` acts on it. */
  readonly retention?: number;
  /** The last day that the schedule exports; absent: it goes on. */
  readonly until?: Day;
}

/** How a time is written that is no ISO 8601: a pattern of Postgres, and by what it is replaced so that it is. */
export interface TimeFormat {
  /** As a person wrote it. */
  readonly text: string;
  readonly pattern: string;
  readonly replacement: string;
}

/** What a column of a record table may be. Each holds the values of its kind without changing a digit. */
export const COLUMN_TYPES = [
  'text',
  'boolean',
  'smallint',
  'integer',
  'bigint',
  'numeric',
  'timestamptz',
  'date',
  'inet',
  'uuid',
  'jsonb',
] as const;
export type ColumnType = (typeof COLUMN_TYPES)[number];

/** A column of a record table: a typed value out of each record. */
export interface Column {
  readonly name: string;
  readonly path: readonly string[];
  readonly type: ColumnType;
  readonly index: boolean;
  /** Of a `timestamptz` that is no ISO 8601. */
  readonly format?: TimeFormat;
}

/** A table of typed columns that is kept in step with what is shown of a stream. */
export interface RecordTable {
  readonly name: string;
  readonly stream: string;
  readonly columns: readonly Column[];
  /** The record itself is a column, too. */
  readonly keepRecord: boolean;
  /** How long a day stays after it closed, milliseconds; null: for ever, absent: as long as its pages. */
  readonly retention?: number | null;
}

/** A day of the source's calendar, `YYYY-MM-DD`; text from end to end, so that no process time zone can shift it. */
export type Day = string;
/** A second of the source's wall clock, `YYYY-MM-DD HH:MM:SS`; text from end to end. */
export type WallTime = string;

/** How old a day of a stream must be to go: to the tier, or for good. */
export interface AgeLimit {
  readonly stream: string;
  /** Since the day closed, milliseconds. */
  readonly olderThanMs: number;
}

/** A day that is old enough to go. */
export interface AgedDay {
  readonly streamId: number;
  readonly stream: string;
  readonly day: Day;
  /** Why it must stay, in words; null: nothing is in the way. */
  readonly kept: string | null;
  readonly records: number;
  /** Received for them. */
  readonly bytes: number;
}

/** A day that is old enough and stays. */
export interface KeptDay {
  readonly stream: string;
  readonly day: Day;
  readonly reason: string;
}

/** Days from the first to the last, both included. */
export interface DayRange {
  readonly from: Day;
  readonly to: Day;
}

/** The same, where it may be open at its ends. */
export interface OpenRange {
  readonly from: Day | null;
  readonly to: Day | null;
}

/** A window is a span of the source's wall-clock time, both ends inclusive to the second; it belongs to one day. */
export interface Window extends TimeSpan {
  readonly day: Day;
}

/** A span of time; both ends inclusive. */
export interface TimeSpan {
  readonly from: WallTime;
  readonly to: WallTime;
}

/** The same, and a span of rule levels where it was cut by level; null is open. */
export interface Span extends TimeSpan {
  readonly levelFrom: number | null;
  readonly levelTo: number | null;
}

/** Why a window is walked; earlier words go first. */
export type Purpose = 'scheduled' | 'look' | 'backfill';

/** A priority says who goes first when requests have to wait: earlier purposes, then pages that a walk needs now. */
export interface Priority {
  readonly purpose: Purpose;
  /** A page that is fetched before its walk needs it; it may become needed while it waits. */
  ahead?: boolean;
}

/** A day, a part of one that was split, or the cut between two neighbours. */
export type WindowKind = 'day' | 'part' | 'cut';

/** Where a window stands. */
export const WINDOW_STATES = ['pending', 'complete', 'failed', 'split'] as const;
export type WindowState = (typeof WINDOW_STATES)[number];

/** What is asked of the API for one page. */
export interface PageRequest extends TimeSpan, Pick<Stream, 'resource' | 'filters'> {
  /** Offset of the first record wanted. */
  readonly start: number;
  /** How many records are asked for. */
  readonly length: number;
}

/** A page is one response body, kept as the bytes that came. */
export interface Page {
  readonly start: number;
  readonly length: number;
  /** The body after content decoding, byte for byte. */
  readonly body: Buffer;
  /** Of an answer that is not a 200 and may say that there are no records; the body of a 204 is then `null`. */
  readonly status?: 204 | 404;
  /** The error that it is to whoever does not know such answers of this source. */
  readonly refused?: Error;
  /** Told once by who stored the page: the memory of `body` may serve another one, so nobody looks at it after that. */
  readonly release?: (() => void) | undefined;
  /** SHA-256 of `body`. */
  readonly sha256: Buffer;
  /** Milliseconds from the first attempt's request to the last byte of the attempt that succeeded. */
  readonly durationMs: number;
  /** How many requests it took, refused and failed ones included. */
  readonly requests: number;
}

/** A contract says where in a body the record list and the total are. */
export interface Contract {
  /** Keys from the top of the body to the record list; `[]` is the body itself. */
  readonly recordsPath: readonly string[];
  /** Keys to the total; null where the source gives none. */
  readonly totalPath: readonly string[] | null;
  /** Keys to a word that qualifies the total (`hits.total.relation`: `eq` or `gte`); null where there is none. */
  readonly relationPath: readonly string[] | null;
}

/** A claim is what one answer says of the window that it was asked for; kept with the walk, as evidence. */
export interface Claim {
  /** Offset and length that were asked for. */
  readonly start: number;
  readonly length: number;
  /** How many records it showed. */
  readonly came: number;
  /** "There are so many"; null: it told no total. */
  readonly total: number | null;
  /** The source itself calls the total a lower bound. */
  readonly lowerBound: boolean;
  /** The total is missing where the contract has one, beside records. */
  readonly totalMissing: boolean;
  /** "There is more", in the frame (`truncated`, `has_more`). */
  readonly more: boolean;
}

/** How a list ended: from the last record on exactly that one came; nothing came, twice; nobody asked behind the last page. */
export type ListEnd = 'last' | 'nothing' | 'open';

/** A proof is sufficient evidence that a window is whole, with the rule of docs/completeness.md that says so. */
export interface Proof {
  readonly kind: 'empty' | 'total' | 'probe' | 'halves' | 'union' | 'parts' | 'cut';
  readonly rule: string;
  /** Records that it speaks of; of a cut those that it adds. */
  readonly records: number;
  /** What it rests on, in a sentence. */
  readonly why: string;
  /** The total that was told, where it was part of the evidence. */
  readonly total?: number;
  /** Of a union: the other walks; of a cut those that are united with the walks across it, before and after. */
  readonly unites?: readonly number[];
  /** Of a total: the totals of both halves and the cut between them add up to it. */
  readonly summed?: boolean;
  /** Of halves, also of what is empty: the walks of both, and of the cut between them. */
  readonly halves?: readonly number[];
  /** Of a cut: the walks across it, before it and behind it; null where the one across was empty. */
  readonly across?: number;
  readonly before?: number | null;
  readonly after?: number | null;
  /** Of a cut: records that both neighbours show, and that are therefore shown once less. */
  readonly removed?: number;
  /** Of a cut at a midnight: nobody looked for what dates hide there, as the stream had shown nothing. */
  readonly datesUnasked?: boolean;
  /** Of parts: the total is calibrated, so that a look may ask for the totals alone. */
  readonly calibrated?: boolean;
  /** Of a day that shows less than it did: nothing before it is shown any more. */
  readonly oldest?: boolean;
}
