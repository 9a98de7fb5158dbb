/** A hold: nobody goes until an instant; the time without all holds is what waiting in line is measured by. */

/** Milliseconds on a clock that never jumps. */
export class Hold {
  #from = 0;
  #until = 0;
  /** Milliseconds of all holds before the present one. */
  #before = 0;

  /** When the present hold ends, or the last one did. */
  get until(): number {
    return this.#until;
  }

  /** Nobody goes for `ms` from now; a shorter hold than the present one changes nothing. */
  extend(ms: number, now: number): void {
    if (now >= this.#until) {
      this.#before += this.#until - this.#from;
      this.#from = now;
      this.#until = now;
    }
    this.#until = Math.max(this.#until, now + ms);
  }

  /** The time without all holds: it stands still while everyone is held. */
  openTime(now: number): number {
    return now - this.#before - Math.max(0, Math.min(now, this.#until) - this.#from);
  }
}
