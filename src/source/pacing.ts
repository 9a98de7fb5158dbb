/** What the API allows, as its answers say: pauses, quotas and the pace; time and chance are given by who asks. */
import { cut, type Pace, rateAt } from './pace.ts';
import type { Quota } from './quota.ts';

/** An answer that asks everyone to come later. */
export interface ComeLater {
  /** As the API said; null: it named no time. Milliseconds. */
  readonly retryAfterMs: number | null;
  readonly quota?: Quota | null;
}

/** A request that went. */
export interface Sent {
  readonly at: number;
  /** How many went before it, and it. */
  readonly number: number;
}

/** How long pauses are, and what of a quota is left. */
export interface PacingOptions {
  /** How long everyone pauses after a refusal that names no time; milliseconds. Doubled as long as nothing is accepted. */
  readonly pauseMs: number;
  readonly longestPauseMs: number;
  /** So many of a quota are left to the end of its time. */
  readonly spare: number;
}

/** A request that is late by so much may be made up for, as timers wake late; more would be too early for strict servers. */
const CATCH_UP_MS = 10;
/** After a refusal one request tries for all; one that gets no answer does not hold the others up for longer. */
const TRIAL_MS = 10_000;
/** A pause is up to so much longer: not all who were told the same instant come back in the same instant. */
const JITTER = 0.1;
const PAST = Number.NEGATIVE_INFINITY;

/** When the next request may go by what the API has answered; times are milliseconds of a monotonic clock. */
export class Pacing {
  readonly #options: PacingOptions;
  #sent = 0;
  /** When the last request went, by the pace. */
  #sentAt = PAST;
  #pace: Pace | null = null;
  /** Of the quota that the last answer told: how many requests are left, and until when. */
  #left = 0;
  #resetsAt = PAST;
  #pausedUntil = PAST;
  /** The next pause that nobody names. */
  #pauseMs: number;
  /** The last refusal that was not under way with the one before; null: something that went after it was accepted. */
  #refusal: { readonly at: number; readonly cut: boolean } | null = null;
  #trialAt = PAST;
  /** Accepted in the last second outside of pauses: an average that decays, as of `#acceptedAt`. */
  #lately = 0;
  #acceptedAt = 0;

  constructor(options: PacingOptions) {
    this.#options = options;
    this.#pauseMs = options.pauseMs;
  }

  /** Requests a second; null: as many as one likes. */
  rate(now: number): number | null {
    return rateAt(this.#pace, now);
  }

  /** Milliseconds until the pause ends; 0: there is none. */
  pausedMs(now: number): number {
    return Math.max(0, this.#pausedUntil - now);
  }

  /** When the next request may go, at the earliest, and what it waits for until then. */
  opensAt(now: number): readonly ['pause' | 'limit' | 'quota' | 'pace', number] {
    const rate = this.rate(now);
    const gates = [
      ['pause', this.#pausedUntil],
      ['limit', this.#trialAt + TRIAL_MS],
      // Who is refused in spite of a quota shares it with others: the pace finds our part, and to wait for the reset would
      // bring all who share it back in the same instant.
      ['quota', rate === null ? this.#quotaOpensAt() : PAST],
      ['pace', rate === null ? PAST : this.#sentAt + 1000 / rate],
    ] as const;
    return gates.reduce((latest, gate) => (gate[1] > latest[1] ? gate : latest));
  }

  /** The last requests of a quota are spread until its reset: several at once may be counted in any order. */
  #quotaOpensAt(): number {
    if (this.#left <= 0) return this.#resetsAt;
    if (this.#left > this.#options.spare) return PAST;
    return this.#sentAt + (this.#resetsAt - this.#sentAt) / (this.#left + 1);
  }

  /** Notes a request that goes now. */
  sent(now: number): Sent {
    const rate = this.rate(now);
    this.#sentAt = rate === null ? now : Math.max(this.#sentAt + 1000 / rate, now - CATCH_UP_MS);
    this.#left--;
    if (this.#refusal !== null) this.#trialAt = now;
    return { at: now, number: ++this.#sent };
  }

  /** Notes that a request has ended, in whatever way. */
  ended({ at }: Sent): void {
    if (this.#trialAt === at) this.#trialAt = PAST;
  }

  accepted({ at }: Sent, now: number): void {
    this.#lately = 1 + this.#lately * Math.exp(Math.min(0, this.#acceptedAt - now) / 1000);
    this.#acceptedAt = Math.max(now, this.#pausedUntil);
    this.#pauseMs = this.#options.pauseMs;
    if (this.#refusal !== null && at >= this.#refusal.at) this.#refusal = null;
  }

  /** Takes in what the answer to a request said of a quota: those that went after it are not in its count. */
  told({ remaining, resetMs }: Quota, { number }: Sent, now: number): void {
    this.#left = remaining - (this.#sent - number);
    this.#resetsAt = now + resetMs;
  }

  /**
   * Pauses everyone, and cuts the pace once for all requests that were under way together.
   * @param random a number in [0, 1).
   */
  refused({ retryAfterMs, quota }: ComeLater, { at }: Sent, now: number, random: number): void {
    const before = this.#refusal;
    if (before === null || at >= before.at) {
      // One that names a time may have another reason than the rate, unless it says that a quota is used up; so it counts
      // only where the first request after that time is refused as well.
      const inDoubt = retryAfterMs !== null && quota?.remaining !== 0;
      const cuts = before === null ? !inDoubt : !before.cut;
      if (cuts) this.#pace = cut(this.#pace, this.#lately, now, inDoubt);
      this.#refusal = { at: now, cut: cuts || before?.cut === true };
    }
    const jitter = 1 + JITTER * random;
    if (retryAfterMs !== null) this.#pause(retryAfterMs * jitter, now);
    // Refusals that name no time and come together make one pause.
    else if (now >= this.#pausedUntil) {
      this.#pause(this.#pauseMs * jitter, now);
      this.#pauseMs = Math.min(this.#options.longestPauseMs, this.#pauseMs * 2);
    }
  }

  #pause(ms: number, now: number): void {
    const longer = now + ms - Math.max(now, this.#pausedUntil);
    if (longer <= 0) return;
    this.#pausedUntil = now + ms;
    this.#acceptedAt += longer;
  }
}
