/** What a case is, what it is given, and what it gives. */
import type { Postgres, Servers } from './postgres.ts';
import type { Yardstick } from './yardstick.ts';

/** A measured line of a case. */
export interface Row {
  readonly what: string;
  /** With its unit. */
  readonly measured: string;
  /** The floor, with its unit; null: there is none. */
  readonly floor: string | null;
  /** Measured over floor; null: there is no floor. */
  readonly ratio: number | null;
  /** In words; null: measured for information. */
  readonly target: string | null;
  /** Null: there is no target. */
  readonly reached: boolean | null;
  /** How far the runs lie apart, as a share of the median; null: there was one run. */
  readonly spread: number | null;
  /** What another day's figure is compared with, whatever the machine did then: the ratio, or units of the yardstick; less is better. */
  readonly units: number;
}

/** What a case gives. */
export interface Outcome {
  readonly rows: readonly Row[];
  /** What else is to be said, in Markdown: sizes, how many rounds, what was left out and why. */
  readonly notes: readonly string[];
}

/** What a case is given. */
export interface Bench {
  /** Smaller sizes and one round: to see that everything runs, not to measure. */
  readonly quick: boolean;
  /** An NDJSON file whose records are used instead of made ones; null: none. */
  readonly dataset: string | null;
  readonly servers: Servers;
  /** The server that all cases use. */
  readonly postgres: Postgres;
  readonly yardstick: Yardstick;
  /** Aborts when the case takes too long, or someone asks to stop. */
  readonly signal: AbortSignal;
  /** Tells those who watch. */
  readonly say: (text: string) => void;
}

/** A thing that is measured. */
export interface Case {
  readonly name: string;
  readonly title: string;
  /** What is measured and what it is held against, in Markdown. */
  readonly about: string;
  /** A case that takes longer is given up; milliseconds. */
  readonly limitMs: number;
  run(bench: Bench): Promise<Outcome>;
  /** What the result means; chosen by whether every target was reached, where there are two texts. */
  readonly words: { readonly reached: string; readonly missed: string };
}
