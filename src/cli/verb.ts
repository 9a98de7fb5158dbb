/** A verb is one thing that `daywalk` does; each has a file of its own. */

/** What every verb gets. */
export interface Invocation {
  /** Options as commander names them, settings and the verb's own. */
  readonly options: Readonly<Record<string, unknown>>;
  /** The words behind `daywalk` on the command line. */
  readonly typed: readonly string[];
  /** Aborts when someone asks the program to stop. */
  readonly signal: AbortSignal;
}

/** A verb: does its work, gives the exit code. */
export type Verb = (invocation: Invocation) => Promise<number>;

/** How a day may be written, for help and for errors. */
export const DAYS_TAKEN = '2026-10-31, 2026-10, yesterday or 7d (days ago)';
