/** The limiter decides when each request of this process goes: one queue, by priority, for one budget. */
import type { Clock } from '../clock.ts';
import type { Priority } from '../model.ts';
import { Crowding } from './crowding.ts';
import { Hold } from './hold.ts';
import { type Ending, type Turn, takeFirst, type Waiter } from './line.ts';
import { cut, type Pace, rateAt } from './pace.ts';
import { QuotaCount } from './quota.ts';
import { type Budget, Slots } from './slots.ts';
import { Throughput } from './throughput.ts';

/** Why requests wait: for one under way, for the setting `rate`, for a pace that was found, for a quota, for the instant that the API named. */
export type WaitReason = 'limit' | 'rate' | 'pace' | 'quota' | 'hold';

/** What the limiter does now. */
export interface LimiterState {
  /** Requests that may be under way at a time, as found, and as allowed by the settings. */
  readonly limit: number;
  readonly most: number;
  readonly underWay: number;
  readonly waiting: number;
  /** Why those who wait do; null: nobody waits. */
  readonly why: WaitReason | null;
  /** Requests a second, found by refusals; null: no limit is known. */
  readonly pace: number | null;
  /** Milliseconds until the instant that the API named; 0: nobody is held. */
  readonly heldMs: number;
  /** How many times as long as usual answers take. */
  readonly slowness: number;
  /** Since the beginning. */
  readonly requests: number;
  readonly refused: number;
}

export interface Limiter {
  /**
   * Waits for a turn. Of those who wait, the one with the first purpose goes first, needed pages before pages ahead,
   * and among equals the one who asked first. `priority` is read whenever a place is free: it may change meanwhile.
   * @param like the kind of request; times of answers are compared within a kind.
   * @throws the signal's reason, as soon as `signal` is aborted; what taking from the budget throws.
   */
  pass(priority: Priority, like: string, signal: AbortSignal): Promise<Turn>;
  state(): LimiterState;
}

export interface LimiterOptions {
  readonly clock: Clock;
  /** Most requests under way at a time. */
  readonly most: number;
  /** How long everyone pauses after a refusal that names no time; milliseconds. Doubled as long as nothing is accepted. */
  readonly pauseMs: number;
  readonly longestPauseMs: number;
  /** Where the setting `rate` is kept; absent: it is not set. */
  readonly budget?: Budget | undefined;
  /** Told after anything that may be worth telling. */
  readonly onChange?: ((state: LimiterState) => void) | undefined;
}

/** A request that is late by so much may be made up for, as timers wake late; more would be too early for strict servers. */
const CATCH_UP_MS = 10;

/** A refusal may be a hiccup; another one within so many pauses is a limit. */
const HICCUP = 15;
/** So many accepted in a second, and then a 429, is a limit as well: of several workers each has a part of a burst only. */
const BURST = 2;

/** Opens a limiter. Its time is monotonic: a clock that is set back must not hold everyone for hours. */
export function openLimiter(options: LimiterOptions): Limiter {
  return new TheLimiter(options);
}

class TheLimiter implements Limiter {
  readonly #clock: Clock;
  readonly #onChange: (state: LimiterState) => void;
  readonly #crowding: Crowding;
  readonly #quota = new QuotaCount();
  readonly #throughput = new Throughput();
  readonly #slots: Slots | null;
  readonly #waiters: Waiter[] = [];
  #pace: Pace | null = null;
  /** When the next request goes by the pace. */
  #pacedAt = Number.NEGATIVE_INFINITY;
  readonly #hold = new Hold();
  readonly #firstPauseMs: number;
  readonly #longestPauseMs: number;
  #pauseMs: number;
  /** When the last refusal came that was no late echo of the one before. */
  #refusedAt = Number.NEGATIVE_INFINITY;
  /** Whether something that went after that was accepted: only then there is more to cut. */
  #provenSince = true;
  #underWay = 0;
  /** Requests under way that went while it was open whether the API takes any again. */
  #scouts = 0;
  #scoutAt = Number.NEGATIVE_INFINITY;
  #requests = 0;
  #refused = 0;
  #why: WaitReason | null = null;
  /** Ends the present sleep; null: nobody sleeps. */
  #sleeper: { readonly until: number; readonly stop: AbortController } | null = null;

  constructor(options: LimiterOptions) {
    const { clock, most, pauseMs, longestPauseMs, budget, onChange = () => {} } = options;
    this.#clock = clock;
    this.#firstPauseMs = pauseMs;
    this.#longestPauseMs = longestPauseMs;
    this.#pauseMs = pauseMs;
    this.#onChange = onChange;
    this.#crowding = new Crowding(most);
    this.#slots =
      budget === undefined
        ? null
        : new Slots(budget, clock, (error) => {
            if (error !== undefined)
              for (const waiter of this.#waiters.splice(0)) waiter.fail(error);
            this.#serve();
          });
  }

  pass(priority: Priority, like: string, signal: AbortSignal): Promise<Turn> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const stop = (): void => {
        this.#waiters.splice(this.#waiters.indexOf(waiter), 1);
        reject(signal.reason);
        this.#serve();
      };
      const leave = (): void => signal.removeEventListener('abort', stop);
      const waiter: Waiter = {
        priority,
        like,
        cameAt: this.#hold.openTime(this.#clock.monotonic()),
        go: (turn) => {
          leave();
          resolve(turn);
        },
        fail: (error) => {
          leave();
          reject(error);
        },
      };
      signal.addEventListener('abort', stop, { once: true });
      this.#waiters.push(waiter);
      this.#serve();
    });
  }

  state(): LimiterState {
    const now = this.#clock.monotonic();
    return {
      limit: this.#crowding.limit,
      most: this.#crowding.most,
      underWay: this.#underWay,
      waiting: this.#waiters.length,
      why: this.#waiters.length === 0 ? null : this.#why,
      pace: this.#pace === null ? null : rateAt(this.#pace, now),
      heldMs: Math.max(0, this.#hold.until - now),
      slowness: this.#crowding.ratio,
      requests: this.#requests,
      refused: this.#refused,
    };
  }

  /** Lets go who may, and sleeps until the next one may. */
  #serve(): void {
    while (this.#waiters.length > 0) {
      const now = this.#clock.monotonic();
      const [why, at] = this.#opens(now);
      if (at > now) {
        this.#why = why;
        this.#sleepUntil(at);
        return;
      }
      this.#send(takeFirst(this.#waiters), now);
    }
    // Who sleeps for nobody would keep the process alive.
    this.#sleeper?.stop.abort();
  }

  /** When the next request may go, and what it waits for until then; Infinity: something else will wake us. */
  #opens(now: number): readonly [WaitReason, number] {
    if (this.#underWay >= this.#crowding.limit) return ['limit', Number.POSITIVE_INFINITY];
    const gates: readonly (readonly [WaitReason, number])[] = [
      ['hold', this.#hold.until],
      // After a refusal one request finds out for all whether the API takes any again.
      ['limit', this.#scouts > 0 ? this.#scoutAt + this.#longestPauseMs : Number.NEGATIVE_INFINITY],
      // Who is refused in spite of a quota shares it with others: the pace finds our part, and to wait for the reset would
      // bring all who share it back in the same instant.
      ['quota', this.#pace === null ? this.#quota.opensAt(now) : Number.NEGATIVE_INFINITY],
      // The pace rises while it is waited for, so no nap is long.
      ['pace', Math.min(this.#paceOpensAt(now), now + this.#firstPauseMs)],
    ];
    const last = gates.reduce((latest, gate) => (gate[1] > latest[1] ? gate : latest));
    // Slots that would pass unused are not taken.
    if (last[1] > now || this.#slots === null) return last;
    return ['rate', this.#slots.opensAt(now)];
  }

  #paceOpensAt(now: number): number {
    if (this.#pace === null) return Number.NEGATIVE_INFINITY;
    const rate = rateAt(this.#pace, now);
    if (rate !== null) return this.#pacedAt + 1000 / rate;
    this.#pace = null;
    this.#onChange(this.state());
    return Number.NEGATIVE_INFINITY;
  }

  #send(waiter: Waiter, now: number): void {
    const rate = this.#pace === null ? null : rateAt(this.#pace, now);
    this.#pacedAt = rate === null ? now : Math.max(this.#pacedAt + 1000 / rate, now - CATCH_UP_MS);
    this.#slots?.sent();
    const number = this.#quota.sent(now);
    this.#underWay++;
    this.#requests++;
    const scout = this.#provenSince ? 0 : 1;
    this.#scouts += scout;
    this.#scoutAt = now;
    let ended = false;
    waiter.go({
      waitedMs: this.#hold.openTime(this.#clock.monotonic()) - waiter.cameAt,
      end: (ending) => {
        if (ended) return;
        ended = true;
        this.#scouts -= scout;
        this.#learn(ending, { like: waiter.like, sentAt: now, number });
        this.#underWay--;
        this.#serve();
      },
    });
  }

  #learn(
    ending: Ending,
    { like, sentAt, number }: { like: string; sentAt: number; number: number },
  ): void {
    const now = this.#clock.monotonic();
    if ('quota' in ending && ending.quota) this.#quota.heard(ending.quota, number, now);
    switch (ending.kind) {
      case 'answered':
        this.#throughput.accepted(now);
        this.#pauseMs = this.#firstPauseMs;
        if (sentAt >= this.#refusedAt) this.#provenSince = true;
        if (ending.answerMs !== undefined)
          this.#crowding.answered(like, ending.answerMs, this.#underWay);
        break;
      case 'refused':
        this.#refused++;
        this.#refuse(ending, sentAt, now);
        break;
      case 'late':
        this.#crowding.late(this.#underWay);
        break;
      case 'lost':
        return;
    }
    this.#onChange(this.state());
  }

  /** Holds everyone, and cuts the pace, once for all requests that were on their way together. */
  #refuse(
    { status, retryAfterMs }: Extract<Ending, { kind: 'refused' }>,
    sentAt: number,
    now: number,
  ): void {
    if (sentAt >= this.#refusedAt && this.#provenSince) {
      const accepted = this.#throughput.at(now);
      const again = now - this.#refusedAt <= HICCUP * this.#firstPauseMs;
      const burst = status === 429 && accepted.lately >= BURST;
      if (this.#pace !== null || again || burst)
        this.#pace = cut(this.#pace, accepted, now, this.#firstPauseMs);
      this.#refusedAt = now;
      this.#provenSince = false;
    }
    if (retryAfterMs !== null) this.#hold.extend(retryAfterMs, now);
    else if (now >= this.#hold.until) {
      this.#hold.extend(this.#pauseMs, now);
      this.#pauseMs = Math.min(this.#longestPauseMs, this.#pauseMs * 2);
    }
  }

  #sleepUntil(at: number): void {
    if (this.#sleeper !== null && this.#sleeper.until <= at) return;
    this.#sleeper?.stop.abort();
    this.#sleeper = null;
    if (at === Number.POSITIVE_INFINITY) return;
    const stop = new AbortController();
    const own = { until: at, stop };
    this.#sleeper = own;
    const awake = (): void => {
      if (this.#sleeper !== own) return;
      this.#sleeper = null;
      this.#serve();
    };
    this.#clock.sleep(Math.ceil(at - this.#clock.monotonic()), stop.signal).then(awake, awake);
  }
}
