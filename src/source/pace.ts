/** The pace: how many requests a second go, found by the API's refusals; multiplicative decrease, cubic increase; pure. */

/**
 * The curve of TCP CUBIC (RFC 9438): after a cut it returns to its ceiling, quickly first, lingers there, and then feels its
 * way up faster and faster.
 */
export interface Pace {
  /** Requests a second that were too many. */
  readonly ceiling: number;
  /** What the cut left of them. */
  readonly kept: number;
  /** When that was; milliseconds. */
  readonly cutAt: number;
  /** Milliseconds from the cut until the pace is back at its ceiling. */
  readonly returnMs: number;
}

/** What a cut leaves. */
const KEPT = 0.9;
/** What it leaves before so much of the way back is over: the ceiling was far too high. */
const KEPT_EARLY = 0.6;
const EARLY = 0.4;
/** The first way back to the ceiling; each further cut doubles it. Where the first is in doubt, it lasts no longer than a pause. */
const FIRST_RETURN_MS = 5_000;
const LONGEST_RETURN_MS = 60_000;
const DOUBTFUL_RETURN_MS = 1_000;
/** Requests a second: no pace is slower; below that the pauses do it. */
const SLOWEST = 1;
/** From fewer requests in a second no pace is made by a refusal that is in doubt. */
const MANY = 20;
/** A pace so many times above its ceiling is none any more. */
const FORGOTTEN = 8;

/** Requests a second at the instant `now`; null: as many as one likes. */
export function rateAt(pace: Pace | null, now: number): number | null {
  if (pace === null) return null;
  const { ceiling, kept, cutAt, returnMs } = pace;
  const rate = ceiling + (ceiling - kept) * ((now - cutAt) / returnMs - 1) ** 3;
  return rate > ceiling * FORGOTTEN ? null : Math.max(SLOWEST, rate);
}

/**
 * The pace after a refusal.
 * @param lately requests that were accepted in the last second: the ceiling, where there was no pace before.
 * @param inDoubt the refusal may have another reason than the rate: the pace falls a little, and is as soon back as before.
 */
export function cut(pace: Pace | null, lately: number, now: number, inDoubt: boolean): Pace | null {
  const rate = rateAt(pace, now);
  if (pace === null || rate === null) {
    if (lately < (inDoubt ? MANY : SLOWEST)) return null;
    const returnMs = inDoubt ? DOUBTFUL_RETURN_MS : FIRST_RETURN_MS;
    return { ceiling: lately, kept: lately * KEPT, cutAt: now, returnMs };
  }
  if (inDoubt) return { ...pace, ceiling: rate, kept: rate * KEPT, cutAt: now };
  const early = now - pace.cutAt < pace.returnMs * EARLY;
  return {
    ceiling: rate,
    kept: rate * (early ? KEPT_EARLY : KEPT),
    cutAt: now,
    returnMs: Math.min(LONGEST_RETURN_MS, Math.max(FIRST_RETURN_MS, pace.returnMs * 2)),
  };
}
