/** What is known of a stream's source: learned facts, which outlive the process and expire, and what this process has seen. */
import type { PageRequest } from '../../model.ts';
import type { Database } from '../../store/database.ts';
import {
  askCutsAgain,
  type Fact,
  forget,
  type LearnedFact,
  learn,
  readHiddenElsewhere,
  readLearned,
} from '../../store/evidence/learned.ts';
import { OneAtATime } from '../concurrency.ts';
import { type Paging, Trust } from '../rules/observed.ts';
import { LEAST_CAP, type Learned } from '../rules/verdict.ts';
import { Tries } from './tries.ts';

/** Seconds that a request must reach beyond a cut to show what lies on either side; 'day': the time of day is ignored. */
export type Reach = number | 'day';

/**
 * On which sides of a midnight windows of one date hide what ranges across it show; 'day': of the day before it everything; 'not before',
 * 'not after': nothing on that side, and of the other one it is not known.
 */
export type HiddenByDate =
  | 'nothing'
  | 'not before'
  | 'not after'
  | 'before'
  | 'after'
  | 'both'
  | 'day';

/** As long as the reach is not learned: two minutes, which covers a source that rounds or pads by one. */
export const UNLEARNED_REACH = 120;

/** Chance below which something that was not seen is believed not to be there. */
export const CHANCE = 0.001;
/** So many requests that all differ are enough: there are hardly more lengths to ask with. */
const MOST_DIFFERENT = 40;
/** Of answers that lack something, where one question is answered in different ways: a window may be on one of two replicas only. */
const UNKNOWN_SHARE = 0.5;

/** Knowledge of one stream. */
export class Knowledge {
  readonly streamId: number;
  /** How far ahead pages may be asked for. */
  readonly trust = new Trust();
  /** What is tried a few times in a run. */
  readonly tries = new Tries();
  /** Something failed, and no other question was answered, nor was any since. */
  isSilent = false;
  readonly askingElsewhere = new OneAtATime();
  /** Spans that have shown records to a question, as texts: one that shows nothing then is asked more often. */
  readonly spansShown = new Set<string>();
  /** When a known answer was last as ever, by the monotonic clock; milliseconds. */
  knownAt: number | null = null;
  /** Whether totals count the records of the span that is asked for; null: not looked at yet. */
  totalsCount: boolean | null = null;
  /** The window of the fewest records at which a total said that there are more, so that it was split; null: none was. */
  capMet: { readonly records: number; readonly windowId: number } | null = null;
  /** How far requests must reach, and what dates hide, is learned by one window; the others wait. */
  readonly reachLearning = new OneAtATime();
  /** The first window that tells a total is proven without it, and calibrates the totals of the others. */
  readonly firstProof = new OneAtATime();
  /** The largest answer, of this process and to the newest walks before. */
  largestAnswer = 0;
  /** The longest list, likewise: a cap on results lies no lower. */
  longestList = 0;
  /** The newest request that was answered with records: asked again, it must be again. */
  lastGood: PageRequest | null = null;
  /** What the windows proven so far hold, and for how long: what to expect of others. */
  #proven = { records: 0, seconds: 0 };
  /** Answers, and those of them that were empty where records are. */
  #answers = { all: 0, empty: 0 };
  readonly #database: Database;
  readonly #facts: Map<Fact, unknown>;
  readonly #learned = new Set<Fact>();

  constructor(database: Database, streamId: number, facts: readonly LearnedFact[]) {
    this.#database = database;
    this.streamId = streamId;
    this.#facts = new Map(facts.map(({ fact, value }) => [fact, value]));
  }

  /** As many records may be a cap, which would lie no lower than what was shown and proven. */
  get leastCap(): number {
    return Math.max(LEAST_CAP, this.longestList, this.learned.provenSize);
  }

  /** Notes an answer to a walk, and how long its list is up to there. */
  listed(answer: number, list: number): void {
    this.largestAnswer = Math.max(this.largestAnswer, answer);
    this.longestList = Math.max(this.longestList, list);
  }

  /** What a verdict needs. */
  get learned(): Learned {
    // Where the time of day is ignored, there are no halves to ask for.
    const cutOtherwise = this.#facts.get('cut_otherwise') === true && this.reach !== 'day';
    return {
      calibrated: cutOtherwise ? 0 : (this.#number('calibrated') ?? 0),
      lowerBoundFrom: this.#number('lower_bound'),
      provenSize: cutOtherwise ? 0 : (this.#number('proven_size') ?? 0),
      cutOtherwise,
    };
  }

  /** How deep paging goes; null: not known. */
  get offsetCap(): number | null {
    return this.#number('offset_cap');
  }

  /** Null: not learned yet. */
  get paging(): Paging | null {
    return (this.#facts.get('paging') as Paging | undefined) ?? null;
  }

  /** Null: not learned yet. */
  get reach(): Reach | null {
    return (this.#facts.get('reach') as Reach | undefined) ?? null;
  }

  /** Seconds that requests reach beyond a cut, as far as is known. */
  get reachSeconds(): number {
    return typeof this.reach === 'number' ? this.reach : UNLEARNED_REACH;
  }

  /** Null: not learned yet. */
  get hiddenByDate(): HiddenByDate | null {
    return (this.#facts.get('hidden_by_date') as HiddenByDate | undefined) ?? null;
  }

  /** Whether dates are known to hide what lies on this side of a midnight. */
  isHiddenByDate(side: 'before' | 'after'): boolean {
    const hidden = this.hiddenByDate;
    return hidden === side || hidden === 'both' || (hidden === 'day' && side === 'before');
  }

  /** Places in a record that are not the record, as JSON pointers. */
  get ignored(): readonly string[] {
    return (this.#facts.get('ignored') as readonly string[] | undefined) ?? [];
  }

  /** One question is answered in different ways: windows are proven by unions. */
  get restless(): boolean {
    return this.#facts.get('restless') === true;
  }

  /** What holds too much is answered with nothing. */
  get hidesMuch(): boolean {
    return this.#facts.get('hides_much') === true;
  }

  /** There are records so large that a page has no room for the next one. */
  get hasLargeRecords(): boolean {
    return this.#facts.get('large_records') === true;
  }

  /** The largest page length that works, as far as is known, and not more than `wanted`. */
  pageLength(wanted: number): number {
    return Math.min(wanted, this.#number('page_length') ?? wanted);
  }

  /** How often an answer without records must come in a row to be believed. */
  get repeats(): number {
    return this.repeatsWhere(false);
  }

  /** The same where a record has stood, or another question was answered with one. */
  repeatsWhere(wasShown: boolean): number {
    const share = Math.max(this.#emptyShare ?? 0, wasShown || this.restless ? UNKNOWN_SHARE : 0);
    if (share === 0) return 2;
    return Math.ceil(Math.log(CHANCE) / Math.log(share));
  }

  /** It was caught answering with nothing where there is something. */
  get givesEmptiesInVain(): boolean {
    return this.#emptyShare !== null;
  }

  /** Whether empty answers to so many different requests are no chance: one that is asked again may come from a cache. */
  isNoChance(requests: number): boolean {
    return !this.givesEmptiesInVain || requests >= Math.min(MOST_DIFFERENT, this.repeats);
  }

  /** Notes a request and how many records it was answered with. */
  shown(request: PageRequest, came: number): void {
    this.isSilent = false;
    if (came > 0 && request.start === 0) this.lastGood = request;
  }

  /** Notes an answer with records. */
  answered(): void {
    this.#answers.all += 1;
  }

  /** The source was caught answering with nothing where there is something. */
  async caughtEmpty(evidence: string): Promise<void> {
    this.answered();
    this.#answers.empty += 1;
    await this.learn('empties', this.#emptyShare, evidence);
  }

  get #emptyShare(): number | null {
    const { all, empty } = this.#answers;
    if (empty === 0) return this.#number('empties');
    return Math.min(0.9, Math.max(0.05, (empty + 1) / (all + 2)));
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

  /**
   * Keeps a fact with its evidence; one that is no news is kept from now on, once a run.
   * @param kept it does not expire: where it is wrong by now, more is asked for than need be.
   */
  async learn(fact: Fact, value: unknown, evidence: string, kept = false): Promise<void> {
    const isNews = JSON.stringify(this.#facts.get(fact)) !== JSON.stringify(value);
    if (!isNews && this.#learned.has(fact)) return;
    this.#learned.add(fact);
    this.#facts.set(fact, value);
    this.#facts.set(fact, await learn(this.#database, this.streamId, fact, value, evidence, kept));
  }

  /** Adds places in a record that are not the record. @returns the evidence; null: none of them is news. */
  async ignore(places: readonly string[], evidence: string): Promise<string | null> {
    // A record that is no object is itself what differs.
    const within = places.filter((place) => place !== '');
    const all = [...new Set([...this.ignored, ...within])].sort();
    if (all.length === this.ignored.length) return null;
    await this.learn('ignored', all, evidence);
    return evidence;
  }

  /** Totals from this one on may be too low. @param beside what shows that there are more than a span told. */
  async learnLowerBound(span: string, total: number, beside: string): Promise<void> {
    const { lowerBoundFrom } = this.learned;
    if (lowerBoundFrom === null || total <= lowerBoundFrom)
      await this.learn('lower_bound', total, `${span} told ${total}, and ${beside}`);
  }

  /** Forgets a fact that is in doubt; where it holds it is learned again. */
  async doubt(fact: Fact): Promise<boolean> {
    if (!this.#facts.delete(fact)) return false;
    await forget(this.#database, this.streamId, fact);
    return true;
  }

  get #hidesNothing(): boolean {
    return !this.isHiddenByDate('before') && !this.isHiddenByDate('after');
  }

  /** Forgets that dates hide nothing on a side of a midnight, which the next midnight shows anew. */
  async doubtNothingHidden(): Promise<void> {
    if (this.#hidesNothing) await this.doubt('hidden_by_date');
  }

  /**
   * Takes over that cuts must reach farther, as other processes have learned since: a run may last for days, and each day is soon looked at for
   * the last time. What dates hide may be known of another stream: a quiet one has few midnights that tell.
   * @param newest what is known now; absent: it is read.
   */
  async heedReach(newest?: readonly LearnedFact[]): Promise<void> {
    const facts = newest ?? (await readLearned(this.#database, [this.streamId]));
    const known = (fact: Fact) => facts.find((one) => one.fact === fact);
    const [told, reach] = [known('hidden_by_date'), Number(known('reach')?.value)];
    // What is not kept this process may doubt just now.
    if (told?.kept && this.#hidesNothing) this.#facts.set('hidden_by_date', told.value);
    const isKnown = told?.kept || told?.value === 'nothing' || this.hiddenByDate === 'nothing';
    const hidden = isKnown ? null : await readHiddenElsewhere(this.#database, this.streamId);
    if (hidden !== null) {
      // First: where a process is killed in between, it is taken over again.
      await askCutsAgain(this.#database, this.streamId);
      await this.learn('hidden_by_date', hidden.value, hidden.evidence, true);
    }
    if (this.reach !== 'day' && reach > this.reachSeconds) this.#facts.set('reach', reach);
  }

  #number(fact: Fact): number | null {
    const value = this.#facts.get(fact);
    return typeof value === 'number' ? value : null;
  }
}
