/** The pace: how many requests a second, found by the API's refusals (429, 503); pure. */

/**
 * A cubic curve, as TCP CUBIC (RFC 9438) and the adaptive retry of the AWS SDKs have it: after a refusal it begins
 * below the ceiling, flattens towards it, lingers there and then feels its way up faster and faster.
 */
export interface Pace {
  /** Requests a second that were too many, or just what is accepted. */
  readonly ceiling: number;
  /** When the pace was cut; milliseconds. */
  readonly cutAt: number;
  /** Milliseconds from the cut until the pace is back at the ceiling. */
  readonly returnMs: number;
}

/** What remains after a cut. */
const KEPT = 0.85;
/** The slowest pace; what is slower yet is a matter of each request's own waits. */
const SLOWEST = 1;
/** The first return to the ceiling, in pauses. */
const FIRST_RETURN = 2.5;
/** A ceiling that is met again near the same place is tried so many times less often, ... */
const RARER = 4;
/** ... one that is met elsewhere more often, ... */
const OFTENER = 2;
/** ... but this seldom at least; in pauses. */
const LONGEST_RETURN = 80;
/** Ceilings that differ by no more are the same. */
const SAME = 0.35;
/** One refusal lowers the ceiling at most to this share. */
const DEEPEST = 0.7;
/** A pace so many times above its ceiling is none any more. */
const FORGOTTEN = 8;

/** What was accepted lately, in requests a second. */
export interface Accepted {
  /** In the last second. */
  readonly lately: number;
  /** On average over the last three. */
  readonly steadily: number;
}

/** Requests a second at the instant `now`; null: not limited any more. */
export function rateAt({ ceiling, cutAt, returnMs }: Pace, now: number): number | null {
  const rate = ceiling * (1 + (1 - KEPT) * ((now - cutAt) / returnMs - 1) ** 3);
  return rate > ceiling * FORGOTTEN ? null : Math.max(SLOWEST, rate);
}

/**
 * The pace after a refusal. Without one before, what the API took in the last second is the best guess.
 * @param pauseMs the pause after a refusal, by which the times of the curve are measured.
 */
export function cut(pace: Pace | null, accepted: Accepted, now: number, pauseMs: number): Pace {
  const shortest = FIRST_RETURN * pauseMs;
  const rate = pace === null ? null : rateAt(pace, now);
  if (pace === null || rate === null)
    return { ceiling: Math.max(SLOWEST, accepted.lately), cutAt: now, returnMs: shortest };
  const ceiling = Math.min(rate, Math.max(accepted.steadily, rate * DEEPEST, SLOWEST));
  const same = Math.abs(ceiling / pace.ceiling - 1) <= SAME;
  const returnMs = same ? pace.returnMs * RARER : pace.returnMs / OFTENER;
  return {
    ceiling,
    cutAt: now,
    returnMs: Math.min(LONGEST_RETURN * pauseMs, Math.max(shortest, returnMs)),
  };
}
