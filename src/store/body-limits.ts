/** How large the parts of a body may be before they are changed. */

/** What is left as it is; what goes beyond is changed. */
export interface Limits {
  /** Levels of nesting. */
  readonly depth: number;
  /** Bytes of a string or a key. */
  readonly stringBytes: number;
  /** Bytes in `jsonb` of all that one container holds. */
  readonly containerBytes: number;
  /** Elements of a list. */
  readonly elements: number;
  /** Pairs of an object, each of equal keys counted. */
  readonly pairs: number;
  /** Characters that are left of what is cut. */
  readonly excerpt: number;
  /** Numbers that grow by more digits than this, when written out, become strings … */
  readonly bomb: number;
  /** … if together they grow by more than this. */
  readonly bombs: number;
  /** All numbers together may grow by so many digits; past it, those that grow most become strings. */
  readonly growth: number;
}

/** What Postgres takes (FAULTS 4), and what keeps a table fit to be read and dumped: a row is at most 1 GB of text. */
export const LIMITS: Limits = {
  depth: 500,
  stringBytes: 268_435_455,
  containerBytes: 268_435_455,
  elements: 16_777_216,
  pairs: 8_388_608,
  excerpt: 1_000,
  bomb: 1_000,
  bombs: 1_000_000,
  growth: 268_435_456,
};
