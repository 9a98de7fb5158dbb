/** A verb is one thing that `daywalk` does; each has a file of its own. */
import type { Argument, Option } from 'commander';
import type { Group } from '../settings/table/setting.ts';
import type { SettingKey } from '../settings/table/table.ts';

/** Options as commander names them, settings and the verb's own. */
export type Options = Readonly<Record<string, unknown>>;

/** What every verb gets. */
export interface Invocation {
  readonly options: Options;
  /** Aborts when someone asks the program to stop. */
  readonly signal: AbortSignal;
}

/** A verb: does its work, gives the exit code. */
export type Verb = (invocation: Invocation) => Promise<number>;

/** How a day may be written, for help and for errors. */
export const DAYS_TAKEN = '2026-10-31, 2026-10, yesterday or 7d (days ago)';

/** The shells that there is a completion for. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** A row of the table of verbs. */
export interface VerbRow {
  readonly name: string;
  /** What it does, in a line. */
  readonly does: string;
  /** The settings that it obeys. */
  readonly settings: readonly Group[];
  /** Loads what it does, when it is called: help must start fast. */
  readonly load: () => Promise<Verb>;
  /** The options that are not settings. */
  readonly options?: readonly Option[];
  /** What it is about; absent: it takes no argument. */
  readonly argument?: Argument;
  /** Words that show how it is called, for those who left something out. */
  readonly example?: string;
  /** Settings that are shown by `--help`, besides `config`; `--help-all` shows all. */
  readonly shows?: readonly SettingKey[];
  /** The page in docs/ that tells more. */
  readonly page?: string;
}
