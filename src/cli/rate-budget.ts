/** The setting `rate` as a budget in the database, for a source that is opened before the database is. */
import type { Batch, Budget } from '../source/slots.ts';
import type { Database } from '../store/database.ts';
import { takeSlots } from '../store/rates.ts';

/** One budget for each API: its origin. */
export class RateBudget implements Budget {
  readonly rate: number;
  /** Where the slots are; set before the first request. */
  database: Database | null = null;
  readonly #origin: string;
  readonly #signal: AbortSignal;

  constructor(rate: number, apiUrl: string, signal: AbortSignal) {
    this.rate = rate;
    this.#origin = new URL(apiUrl).origin;
    this.#signal = signal;
  }

  take(count: number): Promise<Batch> {
    if (this.database === null) throw new Error('a request before the database was opened');
    return takeSlots(this.database, this.#origin, this.rate, count, this.#signal);
  }
}
