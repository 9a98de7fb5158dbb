/** What follows the data beside the walking and never in its way: seals, tables, search filters. The wiring names them. */
import type { Logger } from '../log.ts';
import { reasonText } from './failures.ts';

/** Something that is kept in step with what is published. It keeps its own place, so that it can be left at any moment. */
export interface Follower {
  /** What is not in step where it fails, in words. */
  readonly what: string;
  /** It takes as much of the database as storing does, and nobody waits for it: its turn comes when the walking is done. */
  readonly atEnd?: boolean;
  /** Brings it in step with all that was published of these streams. */
  catchUp(streamIds: readonly number[], signal: AbortSignal): Promise<void>;
}

/** A follower that failed when it was last called, and why. */
export interface NotInStep {
  readonly what: string;
  readonly reason: string;
}

/** The failure in words, with the reason. */
export const notInStepText = ({ what, reason }: NotInStep): string =>
  `${what} could not be brought up to date: ${reason}`;

/** Lets followers catch up, one after the other on one connection. What is left undone, the next run does. */
export class Followers {
  readonly #followers: readonly Follower[];
  readonly #streamIds: readonly number[];
  readonly #log: Logger;
  readonly #failed = new Map<string, string>();
  readonly #stop = new AbortController();
  readonly #signal: AbortSignal;
  #woken = false;
  #ending = false;
  #work: Promise<void> | null = null;

  constructor(
    followers: readonly Follower[],
    streamIds: readonly number[],
    log: Logger,
    signal: AbortSignal,
  ) {
    this.#followers = followers;
    this.#streamIds = streamIds;
    this.#log = log;
    this.#signal = AbortSignal.any([signal, this.#stop.signal]);
  }

  get notInStep(): NotInStep[] {
    return [...this.#failed].map(([what, reason]) => ({ what, reason }));
  }

  /** Says that a window has become complete, and something may be published; returns at once. */
  wake(): void {
    this.#woken = true;
    this.#begin();
  }

  /** Looks at all once more, and waits until nothing is left. Never throws: the export is done without it. */
  async finish(): Promise<void> {
    this.#ending = true;
    this.wake();
    while (this.#work !== null) await this.#work;
  }

  /** Leaves off after the statement that is under way. */
  async stop(): Promise<void> {
    this.#stop.abort();
    while (this.#work !== null) await this.#work;
  }

  #begin(): void {
    if (this.#work !== null || !this.#woken || this.#signal.aborted) return;
    this.#work = this.#run().finally(() => {
      this.#work = null;
      // Somebody may have woken it after its last look.
      this.#begin();
    });
  }

  async #run(): Promise<void> {
    while (this.#woken && !this.#signal.aborted) {
      this.#woken = false;
      // What was published meanwhile is looked at first by those that go with the walking.
      for (const follower of this.#followers)
        if (follower.atEnd !== true || (this.#ending && !this.#woken))
          await this.#catchUp(follower);
    }
  }

  async #catchUp(follower: Follower): Promise<void> {
    const { what } = follower;
    try {
      await follower.catchUp(this.#streamIds, this.#signal);
      this.#failed.delete(what);
    } catch (error) {
      if (this.#signal.aborted) return;
      this.#failed.set(what, reasonText(error));
      this.#log.warn(
        { err: error },
        `${what} could not be brought up to date; the days themselves are stored, and the next run tries again`,
      );
    }
  }
}
