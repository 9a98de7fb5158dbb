/** What proving a window needs, and what becomes of it. */
import type { Clock } from '../../clock.ts';
import type { Logger } from '../../log.ts';
import type { Claim, Proof, Stream, TimeSpan } from '../../model.ts';
import type { Database } from '../../store/database.ts';
import type { EndedWalk } from '../../store/evidence/evidence.ts';
import type { KnownAnswerDays } from '../../store/evidence/proven.ts';
import type { LeasedWindow } from '../../store/leases.ts';
import type { AnswerContext } from '../answers.ts';
import type { Frame } from '../contract.ts';
import type { PrefetchBudget } from '../prefetch.ts';
import type { PageObserved } from '../rules/observed.ts';
import type { Knowledge } from './knowledge.ts';

/** What asking about a stream needs, and learning from the answers. */
export interface AskingContext extends AnswerContext {
  readonly database: Database;
  readonly clock: Clock;
  readonly stream: Stream;
  readonly knowledge: Knowledge;
}

/** How windows are proven. */
export interface WindowOptions {
  readonly pageLength: number;
  /** A window whose total is larger is split before it is walked. */
  readonly windowRecords: number;
  readonly leaseTtlMs: number;
  /** So often a window is walked again whose walk came to no end, or was contradicted. */
  readonly walkAttempts: number;
  /** IANA name; windows are never split inside an hour that its clocks repeat. */
  readonly timeZone: string;
  /** For so many days after it closed, a complete window is looked at once a day. */
  readonly recheckDays: number;
  /** Keep the exact bytes of every page, not only of those that `jsonb` cannot hold. */
  readonly keepBytes: boolean;
}

/** Known answers, as they are asked for before anything new is believed. */
export interface AskedKnown {
  /**
   * Asks for a known answer as a window showed nothing, and nothing again.
   * @throws {WalkError} where none with records is repeated now, or the answer is of no known kind.
   */
  believeNothing(frame: Frame, span: TimeSpan): Promise<void>;
  /**
   * @param days of which days known answers are asked for.
   * @returns whether a known answer is what it was; false: there is none.
   * @throws {WalkError} where known answers are not what they were.
   */
  check(days?: KnownAnswerDays): Promise<boolean>;
  /** Called where a look finds a window as it was. */
  seen(windowId: number): Promise<void>;
}

/** What proving a window needs, and each of its walks. */
export interface WindowContext extends AskingContext, WindowOptions {
  readonly window: LeasedWindow;
  readonly log: Logger;
  /** What this walk and the others of the process share for pages ahead. */
  readonly budget: PrefetchBudget;
  /** Told of every page that was stored. */
  readonly onPage: (page: CommittedPage) => void;
  readonly known: AskedKnown;
}

/** A page that was stored. */
export interface CommittedPage extends Pick<PageObserved, 'records' | 'total'> {
  readonly bytes: number;
}

/** What became of a window. */
export type WindowEnd =
  | { readonly kind: 'complete'; readonly proof: Proof }
  | { readonly kind: 'unchanged' }
  /** Nothing could be told of it; or it was given back or lost, for a reason that is not the window's. */
  | { readonly kind: 'released' }
  | {
      readonly kind: 'split';
      readonly by: 'time' | 'level';
      readonly parts: number;
      readonly reason: string;
    };

/** The walks of a window or of a span so far, oldest first. */
export type Walks = readonly EndedWalk[];

/** A walk to be published. */
export interface WalkToPublish extends Pick<EndedWalk, 'walkId' | 'stored' | 'pages'> {
  /** Of every answer of the walk. */
  readonly heard: readonly Claim[];
}
