/** One walk: page after page from the checkpoint to the end of the list (I1, I5). It collects claims; it judges nothing. */
import { WalkError } from '../errors.ts';
import type { Claim, ListEnd, PageRequest } from '../model.ts';
import type { PageFacts } from '../store/bodies/page-facts.ts';
import type { ProbeFacts } from '../store/evidence/probes.ts';
import { listPagesObserved, type StoredPage, storePage } from '../store/pages.ts';
import { BrokenChainError, type OpenWalk } from '../store/walks.ts';
import { askPage, type FetchPage, type PageAnswer } from './answers.ts';
import { claimOf } from './contract.ts';
import { learnPaging } from './learning/paging.ts';
import { Prefetch } from './prefetch.ts';
import { Asking } from './questions/asking.ts';
import type { WindowContext } from './questions/context.ts';
import { confirmNothing } from './questions/nothing.ts';
import {
  beginsPage,
  nothingObserved,
  skipOf,
  type WalkObserved,
  withPage,
} from './rules/observed.ts';
import { nextStep, otherLengths, pageAfter, type WalkManner } from './rules/steps.ts';
import { isAudited, isExact, verdict } from './rules/verdict.ts';

/** Walks a window, or a span beside it, from where the walk stands to the end of its list. */
export class Walk {
  readonly #context: WindowContext;
  readonly #walk: OpenWalk;
  readonly #manner: WalkManner;
  readonly #prefetch: Prefetch;
  readonly #pageClaims: Claim[] = [];
  readonly #asking: Asking;
  #observed: WalkObserved;
  #believed: string | null = null;
  /** Requests that stored no page. */
  #requests = 0;
  /** Answers since the newest page that brought nothing to store. */
  #inVain = 0;

  constructor(context: WindowContext, walk: OpenWalk, manner: WalkManner) {
    const fetchPage: FetchPage = async (asked, options) => {
      this.#requests += 1;
      const page = await context.fetchPage(asked, options);
      this.#requests += page.requests - 1;
      return page;
    };
    this.#context = { ...context, fetchPage };
    this.#walk = walk;
    this.#manner = manner;
    this.#prefetch = new Prefetch({ ...this.#context, trust: context.knowledge.trust });
    this.#asking = new Asking(this.#context, walk);
    this.#observed = nothingObserved(
      manner.unlinked ? 'number' : (context.knowledge.paging ?? 'offset'),
    );
  }

  /** What is noted with the walk when it ends. */
  get unnoted() {
    return { claims: this.#asking.claims, requests: this.#requests };
  }

  /**
   * @returns how the list ended.
   * @throws {WalkError} where the list moved, cannot be paged, is capped, or is to be begun anew for what was learned.
   * @throws {BrokenChainError} where the stored pages are not those that the checkpoint counts.
   * @throws {EnvelopeError} where an answer is no page; whatever fetching and storing throw.
   */
  async toEnd(): Promise<ListEnd> {
    try {
      await this.#resume();
      for (;;) {
        const end = await this.#step();
        if (end !== null) return end;
      }
    } finally {
      this.#prefetch.close();
    }
  }

  /** @returns how the list ended; null: it has not yet. */
  async #step(): Promise<ListEnd | null> {
    this.#context.signal.throwIfAborted();
    const { offsetCap } = this.#context.knowledge;
    const known = { offsetCap, pageLength: this.#walk.pageLength, suffices: this.#endSuffices() };
    switch (nextStep(this.#observed, { ...this.#manner, ...known })) {
      case 'open':
        return this.#asking.lookBehind(this.#observed.records, this.#manner.onePage);
      case 'confirm':
        return this.#confirmEmpty();
      case 'page':
        return this.#page();
      case 'probe':
        return this.#probe();
    }
  }

  /** Nothing more need be asked: the verdict lacks no end, as only a total that is believed can say. */
  #endSuffices(): boolean {
    const { records, lastTotal } = this.#observed;
    // What was taken up may have been stored days ago; and all that was heard is not gone through again at each page.
    if (this.#walk.pages > 0 || lastTotal !== records) return false;
    const { knowledge, window } = this.#context;
    const audited = this.#walk.role === 'whole' && isAudited(window);
    const claims = [...this.#pageClaims, ...this.#asking.claims];
    const said = verdict({ audited, stored: records, end: 'open', claims }, knowledge.learned);
    return said.kind === 'lacking' ? said.needs !== 'end' : said.kind === 'complete';
  }

  /** Reads what the stored pages showed; the next step follows from it as if this worker had walked them. */
  async #resume(): Promise<void> {
    if (this.#walk.pages === 0) return;
    for (const page of await listPagesObserved(this.#context.database, this.#walk.walkId))
      this.#note(page);
    const { records, pages } = this.#observed;
    if (records !== this.#walk.nextStart || pages !== this.#walk.pages)
      throw new BrokenChainError(
        `walk ${this.#walk.walkId} has ${pages} pages with ${records} records, and its checkpoint says ${this.#walk.pages} with ${this.#walk.nextStart}`,
      );
  }

  #note({ claim, ...page }: StoredPage): void {
    const before = this.#observed;
    this.#observed = withPage(before, { ...page, total: claim.total });
    this.#pageClaims.push(claim);
    this.#prefetch.stored(before, this.#observed);
    this.#context.knowledge.listed(claim.came, this.#observed.records);
  }

  /** Asks for the next page and stores it. */
  async #page(): Promise<ListEnd | null> {
    const answer = await this.#asking.withLength(this.#observed, (most) => this.#store(most));
    if (answer === null) return this.#lastIsThere();
    return answer.facts.stored ? this.#isStored(answer) : this.#isNotStored(answer);
  }

  /** Asks for the next page, of so many records at most, and stores it where it is one. */
  async #store(most: number): Promise<PageAnswer<PageFacts>> {
    const { records: nextStart, pages, apart } = this.#observed;
    const skip = skipOf(this.#observed);
    const { offsetCap } = this.#context.knowledge;
    const requestAt = (records: number) => ({
      ...this.#asking.target,
      ...pageAfter({ ...this.#observed, records }, most, offsetCap),
    });
    const request = requestAt(nextStart);
    this.#prefetch.follow(this.#observed, request, (start) => requestAt(start + skip).length);
    const fetchPage = async (asked: PageRequest) => {
      const fetched = await this.#prefetch.fetch(asked);
      if (apart) await this.#asking.refuseMoved(nextStart);
      return fetched;
    };
    const { walkId } = this.#walk;
    const checkpoint = { walkId, nextStart, pages, skip, believes: this.#believed };
    const answer = await askPage({ ...this.#context, fetchPage }, request, (page, contract) =>
      storePage(this.#context, checkpoint, page, contract),
    );
    this.#context.knowledge.shown(request, answer.facts.came);
    return answer;
  }

  async #isStored({ facts, page }: PageAnswer<PageFacts>): Promise<ListEnd | null> {
    const { knowledge, onPage } = this.#context;
    const before = this.#observed;
    // They are noted with it.
    this.#requests -= page.requests;
    this.#inVain = 0;
    if (facts.came > 0) knowledge.answered();
    if (!this.#manner.unlinked) await this.#asking.refuseRepeated(before, facts);
    this.#note({ ...facts, skip: skipOf(before), claim: claimOf(page, facts) });
    // Walks for comparison bring nothing that readers will see.
    if (this.#walk.role === 'whole')
      onPage({ records: facts.records, bytes: page.body.length, total: facts.total });
    // By number, and behind one-record pages, an empty page is the end.
    return facts.came === 0 && before.pages > 0 ? this.#lastIsThere() : null;
  }

  /** It is no page of this walk, or brought nothing new. */
  async #isNotStored({ facts, page }: PageAnswer<PageFacts>): Promise<ListEnd | null> {
    const { records } = this.#observed;
    this.#prefetch.drop();
    this.#asking.heard(page, facts);
    this.#inVain += 1;
    if (this.#inVain > this.#context.knowledge.repeats)
      throw records === 0
        ? new WalkError('unknown-answer', 'no records come, in words that change each time')
        : new WalkError('shifted', `no page comes behind record ${records}, and records do`);
    if (facts.came > 0 && facts.continues) return this.#lastAlone();
    if (records === 0) return this.#confirmEmpty();
    if (facts.came === 0 && skipOf(this.#observed) === 0) return this.#lastIsThere();
    return this.#notContinued(facts.came);
  }

  /** Nothing comes behind the last record: it ends the list where it is still there. */
  async #lastIsThere(): Promise<ListEnd | null> {
    const { records } = this.#observed;
    if (this.#manner.unlinked) return this.#asking.lookBehind(records, 'first');
    return this.#goOn(await this.#asking.askDeep(records, records - 1, 1));
  }

  /** After an answer from the last record on. */
  #goOn({ came, beginsWithLast }: ProbeFacts): Promise<ListEnd | null> {
    if (!beginsWithLast) return this.#notContinued(came);
    return came === 1 ? this.#lastAlone() : this.#page();
  }

  /** Only the last record came: the list ends with it, or a page has no room for it and the next one, which is then asked for by itself. */
  async #lastAlone(): Promise<ListEnd | null> {
    const { records, lastTotal } = this.#observed;
    const { knowledge } = this.#context;
    if (lastTotal === records && isExact(records, knowledge.learned)) return 'last';
    // Halves and the sides of a cut are compared with what holds them, which was asked.
    const isHeld = ['half', 'before', 'after'].includes(this.#walk.role);
    const isAsked = !isHeld || (lastTotal ?? 0) > records || knowledge.hasLargeRecords;
    if (!isAsked || (await this.#asking.endsAlone(records))) return 'last';
    // A long page behind it was empty, and a short one is not: the source counts them from different places.
    if (this.#pageClaims.at(-1)?.came === 0) return this.#notContinued(1);
    const told = `record ${records} comes alone, and asked for by itself the next one comes, too`;
    await knowledge.learn('large_records', true, told);
    this.#observed = { ...this.#observed, apart: true };
    return this.#page();
  }

  /** Asks from the last record on: where exactly that one comes, the list has ended. */
  async #probe(): Promise<ListEnd | null> {
    const { records, paging, largestPage, pages, lastTotal, first } = this.#observed;
    if (paging === 'number' || largestPage === 1) {
      const behind = await this.#asking.behind(records, paging === 'number' || records === 1);
      // To ask behind it is refused: so the last record is asked for, and where records come singly with a second one, which may be there.
      if (behind === null) {
        const last = await this.#asking.askDeep(records, records - 1, paging === 'number' ? 1 : 2);
        return last.beginsWithLast && last.came === 1 ? 'last' : this.#goOn(last);
      }
      const ends = behind.came === 0 || (await this.#asking.endsAgain(this.#observed, behind));
      if (ends) return this.#lastIsThere();
      // A page of one record where more were asked for: they come singly, or others were inserted before it.
      const still = paging === 'offset' && records === 1 ? await this.#asking.ask(0, 2) : null;
      if (still?.beginsWithLast === false) return this.#notContinued(still.came);
      if (paging === 'offset' || records % largestPage === 0) return this.#page();
      throw new WalkError('shifted', `there is more behind page ${pages}, which was a short one`);
    }
    const start = records - 1;
    const [length] = otherLengths(this.#asking.length, records);
    const answer = await this.#asking.askDeep(records, start, length);
    const told = `from offset ${start} on the record at that offset came`;
    // All that its total tells, again: pages by number, of records that may be equal.
    if (answer.came > 1 && pages === 1 && lastTotal === records && answer.digest === first)
      return this.#notContinued(answer.came);
    if (answer.beginsWithLast && !beginsPage(start, length))
      await this.#context.knowledge.learn('paging', 'offset', told);
    return this.#goOn(answer);
  }

  /** An empty first page is no list yet. */
  async #confirmEmpty(): Promise<ListEnd> {
    await confirmNothing(this.#context, this.#asking, this.#walk.role);
    if (this.#observed.pages > 0) return 'nothing';
    // In a frame that is new for answers without records it is stored only now that it is believed.
    this.#believed = this.#asking.frame?.signature ?? null;
    await this.#page();
    return this.#observed.pages > 0 && this.#observed.records === 0
      ? 'nothing'
      : this.#asking.stillNothing({ came: 1 });
  }

  /** The answer from the last record on does not begin with it: what that means is found out by asking. */
  async #notContinued(came: number): Promise<ListEnd | null> {
    const { records, pages } = this.#observed;
    if (came === 0) {
      const { knowledge } = this.#context;
      const lengths = otherLengths(this.#asking.length, records);
      for (let empty = 1; empty < knowledge.repeatsWhere(true); empty += 1) {
        const length = lengths[empty % lengths.length] ?? lengths[0];
        const answer = await this.#asking.ask(records - 1, length);
        if (answer.came === 0) continue;
        await knowledge.caughtEmpty(`start ${records - 1} was empty, and asked again it was not`);
        if (this.#observed.paging === 'offset')
          this.#observed = { ...this.#observed, mostLength: length };
        return this.#goOn(answer);
      }
      const reason = `nothing comes from record ${records - 1} on, which had come before`;
      const isTold = pages > 1 && knowledge.isNoChance(lengths.length);
      throw isTold ? await this.#asking.capped(records, reason) : new WalkError('shifted', reason);
    }
    const first = { ...this.#asking.target, start: 0, length: this.#asking.length };
    const learned = await learnPaging(this.#context, first);
    if (learned !== null) throw new WalkError('learned', learned);
    throw new WalkError(
      'shifted',
      `the list moved: the page after record ${records} does not begin with that record`,
    );
  }
}
