/** One walk: page after page from the checkpoint until a step says end or fault (DESIGN 5.1; I1, I5). */
import { RequestError, WalkError } from '../errors.ts';
import type { PageRequest, Proof } from '../model.ts';
import { secondsOf } from '../plan/split.ts';
import type { Database } from '../store/database.ts';
import type { Lease } from '../store/leases.ts';
import { listPagesSeen, storePage } from '../store/pages.ts';
import { compareProbe, type ProbeFacts } from '../store/probes.ts';
import { BrokenChainError, type OpenWalk } from '../store/walks.ts';
import { Ahead } from './ahead.ts';
import { afterBreak, afterConfirm, afterFar, afterPage, afterProbe, type Step } from './proof.ts';
import { type FetchPage, type Known, type ReadingContext, readPage } from './reading.ts';
import { mayRefuseDepth, refusesLength } from './refusals.ts';
import type { Room } from './room.ts';
import { nothingSeen, skipOf, type WalkLimit, type WalkSeen, withPage } from './seen.ts';

/** What a walk needs; the wiring fills it. */
export interface WalkContext extends ReadingContext, WalkLimit {
  readonly database: Database;
  readonly leaseTtlMs: number;
  readonly keepBytes: boolean;
  /** What this walk and the others of the process share for pages ahead. */
  readonly room: Room;
  /** Told of every page that was stored. */
  readonly onPage: (page: { records: number; bytes: number; total: number | null }) => void;
}

/** A walk at its proven end. */
export interface WalkEnd {
  readonly proof: Proof;
  readonly nextStart: number;
  readonly pages: number;
}

/** The requests of a walk, but for start and length. */
export type WalkTarget = Omit<PageRequest, 'start' | 'length'>;

/** Far beyond any list, yet within 32 bits, so that no server stumbles over the number itself. */
const FAR = 2_000_000_000;

/** Walks the window from where the walk stands to its proven end. */
export class Walk {
  readonly #context: WalkContext;
  readonly #lease: Lease;
  readonly #target: WalkTarget;
  readonly #walk: OpenWalk;
  readonly #ahead: Ahead;
  readonly #digests = new Set<string>();
  #seen: WalkSeen;
  #requests = 0;
  /** Pages in a row that did not continue the one before. */
  #breaks = 0;

  constructor(context: WalkContext, lease: Lease, target: WalkTarget, walk: OpenWalk) {
    const { room, fetchPage: fetch } = context;
    const fetchPage: FetchPage = (asked, options) => room.request(() => fetch(asked, options));
    this.#context = { ...context, fetchPage };
    this.#lease = lease;
    this.#target = target;
    this.#walk = walk;
    this.#ahead = new Ahead({ ...context, trust: context.memory.trust });
    this.#seen = nothingSeen(walk.pageLength, context.memory.seen, context.mostRecords ?? null);
  }

  /** Requests that stored no page, so far; they are noted with the walk when it ends. */
  get requests(): number {
    return this.#requests + this.#ahead.wasted;
  }

  /** The total, where it is exact as far as is known: what the parts of a split must add up to. */
  get exactTotal(): number | null {
    const { lowerBound, firstTotal, lastTotal } = this.#seen;
    return lowerBound || firstTotal !== lastTotal ? null : lastTotal;
  }

  /** More than a first page came, or a full one: only then is an early end a matter of depth. */
  get cameDeep(): boolean {
    const { records, largestPage, pageLength } = this.#seen;
    return records > largestPage || largestPage >= pageLength;
  }

  /** Records stored. */
  get records(): number {
    return this.#seen.records;
  }

  /**
   * @throws {WalkError} where the list shifted, cannot be paged, or ends where a proof is impossible.
   * @throws {EnvelopeError} where an answer is no page.
   * @throws {BrokenChainError} where the stored pages are not those that the checkpoint counts.
   * @throws whatever fetching and storing throw.
   */
  async toEnd(): Promise<WalkEnd> {
    try {
      return await this.#steps();
    } finally {
      this.#ahead.close();
    }
  }

  async #steps(): Promise<WalkEnd> {
    let step = await this.#resume();
    for (;;) {
      this.#context.signal.throwIfAborted();
      this.#context.memory.reached(this.#seen.records);
      if (step.kind === 'end')
        return { proof: step.proof, nextStart: this.#seen.records, pages: this.#seen.pages };
      if (step.kind === 'fault') throw new WalkError(step.fault, step.reason);
      step = await this.#take(step);
    }
  }

  /** Reads what the stored pages showed; the next step follows from it as if this worker had walked them. */
  async #resume(): Promise<Step> {
    if (this.#walk.pages === 0) return { kind: 'page' };
    this.#context.memory.envelope = this.#walk.envelope;
    for (const page of await listPagesSeen(this.#context.database, this.#walk.walkId))
      this.#note(page);
    if (this.#seen.records !== this.#walk.nextStart || this.#seen.pages !== this.#walk.pages)
      throw new BrokenChainError(
        `walk ${this.#walk.walkId} has ${this.#seen.pages} pages with ${this.#seen.records} records, and its checkpoint says ${this.#walk.pages} with ${this.#walk.nextStart}`,
        { hint: 'Something else than daywalk changed the table daywalk.pages.' },
      );
    return afterPage(this.#seen);
  }

  #note(page: {
    records: number;
    skip: number;
    total: number | null;
    relation: string | null;
    digest: string;
  }): void {
    const before = this.#seen;
    this.#seen = withPage(before, { ...page, repeats: this.#digests.has(page.digest) });
    this.#ahead.stored(before, this.#seen);
    this.#digests.add(page.digest);
    this.#context.memory.fullPage = Math.max(this.#context.memory.fullPage, this.#seen.fullPage);
  }

  async #take(step: Exclude<Step, { kind: 'end' | 'fault' }>): Promise<Step> {
    if (step.kind !== 'page') this.#ahead.drop();
    switch (step.kind) {
      case 'page':
        return this.#page();
      case 'probe': {
        const answer = await this.#ask(this.#seen.records - 1);
        if (answer.total !== null && answer.total > answer.records)
          await this.#learnTotals(answer.total, answer.records);
        return this.#markMore(afterProbe(this.#seen, answer));
      }
      case 'confirm':
        return this.#markMore(afterConfirm(this.#seen, await this.#ask(this.#seen.records)));
      case 'far': {
        const answer = await this.#ask(FAR, this.#walk.pageLength).catch((error: unknown) => {
          // A source that refuses such a start looks at it.
          if (error instanceof RequestError) return null;
          throw error;
        });
        const same = answer !== null && answer.records > 0 && this.#digests.has(answer.digest);
        if (!same) this.#seen = { ...this.#seen, startHonoured: true };
        return afterFar(this.#seen, same, answer?.total ?? null);
      }
    }
  }

  #markMore(step: Step): Step {
    if (step.kind === 'page') this.#seen = { ...this.#seen, moreAt: this.#seen.records };
    return step;
  }

  async #page(): Promise<Step> {
    const { database, leaseTtlMs, keepBytes, signal, onPage } = this.#context;
    const checkpoint = {
      walkId: this.#walk.walkId,
      nextStart: this.#seen.records,
      pages: this.#seen.pages,
      skip: skipOf(this.#seen),
    };
    const start = this.#seen.records - checkpoint.skip;
    const { facts, page, wasted } = await this.#withLength((most) => {
      const length = Math.max(most, 1 + checkpoint.skip);
      const request = { ...this.#target, start, length };
      this.#ahead.follow(this.#seen, request);
      const fetchPage = (asked: PageRequest) => this.#ahead.fetch(asked);
      return readPage({ ...this.#context, fetchPage }, request, (page, envelope) =>
        storePage(database, this.#lease, leaseTtlMs, checkpoint, page, envelope, keepBytes, signal),
      );
    });
    this.#requests += wasted;
    if (!facts.continues) {
      this.#ahead.drop();
      this.#requests += page.requests;
      this.#breaks += 1;
      return afterBreak(this.#seen, {
        came: facts.records + checkpoint.skip,
        total: facts.total,
        sameAgain: this.#digests.has(facts.digest),
        breaks: this.#breaks,
      });
    }
    this.#breaks = 0;
    const known = this.#seen.totalsMeanWindow;
    this.#note({ ...facts, skip: checkpoint.skip });
    if (!known && facts.total !== null && this.#seen.totalsMeanWindow)
      await this.#learnTotals(facts.total, facts.records);
    onPage({ records: facts.records, bytes: page.body.length, total: facts.total });
    const step = afterPage(this.#seen);
    return step.kind === 'page' && this.#seen.pages === 1 ? this.#lookDeep(step) : step;
  }

  /** Without a total one request, as deep as paging is known to go, may spare a walk to there (DESIGN 5.5). */
  async #lookDeep(step: Step): Promise<Step> {
    const { memory } = this.#context;
    const { offsetCap } = memory.seen;
    const { lastTotal, lowerBound } = this.#seen;
    const expected = memory.expected(secondsOf(this.#target));
    if (offsetCap === null || (lastTotal !== null && !lowerBound)) return step;
    if (offsetCap <= this.#seen.records + 1 || (expected > 0 && expected < offsetCap)) return step;
    const answer = await this.#ask(offsetCap - 2, 1).catch(() => null);
    if (answer === null || answer.records === 0) return step;
    const reason = `a record is there at ${offsetCap - 2}, and paging goes no deeper than ${offsetCap}`;
    return { kind: 'fault', fault: 'beyond-known-cap', reason };
  }

  #learnTotals(total: number, records: number): Promise<void> {
    return this.#context.memory.learn(
      'totals',
      1,
      `a page of ${records} records told a total of ${total}`,
    );
  }

  /** Tries shorter pages where the source refuses the length, and remembers what works (DESIGN 5.7). */
  async #withLength<T>(ask: (length: number) => Promise<T>): Promise<T> {
    const { memory } = this.#context;
    let length = memory.pageLength(this.#walk.pageLength);
    let refused: { readonly length: number; readonly error: Error } | null = null;
    let refusedInDepth = false;
    for (;;) {
      try {
        const answer = await ask(length);
        if (refused !== null)
          await memory.learn(
            'page_length',
            length,
            `${refused.length} was too long: ${refused.error.message}`,
          );
        return answer;
      } catch (error) {
        if (length > 1 && (await this.#tooLong(error))) {
          refused = { length, error: error as Error };
          length = Math.floor(length / 2);
          continue;
        }
        if (!(await this.#isDepth(error))) throw refused?.error ?? error;
        const { offsetCap } = memory.seen;
        const known = offsetCap !== null && this.#seen.records >= offsetCap;
        // Refused once may be a moment's weakness, and a limit is remembered for weeks.
        if (known || refusedInDepth) throw await this.#capped(refused?.error ?? (error as Error));
        refusedInDepth = true;
      }
    }
  }

  async #tooLong(error: unknown): Promise<boolean> {
    const refused = refusesLength(error, this.#seen.records);
    return refused === 'late' ? this.#answers(this.#seen.records) : refused;
  }

  /** Whether only the deep pages of the list are refused: paging has an end, and the window is to be split. */
  async #isDepth(error: unknown): Promise<boolean> {
    return this.#seen.records > 0 && mayRefuseDepth(error) && this.#answers(0);
  }

  /** Whether a single record can be had there. */
  #answers(start: number): Promise<boolean> {
    const [yes, no] = [() => true, () => false];
    return this.#ask(start, 1).then(yes, no);
  }

  async #capped(error: Error): Promise<WalkError> {
    const start = this.#seen.records;
    const reason = `the source answers at start 0 and not at ${start}: ${error.message}`;
    await this.#context.memory.learn('offset_cap', start, reason);
    return new WalkError('capped', reason, { cause: error });
  }

  /** A request whose answer is looked at and not stored: a probe. */
  async #ask(start: number, length = 2): Promise<Known<ProbeFacts> & { sha256: string }> {
    const { database } = this.#context;
    const request = { ...this.#target, start, length };
    const { facts, page, wasted } = await readPage(this.#context, request, (page, envelope) =>
      compareProbe(database, this.#walk.walkId, page, envelope),
    );
    this.#requests += page.requests + wasted;
    return { ...facts, sha256: page.sha256.toString('hex') };
  }
}
