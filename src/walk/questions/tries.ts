/** What is tried a few times in a run, because it may be in vain, or tells all that it can at once. */

/** So often each at most. */
const MOST_TRIES = {
  /** By windows, to learn the reach. */
  reach: 3,
  /** By midnights, to learn what dates hide. */
  dates: 3,
  /** By windows, to calibrate totals. */
  calibration: 5,
  /** By days of a stream that has shown nothing yet, whether their parts show more. */
  emptyDay: 2,
  /** Whether the source ignores the time of day still. */
  timeOfDay: 1,
  /** Whether a range as short as a cut is asked for with is answered; where it is. */
  shortRange: 1,
  /** Whether ranges of some hours across a midnight are answered; where they are not. */
  untoldHours: 1,
  /** One second alone before the first day of all, where ends are rounded. */
  oneSecond: 1,
};
type Trial = keyof typeof MOST_TRIES;

/** The tries of one run, in one stream. */
export class Tries {
  readonly #spent = new Map<Trial, number>();

  /** Whether one is left. */
  left(what: Trial): boolean {
    return (this.#spent.get(what) ?? 0) < MOST_TRIES[what];
  }

  /** Notes one. */
  spend(what: Trial): void {
    this.#spent.set(what, (this.#spent.get(what) ?? 0) + 1);
  }
}
