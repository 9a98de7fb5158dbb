/** Kills a worker at a chosen moment: from then on nothing of it reaches the source or the database. */
import type { Page, PageRequest } from '../../src/model.ts';
import type { DatabaseOptions } from '../../src/store/connection/connections.ts';
import { Database, type SqlValues } from '../../src/store/database.ts';

/** What a dead worker throws. */
export class KilledError extends Error {}

type FetchPage = (request: PageRequest, options: { signal: AbortSignal }) => Promise<Page>;

/** A worker's life: it ends at its `last` moment, before or after something it did. */
export class Life {
  readonly #last: number;
  readonly #end = new AbortController();
  #moments = 0;

  /** @param last the moment at which it ends; infinite: never. */
  constructor(last: number) {
    this.#last = last;
  }

  get signal(): AbortSignal {
    return this.#end.signal;
  }

  get ended(): boolean {
    return this.#end.signal.aborted;
  }

  /** How many moments there were. */
  get moments(): number {
    return this.#moments;
  }

  /** @throws KilledError at the last moment and ever after. */
  moment(): void {
    this.#moments += 1;
    if (this.#moments >= this.#last) this.#end.abort(new KilledError('killed'));
    if (this.ended) throw new KilledError('killed');
  }

  /** Fetching, with a moment before and one after: an answer may come that nobody stores. */
  fetching(fetchPage: FetchPage): FetchPage {
    return async (request, { signal, ...options }) => {
      this.moment();
      const mortal = { ...options, signal: AbortSignal.any([signal, this.signal]) };
      const page = await fetchPage(request, mortal);
      this.moment();
      return page;
    };
  }
}

/** A database as a mortal worker has it: a statement may be executed whose answer nobody reads. */
export class MortalDatabase extends Database {
  readonly #life: Life;

  constructor(options: DatabaseOptions, life: Life) {
    super(options);
    this.#life = life;
  }

  override async query<Row extends Record<string, unknown>>(
    sql: string,
    values: SqlValues = [],
  ): Promise<Row[]> {
    this.#life.moment();
    const rows = await super.query<Row>(sql, values);
    this.#life.moment();
    return rows;
  }
}
