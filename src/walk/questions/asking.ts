/** Asking on behalf of a walk: lengths that the source takes, and claims of the answers that are no stored pages. */
import { WalkError } from '../../errors.ts';
import type { Claim, ListEnd, Page } from '../../model.ts';
import { countUnion } from '../../store/evidence/agreement.ts';
import type { ProbeFacts } from '../../store/evidence/probes.ts';
import type { OpenWalk } from '../../store/walks.ts';
import { claimOf, type Facts, type Frame } from '../contract.ts';
import {
  contradicted,
  mayBeOfRecord,
  mayRefuseDepth,
  ofMoment,
  orError,
  orNull,
  refusesLength,
} from '../failures.ts';
import { skipOf, type WalkObserved } from '../rules/observed.ts';
import type { WalkManner } from '../rules/steps.ts';
import { isPowerOfTwo } from '../rules/verdict.ts';
import type { AskingContext } from './context.ts';
import {
  askShorter,
  heedsStart,
  isBehindEnd,
  isOfDepth,
  isOfRecord,
  orShorter,
  pageOrNull,
} from './questions.ts';
import { targetOf, textOf, type WalkTarget } from './span.ts';

type Asked = Pick<Page, 'start' | 'length'>;

/** Records behind the newest one, so far that no list of one record a page is walked there. */
const FAR = 1_000_000;
/** No `start` is larger: many a source keeps it in 32 bits. */
const FARTHEST = 2_000_000_000;

const IGNORES_START =
  'the source answers with the same page whatever `start` is: it cannot be paged';
const COUNTS_FROM_ONE =
  'start 0 and start 1 show the same record: it may stand there twice, or the source counts from 1';
/** So many pages on, a walk may go round. */
const LONG_WALK = 16;

/** The questions of one walk, and what their answers claimed. */
export class Asking {
  /** Of the newest answer without records. */
  frame: Frame | null = null;
  readonly claims: Claim[] = [];
  readonly target: WalkTarget;
  readonly #context: AskingContext;
  readonly #walk: OpenWalk;

  constructor(context: AskingContext, walk: OpenWalk) {
    this.target = targetOf(context.stream, walk);
    this.#context = context;
    this.#walk = walk;
  }

  /** As many records as pages are asked for. */
  get length(): number {
    return this.#context.knowledge.pageLength(this.#walk.pageLength);
  }

  /** Notes what an answer says that is no stored page. */
  heard(page: Asked, facts: Facts): void {
    this.claims.push(claimOf(page, facts));
    this.frame = facts.frame ?? this.frame;
  }

  /** A request whose answer is looked at and not stored. */
  async ask(start: number, length: number): Promise<Facts<ProbeFacts>> {
    const { facts, page } = await this.#aside(start, length);
    this.heard(page, facts);
    return facts;
  }

  /** The same, where it claims nothing of the span. */
  #aside(start: number, length: number) {
    return askShorter(this.#context, { ...this.target, start, length }, this.#walk);
  }

  /** @throws {WalkError} `capped` behind so many records where not even so few can be had there. */
  askDeep(records: number, start: number, length: number): Promise<Facts<ProbeFacts>> {
    return this.ask(start, length).catch(async (error: unknown) => {
      throw await this.#cappedBy(records, error, { start, length });
    });
  }

  /**
   * What comes behind so many records; null: to begin there is refused, and far behind, too.
   * @param mayEnd how a list may end; else it is one that is capped.
   * @throws what was refused for something else than that it is behind the end: far behind, where none is, the source answers.
   */
  async behind(records: number, mayEnd: boolean): Promise<Facts<ProbeFacts> | null> {
    if (!mayEnd) return this.askDeep(records, records, 1);
    const answer = await orError(this.ask(records, 1), mayRefuseDepth);
    if (!(answer instanceof Error)) return answer;
    // In an outage all is refused, the last record, too; where requests are refused by turns, this one is not refused again.
    let came = 0;
    for (let time = 0; came === 0 && time < this.#context.knowledge.repeats; time += 1)
      ({ came } = await this.askDeep(records, records - 1, 1));
    if (came === 0 || (await this.#far(records, 1)) !== null) throw answer;
    return orNull(this.ask(records, 1), mayRefuseDepth);
  }

  /** Whether the last record, which came alone, ends the list: nothing comes behind it, its last record, or its beginning. */
  async endsAlone(records: number): Promise<boolean> {
    const behind = await this.behind(records, true);
    if (behind === null || behind.came === 0) return true;
    return behind.beginsWithLast ? this.showsLast(records) : this.#beginsAnew(records);
  }

  /** @throws {WalkError} `shifted` where the last of so many records, with which the next page does not begin, is another one by now. */
  async refuseMoved(records: number): Promise<void> {
    if (!(await this.ask(records - 1, 1)).beginsWithLast)
      throw new WalkError('shifted', `record ${records} is another one than it was`);
  }

  /**
   * Whether what came last, behind so many records, is the last of them, which is the answer far behind them, too; then it was
   * asked for where that one stands. Two neighbours that trade places look like that once.
   */
  async showsLast(records: number): Promise<boolean> {
    if ((await this.#far(records, 1))?.beginsWithLast !== true) return false;
    const claim = this.claims.pop() as Claim;
    this.claims.push({ ...claim, start: records - 1, came: 1 });
    return true;
  }

  /** Whether the list begins anew behind so many records, and shows some far behind them, where none is; then they were asked for at its beginning. */
  async #beginsAnew(records: number): Promise<boolean> {
    const length = this.#context.knowledge.paging === 'number' ? 1 : 2;
    const beginning = (await this.#aside(0, length)).facts.hashes;
    // Two of them may lie deeper than paging goes.
    const again = await orNull(this.#aside(records, length), mayRefuseDepth);
    if (again?.facts.hashes.join() !== beginning.join()) return false;
    if (((await this.#far(records, 1))?.came ?? 0) === 0) return false;
    this.claims.pop();
    return true;
  }

  /** Whether its source shows the last page, or the first one, again for all that is behind the list. A source that ignores `start` looks alike: that is checked. */
  async endsAgain(observed: WalkObserved, behind: ProbeFacts): Promise<boolean> {
    const { records, pages, paging, largestPage, lastTotal } = observed;
    if (lastTotal !== null && lastTotal !== records) return false;
    const heeds = () =>
      records > 1 ? this.#showsEnd(records) : this.#context.knowledge.paging === 'offset';
    if (behind.beginsWithLast)
      return (lastTotal !== null || (await heeds())) && this.showsLast(records);
    const isShort = pages === 1 ? records < this.length : records % largestPage !== 0;
    const mayBegin = isShort && paging === 'number';
    if (!mayBegin || (await this.#aside(0, 1)).facts.digest !== behind.digest) return false;
    return (await this.#aside(records - 1, 1)).facts.beginsWithLast && this.#beginsAnew(records);
  }

  /** Whether the last record, asked for by itself, is shown, and not as the first one. */
  async #showsEnd(records: number): Promise<boolean> {
    if ((await this.#aside(0, 1)).facts.beginsWithLast) return false;
    return (await this.#aside(records - 1, 1)).facts.beginsWithLast;
  }

  /** Whether most of a long walk came before in it, and there is no end of that, as the list begins anew behind its end. */
  async #goesRound(records: number, pages: number): Promise<boolean> {
    if (pages < LONG_WALK || !isPowerOfTwo(pages)) return false;
    const different = await countUnion(this.#context.database, [this.#walk.walkId]);
    return 2 * different < records && ((await this.#far(records, 1))?.came ?? 0) > 0;
  }

  /**
   * Refuses a page by number, behind the walk without it, that equals the first one, one that comes for every `start` (the first one of one record, or the
   * newest by number, which comes far behind the list, too), and one that comes for 0 and for 1, where nothing tells that it stands twice.
   * @throws {WalkError} where the first page comes for each `start`; `capped` where the newest page does for all behind it.
   */
  async refuseRepeated(
    { records, pages, paging, first, newest, lastTotal }: WalkObserved,
    { came, digest }: Pick<ProbeFacts, 'came' | 'digest'>,
  ): Promise<void> {
    if (await this.#goesRound(records, pages))
      throw contradicted(`behind ${records} records the list still shows those that came before`);
    if (came > 1 && digest === first && paging === 'number')
      throw newest !== first || (await this.#showsEnd(records))
        ? new WalkError('capped', `behind record ${records} the first page comes again`)
        : contradicted(IGNORES_START);
    if (came === 1 && digest === first && isPowerOfTwo(pages)) {
      if ((await this.#far(records, 1))?.beginsWithLast) throw contradicted(IGNORES_START);
      // By number, a long page begins at the first record, and a short one does, too, where it is made longer.
      const { pageLength: long } = this.#walk;
      const wide = long > 2 ? await orNull(this.#aside(long - 1, long)) : null;
      if (wide?.facts.beginsWithLast) throw contradicted(IGNORES_START);
      const isAll = pages === 1 && (lastTotal ?? 0) <= records;
      if (isAll && !(await heedsStart(this.#context, this.target)))
        throw contradicted(COUNTS_FROM_ONE);
    } else if (came > 1 && digest === newest && paging === 'number') {
      if ((await this.#far(records, came))?.digest === digest)
        throw new WalkError('capped', `the page behind record ${records} comes for all behind it`);
    }
  }

  /** What comes far behind the records, where none is; null: it cannot be had. It claims nothing: a total may run along with `start`. */
  async #far(records: number, length: number): Promise<ProbeFacts | null> {
    const pages = Math.min(FAR, Math.floor(FARTHEST / length));
    return (await orNull(this.#aside(records + length * pages, length)))?.facts ?? null;
  }

  /** A page that is to be all may be cut short: what comes behind it is heard. One as large as any may be a capped list. */
  async lookBehind(records: number, onePage: WalkManner['onePage']): Promise<ListEnd> {
    const { largestAnswer, givesEmptiesInVain, repeats } = this.#context.knowledge;
    const looks = onePage === 'first' || (onePage === 'another' && records >= largestAnswer);
    const times = records === 0 || !looks ? 0 : givesEmptiesInVain ? repeats : 1;
    for (let time = 0, came = 0; time < times && came === 0; time += 1)
      came = (await this.behind(records, records < largestAnswer))?.came ?? 0;
    return 'open';
  }

  /** @throws {WalkError} where an answer to what was empty before has records. */
  async stillNothing({ came }: { readonly came: number }): Promise<ListEnd> {
    if (came === 0) return 'nothing';
    const evidence = `start 0 of ${textOf(this.target)} was empty, and asked again it was not`;
    await this.#context.knowledge.caughtEmpty(evidence);
    throw new WalkError('shifted', 'the source shows records on one request and none on another');
  }

  /**
   * Tries shorter pages where the source fails on the length.
   * @returns null: by number, the next page lies behind the end of the list.
   * @throws {WalkError} `capped` where only what lies deep in the list fails; `learned` by number.
   */
  async withLength<T>(observed: WalkObserved, askFor: (length: number) => Promise<T>) {
    const { length } = this;
    const { records: start, paging } = observed;
    const byNumber = start > 0 && paging === 'number';
    const request = { ...this.target, start, length };
    try {
      return await orShorter(this.#context, request, byNumber ? length : 1, askFor);
    } catch (error) {
      const behind = () => this.behind(start, true);
      const page = { ...request, length: observed.largestPage };
      if (byNumber && (await isBehindEnd(this.#context, page, error, behind))) return null;
      if (byNumber && length > 1 && refusesLength(error))
        throw await this.#learnedShorter(observed, error as Error);
      throw await this.#cappedBy(start, error, { start: start - skipOf(observed), length });
    }
  }

  /** Pages by number are of one length from the first on. */
  async #learnedShorter(observed: WalkObserved, error: Error): Promise<unknown> {
    const { records: start, largestPage } = observed;
    const told = `pages by number of ${largestPage} records fail: ${error.message}`;
    const length = Math.max(1, Math.floor(largestPage / 2));
    const refused = { ...this.target, start, length: largestPage };
    const isDeep = await isOfDepth(this.#context, refused, error);
    if (isDeep || (await isOfRecord(this.#context, refused, error, length)))
      return this.#cappedBy(start, error, refused, largestPage);
    if (await this.#isAnswered(start, largestPage)) return ofMoment(start);
    await this.#context.knowledge.learn('page_length', length, told);
    return new WalkError('learned', told, { cause: error });
  }

  /**
   * What an error behind so many records means; one that is not of the depth, or of the next record alone, is what it is.
   * @param next how many records come next; of a page that cannot be shorter all of it.
   */
  async #cappedBy(records: number, error: unknown, asked: Asked, next = 1): Promise<unknown> {
    const { start, length } = asked;
    if (start === 0 || !mayRefuseDepth(error)) return error;
    if (mayBeOfRecord(error) && (await this.#isAnswered(records + next, next))) return error;
    const least = refusesLength(error) ? Math.min(length, records + next - start) : length;
    return this.capped(records, (error as Error).message, { start, length: least });
  }

  /** Whether just this is answered. */
  async #isAnswered(start: number, length: number): Promise<boolean> {
    return (await pageOrNull(this.#context, { ...this.target, start, length })) !== null;
  }

  /** Whether paging has an end: record 0 is shown, and this start is refused twice more. Then the window is to be split. */
  async capped(start: number, reason: string, refused?: Asked): Promise<WalkError> {
    const told = `the source shows records from start 0, and none from ${start} on (a cap?): ${reason}`;
    const { came } = await this.ask(0, 1);
    // What is refused by turns is not refused twice in a row.
    const again = () => refused && this.#isAnswered(refused.start, refused.length);
    if ((await again()) || (await again())) return ofMoment(start);
    if (came > 0) await this.#context.knowledge.learn('offset_cap', start, told);
    return new WalkError('capped', told);
  }
}
