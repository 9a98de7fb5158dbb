/** What is known of a stream's source while the process lives; what outlives it is in store/learned.ts. */
import type { Envelope } from '../model.ts';
import type { Database } from '../store/database.ts';
import { type Fact, forget, type LearnedFact, learn } from '../store/learned.ts';
import { Trust } from './following.ts';
import type { StreamSeen } from './seen.ts';

/** Knowledge of one stream: read before it is drained, added to while it is. */
export class StreamMemory {
  /** Where list and total are; null until a page with records has shown it. */
  envelope: Envelope | null = null;
  /** Until a page that was looked through for it is read; looking takes several times its memory. Never rejects. */
  finding: Promise<void> | null = null;
  /** The largest page so far. */
  fullPage = 0;
  /** How far ahead pages may be asked for. */
  readonly trust = new Trust();
  /** Whether totals are those of the span of time that is asked for; null: not looked at yet. */
  totalsNarrow: boolean | null = null;
  #deepest = 0;
  /** What the windows proven so far hold, and for how long: what to expect of others. */
  #proven = { records: 0, seconds: 0 };
  /** An end that a total contradicts: a cap on paging, or a wrong total. */
  #suspected: { readonly cap: number; readonly reason: string } | null = null;
  #doubted = false;
  readonly #database: Database;
  readonly #streamId: number;
  readonly #facts: Map<Fact, number>;

  constructor(database: Database, streamId: number, facts: readonly LearnedFact[]) {
    this.#database = database;
    this.#streamId = streamId;
    this.#facts = new Map(
      facts.filter((fact) => fact.streamId === streamId).map(({ fact, value }) => [fact, value]),
    );
  }

  /** What a walk begins with. */
  get seen(): StreamSeen {
    return {
      fullPage: this.fullPage,
      totalsMeanWindow: this.#facts.get('totals') === 1,
      provenSize: this.#facts.get('proven_size') ?? 0,
      offsetCap: this.#facts.get('offset_cap') ?? null,
    };
  }

  /** The largest page length that works, as far as is known, and not more than `wanted`. */
  pageLength(wanted: number): number {
    return Math.min(wanted, this.#facts.get('page_length') ?? wanted);
  }

  /** Notes how far into a list a walk has come. */
  reached(records: number): void {
    this.#deepest = Math.max(this.#deepest, records);
  }

  /** Notes what a proven window holds. */
  proved(records: number, seconds: number): void {
    this.#proven.records += records;
    this.#proven.seconds += seconds;
  }

  /** How many records so many seconds hold, if they are like those of the windows proven so far; 0: nothing is known. */
  expected(seconds: number): number {
    const proven = this.#proven;
    return proven.seconds === 0 ? 0 : Math.round((proven.records / proven.seconds) * seconds);
  }

  /** Notes an early end that may be a cap; it is learned once a part of the window has shown that totals are right. */
  suspectCap(cap: number, reason: string): void {
    this.#suspected = { cap, reason };
  }

  /** A part of a split window holds exactly what its total says: the totals are right, so the early end was a cap. */
  async confirmCap(): Promise<void> {
    if (this.#suspected === null) return;
    const { cap, reason } = this.#suspected;
    this.#suspected = null;
    await this.learn('offset_cap', cap, reason);
  }

  /** Whether an end at `records` may be a cap on paging: not where other walks came much deeper. */
  mayBeCap(records: number): boolean {
    const { provenSize, offsetCap } = this.seen;
    return records >= Math.max(this.#deepest, provenSize, offsetCap ?? 0) / 2;
  }

  /**
   * Forgets the cap on paging, once while the process lives, so that it is met again or not.
   * @returns whether there was one to forget.
   */
  async doubtCap(): Promise<boolean> {
    if (this.#doubted || !this.#facts.delete('offset_cap')) return false;
    this.#doubted = true;
    await forget(this.#database, this.#streamId, 'offset_cap');
    return true;
  }

  /** Keeps a fact with its evidence, where it is news. */
  async learn(fact: Fact, value: number, evidence: string): Promise<void> {
    const known = this.#facts.get(fact);
    if (known === value || (fact === 'proven_size' && known !== undefined && known >= value))
      return;
    this.#facts.set(fact, value);
    await learn(this.#database, this.#streamId, fact, value, evidence);
  }
}
