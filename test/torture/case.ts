/** A torture case: a server that misbehaves in one way, and what the export must make of it. */

import type {
  Fault,
  HookAnswer,
  SimulatedRequest,
  Simulator,
  SimulatorOptions,
} from '../../simulator/simulator.ts';
import type { Day, Stream } from '../../src/model.ts';
import type { SourceOptions } from '../../src/source/source.ts';
import type { ExportOptions } from '../../src/walk/run.ts';

/** What must come out. */
export type Expected =
  /** Every day complete, and the views hold exactly what the server holds. */
  | { readonly kind: 'exact' }
  /** Some window failed, and says why; what is complete is whole. */
  | { readonly kind: 'failed'; readonly reason: RegExp }
  /** The run was stopped by an error, and nothing is complete that is not whole. */
  | { readonly kind: 'stopped'; readonly reason: RegExp }
  /** Exact but for what `jsonb` refuses: marked copies, with the exact bytes beside them. */
  | { readonly kind: 'quarantined'; readonly what: RegExp };

export const EXACT: Expected = { kind: 'exact' };
export const failed = (reason: RegExp): Expected => ({ kind: 'failed', reason });
export const stopped = (reason: RegExp): Expected => ({ kind: 'stopped', reason });
export const quarantined = (what: RegExp): Expected => ({ kind: 'quarantined', what });

/** What a case may look at and change between the runs. */
export interface Stage {
  readonly simulator: Simulator;
  /** The rows of one statement in the case's database. */
  query<Row extends Record<string, unknown>>(
    sql: string,
    values?: readonly unknown[],
  ): Promise<Row[]>;
  /** A day passes: in the next run complete windows are looked at again, and what was missing is confirmed. */
  passDay(): Promise<void>;
  /** Moves the times of all that happened back, by an interval of Postgres; one below zero sets the clock back instead. */
  pass(interval: string): Promise<void>;
  /** Notes what must not be. */
  complain(problem: string): void;
}

/** One server, made anew for every trial, so that what it remembers begins anew too. */
export interface Scene {
  readonly sim: SimulatorOptions;
  /** Answers requests that no switch can answer so. */
  readonly respond?: (
    request: SimulatedRequest,
    simulator: Simulator,
  ) => HookAnswer | Fault | undefined;
  /** What happens after each run; another run follows each. */
  readonly later?: readonly ((stage: Stage) => void | Promise<void>)[];
  /** Called before every request of the export. */
  readonly watch?: (stage: Stage) => Promise<void>;
  /** Looks at the end. */
  readonly check?: (stage: Stage) => void | Promise<void>;
  readonly close?: () => Promise<void>;
}

/** A case as data. */
export interface Case {
  readonly name: string;
  /** What the server does, for the table. */
  readonly server: string;
  readonly expect: Expected;
  readonly scene: () => Scene | Promise<Scene>;
  readonly from?: Day;
  readonly to?: Day;
  readonly options?: Partial<ExportOptions>;
  readonly source?: Partial<SourceOptions>;
  readonly streams?: readonly Stream[];
  /** Walk complete windows again in the runs after the first. */
  readonly rewalk?: true;
  /** A record as it is stored, where that differs from what was sent. */
  readonly stored?: (text: string) => string;
  /** Members of a record that change from answer to answer: what they hold is not compared. */
  readonly volatile?: readonly string[];
  /** Most requests in a trial without kills; the default grows with the least possible. */
  readonly most?: number;
  /** Most requests as a multiple of the least possible. */
  readonly mostRatio?: number;
  /** Not killed: too large to be walked twice. */
  readonly kills?: false;
  /** The server measures time: what is waited is waited. */
  readonly realTime?: true;
  /** Part of `npm test`. */
  readonly fast?: true;
}

export const DAY = '2026-03-01';
