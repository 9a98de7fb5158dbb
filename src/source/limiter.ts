/** The limiter: one queue, by priority, for all requests of a process; it decides when each goes. */
import type { Clock } from '../clock.ts';
import type { Priority } from '../model.ts';
import { type ComeLater, Pacing, type PacingOptions, type Sent } from './pacing.ts';
import type { Quota } from './quota.ts';
import { type Budget, Slots } from './slots.ts';

/** How a request ended, as far as the limiter learns from it. */
export type Outcome =
  | { readonly kind: 'answered'; readonly quota?: Quota | null }
  /** Refused for everyone. */
  | ({ readonly kind: 'refused' } & ComeLater)
  /** No answer in time. */
  | { readonly kind: 'late' }
  /** Nothing can be learned from it. */
  | { readonly kind: 'lost' };

/** Leave to send one request. */
export interface Permit {
  /**
   * Gives the place back, once the request has ended in any way; only the first call counts.
   * @returns milliseconds until the pause ends that everybody is in now.
   */
  release(outcome: Outcome): number;
}

/** Why requests wait: for one under way, for the setting `rate`, for the pace, for a quota, for the end of a pause. */
export type WaitReason = 'limit' | 'rate' | 'pace' | 'quota' | 'pause';

/** What a limiter needs. */
export interface LimiterOptions extends Omit<PacingOptions, 'spare'> {
  readonly clock: Clock;
  /** Most requests under way at a time. */
  readonly most: number;
  /** Where the setting `rate` is kept; absent: it is not set. */
  readonly budget?: Budget | undefined;
}

interface Waiter {
  readonly priority: Priority;
  readonly go: (permit: Permit) => void;
  readonly fail: (error: unknown) => void;
}

/** Earlier words go first. */
const RANK = { scheduled: 0, look: 1, backfill: 2 } as const;

/** Its time is monotonic: a clock that is set back must not stop everyone for hours. */
export class Limiter {
  readonly #options: LimiterOptions;
  readonly #clock: Clock;
  readonly #pacing: Pacing;
  readonly #slots: Slots | null;
  readonly #waiters: Waiter[] = [];
  #underWay = 0;
  /** Halved when no answer comes in time, and brought back by answers, one for each round of them. */
  #limit: number;
  #limitCutAt = Number.NEGATIVE_INFINITY;
  #requests = 0;
  #refused = 0;
  #why: WaitReason | null = null;
  #wakesAt = Number.POSITIVE_INFINITY;
  #sleep = new AbortController();

  constructor(options: LimiterOptions) {
    const { clock, most, budget } = options;
    this.#options = options;
    this.#clock = clock;
    this.#limit = most;
    this.#pacing = new Pacing({ ...options, spare: most });
    const onSlots = (error?: unknown): void => {
      if (error !== undefined) for (const waiter of this.#waiters.splice(0)) waiter.fail(error);
      this.#serve();
    };
    this.#slots = budget === undefined ? null : new Slots(budget, clock, onSlots);
  }

  get state() {
    const now = this.#clock.monotonic();
    return {
      /** Requests that may be under way at a time: now, and by the settings. */
      limit: Math.floor(this.#limit),
      most: this.#options.most,
      underWay: this.#underWay,
      waiting: this.#waiters.length,
      /** Why those who wait do; null: nobody waits. */
      why: this.#waiters.length === 0 ? null : this.#why,
      /** Requests a second, found by refusals; null: no limit is known. */
      pace: this.#pacing.rate(now),
      /** Milliseconds until the pause ends; 0: there is none. */
      pausedMs: this.#pacing.pausedMs(now),
      /** Since the beginning. */
      requests: this.#requests,
      refused: this.#refused,
    };
  }

  /**
   * Waits for a permit. Of those who wait, the one with the first purpose goes first, needed pages before pages ahead,
   * and among equals the one who asked first. `priority` is read whenever a place is free: it may change meanwhile.
   * @throws the signal's reason, as soon as `signal` is aborted; what taking from the budget throws.
   */
  acquire(priority: Priority, signal: AbortSignal): Promise<Permit> {
    let stop = (): void => {};
    const permit = new Promise<Permit>((go, fail) => {
      signal.throwIfAborted();
      const waiter = { priority, go, fail };
      stop = () => {
        const at = this.#waiters.indexOf(waiter);
        // Let go a moment ago, by another one that stopped with it.
        if (at === -1) return;
        this.#waiters.splice(at, 1);
        fail(signal.reason);
        this.#serve();
      };
      signal.addEventListener('abort', stop, { once: true });
      this.#waiters.push(waiter);
      this.#serve();
    });
    return permit.finally(() => signal.removeEventListener('abort', stop));
  }

  /** Lets go who may, and sleeps until the next one may; for nobody it does not sleep: that would keep the process alive. */
  #serve(): void {
    while (this.#waiters.length > 0) {
      const now = this.#clock.monotonic();
      const [why, at] = this.#opensAt(now);
      this.#why = why;
      if (at > now) {
        this.#sleepUntil(at);
        return;
      }
      this.#send(takeFirst(this.#waiters), now);
    }
    this.#sleepUntil(Number.POSITIVE_INFINITY);
  }

  /** When the next request may go, and what it waits for until then; Infinity: something else will wake us. */
  #opensAt(now: number): readonly [WaitReason, number] {
    if (this.#underWay >= Math.floor(this.#limit)) return ['limit', Number.POSITIVE_INFINITY];
    const paced = this.#pacing.opensAt(now);
    // Slots that would pass unused are not taken.
    if (paced[1] > now || this.#slots === null) return paced;
    return ['rate', this.#slots.opensAt(now, this.#waiters.length)];
  }

  #send(waiter: Waiter, now: number): void {
    const sent = this.#pacing.sent(now);
    this.#slots?.sent();
    this.#underWay++;
    this.#requests++;
    let ended = false;
    const release = (outcome: Outcome): number => {
      if (!ended) {
        ended = true;
        this.#underWay--;
        this.#pacing.ended(sent);
        this.#learn(outcome, sent);
        this.#serve();
      }
      return this.#pacing.pausedMs(this.#clock.monotonic());
    };
    waiter.go({ release });
  }

  #learn(outcome: Outcome, sent: Sent): void {
    const now = this.#clock.monotonic();
    if ('quota' in outcome && outcome.quota) this.#pacing.told(outcome.quota, sent, now);
    switch (outcome.kind) {
      case 'answered':
        this.#pacing.accepted(sent, now);
        if (this.#underWay + 1 >= Math.floor(this.#limit))
          this.#limit = Math.min(this.#options.most, this.#limit + 1 / this.#limit);
        break;
      case 'refused':
        this.#refused++;
        this.#pacing.refused(outcome, sent, now, this.#clock.random());
        break;
      case 'late':
        // Once for all that were under way together.
        if (sent.at < this.#limitCutAt) return;
        this.#limit = Math.max(1, this.#limit / 2);
        this.#limitCutAt = now;
        break;
      case 'lost':
        return;
    }
  }

  #sleepUntil(at: number): void {
    if (at >= this.#wakesAt && this.#waiters.length > 0) return;
    // An abort makes an exception with its stack: not for each request where nobody sleeps.
    if (this.#wakesAt !== Number.POSITIVE_INFINITY) this.#sleep.abort();
    this.#wakesAt = at;
    if (at === Number.POSITIVE_INFINITY) return;
    this.#sleep = new AbortController();
    const { signal } = this.#sleep;
    const wake = (): void => {
      if (signal.aborted) return;
      this.#wakesAt = Number.POSITIVE_INFINITY;
      this.#serve();
    };
    this.#clock.sleep(Math.ceil(at - this.#clock.monotonic()), signal).then(wake, wake);
  }
}

/** What the limiter does now. */
export type LimiterState = Readonly<Limiter['state']>;

/** Takes the first of those who wait out of the queue: no backfill before a page ahead of a scheduled window. */
function takeFirst(waiters: Waiter[]): Waiter {
  const rank = ({ priority: { purpose, ahead = false } }: Waiter) =>
    RANK[purpose] * 2 + (ahead ? 1 : 0);
  const first = waiters.reduce((best, waiter) => (rank(waiter) < rank(best) ? waiter : best));
  waiters.splice(waiters.indexOf(first), 1);
  return first;
}
