/** The nouns of daywalk, one sentence each (DESIGN 1); the same words stand in SQL, logs, flags and docs. */

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

/** A stream is a resource with a fixed set of filters, exported under a name. */
export interface Stream {
  readonly name: string;
  readonly resource: Resource;
  readonly filters: Filters;
  /** Where the record list is; absent: found on the first page. `[]` is the body itself. */
  readonly recordsPath?: readonly string[];
  /** Where the total is; absent: found on the first page; null: this source has no total that can be trusted. */
  readonly totalPath?: readonly string[] | null;
  /** How long a closed day is kept at least, milliseconds; absent: for ever. Only `daywalk prune` acts on it. */
  readonly retention?: number;
}

/** A day of the source's calendar, `YYYY-MM-DD`; text from end to end, so that no process time zone can shift it. */
export type Day = string;
/** A second of the source's wall clock, `YYYY-MM-DD HH:MM:SS`; text from end to end. */
export type WallTime = string;

/** Days from the first to the last, both included. */
export interface DayRange {
  readonly from: Day;
  readonly to: Day;
}

/** A window is a span of the source's wall-clock time, both ends inclusive to the second; it belongs to one day. */
export interface Window {
  readonly day: Day;
  readonly from: WallTime;
  readonly to: WallTime;
}

/** Why a window is walked; earlier words go first (DESIGN 4). */
export const PURPOSES = ['scheduled', 'recheck', 'backfill'] as const;
export type Purpose = (typeof PURPOSES)[number];

/** A priority says who goes first when requests have to wait: earlier purposes, then pages that a walk needs now. */
export interface Priority {
  readonly purpose: Purpose;
  /** A page that is fetched before its walk needs it; it may become needed while it waits. */
  ahead?: boolean;
}

/** Where a window stands. */
export const WINDOW_STATES = ['pending', 'complete', 'failed', 'split'] as const;
export type WindowState = (typeof WINDOW_STATES)[number];

/** What is asked of the API for one page. */
export interface PageRequest {
  readonly resource: Resource;
  readonly filters: Filters;
  readonly from: WallTime;
  readonly to: WallTime;
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
  /** One byte, 1, and the body behind it in the same memory: what `jsonb` takes, without a copy; absent: not at hand. */
  readonly framed?: Buffer | undefined;
  /** Told by who stored the page: its memory may serve another one, so nobody looks at `body` or `framed` after that. */
  readonly release?: (() => void) | undefined;
  /** SHA-256 of `body`. */
  readonly sha256: Buffer;
  /** Milliseconds from the first attempt's request to the last byte of the attempt that succeeded. */
  readonly durationMs: number;
  /** How many requests it took, refused and failed ones included. */
  readonly requests: number;
}

/** Lends memory to the bodies of pages. */
export interface PageMemory {
  /** So many bytes, of any content. */
  take(bytes: number): Buffer;
  /** Takes back what it lent; anything else is left alone. */
  giveBack(memory: Buffer): void;
}

/** An envelope says where in a body the record list and the total are. */
export interface Envelope {
  /** Keys from the top of the body to the record list; `[]` is the body itself. */
  readonly recordsPath: readonly string[];
  /** Keys to the total; null where the source gives none. */
  readonly totalPath: readonly string[] | null;
  /** Keys to a word that qualifies the total (`hits.total.relation`: `eq` or `gte`); null where there is none. */
  readonly relationPath: readonly string[] | null;
}

/** A proof is what shows that a walk saw the whole window (DESIGN 5.2). */
export type Proof = (
  | {
      /** The total, equal on the first and the last page and equal to the records stored. */
      readonly kind: 'total';
      readonly firstTotal: number;
      readonly lastTotal: number;
      readonly records: number;
    }
  | {
      /** A closing probe: from `start` on, exactly the last record came, or nothing in an empty window. */
      readonly kind: 'probe';
      readonly start: number;
      readonly records: number;
      /** SHA-256, hexadecimal, of the probe's body. */
      readonly sha256: string;
    }
  | {
      /** Several walks that differ, because the order is not stable, hold together exactly what the total says. */
      readonly kind: 'union';
      readonly records: number;
      readonly total: number;
      /** The other walks. */
      readonly unites: readonly number[];
    }
) & {
  /** Records that stand on two pages; then another walk has brought the very same records, or a union has. */
  readonly repeated?: number;
  /** That other walk. */
  readonly agreesWith?: number;
  /** The walks of the two halves of the window that add up to this one. */
  readonly halves?: readonly [number, number];
  /** Of a seam: the walk of its last second, which belongs to the next day. */
  readonly nextDay?: number;
  /** How the window was halved. */
  readonly halvedBy?: 'time' | 'level';
};
