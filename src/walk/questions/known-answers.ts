/**
 * Known answers: windows that were proven and held records, asked again. Nothing new is believed while they are not what
 * they were (a narrowed key, a re-installed source, a broken shard), and they tell whose fault a failing request is.
 */
import { WalkError } from '../../errors.ts';
import type { PageRequest, TimeSpan } from '../../model.ts';
import { addDays, dayAt } from '../../plan/days.ts';
import { noteFrame } from '../../store/evidence/contracts.ts';
import {
  type KnownAnswer,
  type KnownAnswerDays,
  noteShown,
  noteTrust,
  readKnownAnswers,
} from '../../store/evidence/proven.ts';
import type { Frame } from '../contract.ts';
import { contradicted, isOfRequest, mayRefuseDepth, orError, orNull } from '../failures.ts';
import { BLAME_MS, isAnswered } from './blame.ts';
import type { AskingContext } from './context.ts';
import { newestDay } from './elsewhere.ts';
import { askShorter, type Compared } from './questions.ts';
import { beginningOf, dayOf, NOT_YET, targetOf, textOf, type WalkTarget } from './span.ts';

/** A known answer is good for so long. */
const FRESH_MS = 10 * 60_000;

/** So many lengths in turn known answers are asked for with, at most: a cache must not answer for the source. */
const LENGTHS = 29;
/** Pages in which one record is looked for among others, and how long they are at least. */
const MOST_PAGES = 20;
const LEAST_PAGE = 10;

/** So often a day that is not yet is asked for whether it is empty in the same words. */
const SAID = 3;

const UNTOLD =
  'it may mean that there are no events, or an error; the day is walked again by itself until other answers tell';

/** What a window shows that was proven: records; where they are identified, those that were proven, or others alone. */
type Shown = 'nothing' | 'others' | 'known';

/** The known answers of a stream. */
export class KnownAnswers {
  readonly #context: AskingContext;
  /** Each pass begins with another length. */
  #asked: number;

  constructor(context: AskingContext) {
    this.#context = context;
    this.#asked = Math.floor(context.clock.random() * LENGTHS);
  }

  /**
   * Asks for the middle of two proven windows, where none was as ever in the last ten minutes, not by a look either. One that
   * shows its middle shows half of what it showed. Those that may have been forgotten say nothing where they show nothing at
   * all; both of them are asked, so that it is known how long the source keeps its days.
   * @param days of which days.
   * @returns whether one is as ever; false: there is none to ask.
   * @throws {WalkError} where neither does. What the API answers to both, where it answers the newest day neither.
   */
  async check(days: KnownAnswerDays = {}): Promise<boolean> {
    const { clock, database, knowledge } = this.#context;
    const { knownAt } = knowledge;
    // What was as ever a moment ago may be an older day.
    const any = days.after === undefined && knownAt !== null;
    if (any && clock.monotonic() - knownAt < FRESH_MS) return true;
    const answers = await readKnownAnswers(database, knowledge.streamId, days);
    const failures: unknown[] = [];
    let known = false;
    let strangers = false;
    const turns = answers.map((answer) => ({ answer, waits: answer === answers.at(-1) }));
    for (const { answer, waits } of turns) {
      const deadline = waits ? null : clock.timeout(BLAME_MS);
      const shows = await this.#showsMiddle(answer, deadline).catch((error: unknown) => {
        if (this.#context.signal.aborted) throw error;
        // One of them alone that cannot be had says nothing of the source, and is waited for when the other was asked.
        if (deadline?.aborted === true) turns.push({ answer, waits: true });
        else if (isOfRequest(error)) failures.push(error);
        else throw error;
        return 'nothing' as const;
      });
      strangers ||= shows === 'others';
      if (shows !== 'known') continue;
      known = true;
      knowledge.knownAt = clock.monotonic();
      if (answer.fresh) break;
      await noteShown(database, answer);
    }
    if (known) {
      await noteTrust(database, knowledge.streamId, true);
      return true;
    }
    const speak = strangers || answers.some(({ speaks }) => speaks === 'against all');
    if (!speak && !(await this.#showAny(answers))) return false;
    if (failures.length === answers.length) throw await this.#cannotBeHad(failures.at(-1));
    throw await this.#wrong(
      `${answers.map(({ day }) => day).join(' and ')} show less than half of the records that were proven there`,
    );
  }

  /** Called where a look finds a window as it was: that serves as a known answer, where the window is one. */
  async seen(windowId: number): Promise<void> {
    const { clock, database, knowledge } = this.#context;
    const answers = await readKnownAnswers(database, knowledge.streamId);
    if (!answers.some((answer) => answer.windowId === windowId)) return;
    knowledge.knownAt = clock.monotonic();
    await noteTrust(database, knowledge.streamId, true);
  }

  /**
   * Whether pages come now: known answers, whatever they show, or the newest day.
   * @param orNone where there is no known answer yet, nothing is asked for, and they do.
   */
  isThere(orNone: boolean): Promise<boolean> {
    this.#context.knowledge.knownAt = null;
    return this.check().then(
      async (asked) =>
        asked || orNone || isAnswered(this.#context, await newestDay(this.#context, null)),
      (error: unknown) => error instanceof WalkError,
    );
  }

  /**
   * Whether a window may be believed to be empty: a known answer with records, of another span, must be repeated now.
   * @throws {WalkError} where none is, or where the answer is of no known kind and no record was ever shown.
   */
  async believeNothing(frame: Frame, span: TimeSpan): Promise<void> {
    if ((await this.#firstShown(span)) === null) {
      if (frame.known || frame.plain) return;
      const { reason, example } = frame;
      throw new WalkError(
        'unknown-answer',
        reason?.message ?? `an answer without records, in words not seen before: ${example}`,
        { hint: reason?.hint ?? UNTOLD, cause: reason ?? undefined },
      );
    }
    if (frame.known) return;
    await this.#refuseOtherWords(frame);
    const { database, knowledge } = this.#context;
    await noteFrame(database, knowledge.streamId, frame.signature, frame.example);
  }

  /**
   * A day that is not yet is empty for certain: where it says so in words that are known, other words say something else, as those of
   * a gateway that blocks a request.
   */
  async #refuseOtherWords({ signature, example }: Frame): Promise<void> {
    const { clock, stream } = this.#context;
    const day = dayOf(addDays(dayAt(clock.now(), 'UTC'), NOT_YET));
    // A node or a cache may have words of its own, by chance or by what is asked for.
    for (let length = 1; length <= SAID; length += 1) {
      const asked = { ...targetOf(stream, day), start: 0, length };
      const other = (await orNull(askShorter(this.#context, asked)))?.facts.frame ?? null;
      if (other === null || other.signature === signature || !(other.known || other.plain)) return;
    }
    throw new WalkError(
      'unknown-answer',
      `an answer without records, in other words than those for a day to come: ${example}`,
      { hint: 'Does something on the way answer in place of the API, for this range alone?' },
    );
  }

  /**
   * The first of the known answers of other spans that shows records now; null: there is none to ask.
   * @throws {WalkError} where none shows any. What the API answers to the last one, where it answers the newest day neither.
   */
  async #firstShown(span: TimeSpan): Promise<PageRequest | null> {
    let first: PageRequest | null = null;
    let failure: Error | null = null;
    for await (const { speaks, ...request } of this.#others(span)) {
      const asked = { ...request, length: this.#lengthFor(request.start) };
      const found = await orError(this.#shows(asked), isOfRequest);
      if (found === 'known') return request;
      if (speaks === 'not') continue;
      first ??= request;
      failure = found instanceof Error ? found : null;
    }
    if (failure !== null) throw await this.#cannotBeHad(failure);
    if (first === null) return null;
    throw await this.#wrong(`this window is empty, and so is ${textOf(first)}, which held records`);
  }

  /** What it means that no known answer can be had: of the API, or of them alone where the newest day is answered, or its beginning. */
  async #cannotBeHad(failure: unknown): Promise<unknown> {
    const newest = await newestDay(this.#context, null);
    const isThere = (target: WalkTarget) => isAnswered(this.#context, target);
    return (await isThere(newest)) || (await isThere(beginningOf(newest)))
      ? this.#wrong(`known answers cannot be had any more: ${(failure as Error).message}`)
      : failure;
  }

  async #wrong(reason: string): Promise<WalkError> {
    const { database, knowledge } = this.#context;
    await noteTrust(database, knowledge.streamId, false);
    return contradicted(
      `no new window becomes complete: ${reason}`,
      'Does the key see less, or was the source re-installed? Only if it lost its events for good, or keeps them for so many days: daywalk accept.',
    );
  }

  /** Known answers of other spans than this one: the newest of this process, and only then those of the database. */
  async *#others({ from, to }: TimeSpan) {
    const { database, stream, knowledge } = this.#context;
    const isOther = (one: PageRequest) => one.from !== from || one.to !== to;
    const { lastGood } = knowledge;
    if (lastGood !== null && isOther(lastGood)) yield { ...lastGood, speaks: 'against all' };
    for (const answer of await readKnownAnswers(database, knowledge.streamId)) {
      const request = { ...targetOf(stream, answer), start: 0, length: 1 };
      if (isOther(request)) yield { ...request, speaks: answer.speaks };
    }
  }

  /** Another length each time, none that a source refuses or a walk asks with; pages by number are asked for singly. */
  #lengthFor(start: number): number {
    const { paging, largestAnswer } = this.#context.knowledge;
    if (start > 0 && paging === 'number') return 1;
    this.#asked += 1;
    return 1 + (this.#asked % Math.max(3, Math.min(LENGTHS, largestAnswer - 1)));
  }

  /**
   * Whether a window shows its middle; its first records where the source does not page as deep any more.
   * @param deadline null: it is waited for as long as for any answer.
   */
  async #showsMiddle(answer: KnownAnswer, deadline: AbortSignal | null): Promise<Shown> {
    const { knowledge } = this.#context;
    const signal = AbortSignal.any([this.#context.signal, ...(deadline ? [deadline] : [])]);
    const shows = (start: number) => this.#showsAt(answer, start, signal);
    const middle = Math.floor((answer.records - 1) / 2);
    if (middle === 0 || middle >= (knowledge.offsetCap ?? Number.POSITIVE_INFINITY))
      return shows(0);
    return (await orNull(shows(middle), mayRefuseDepth)) ?? shows(0);
  }

  /** Whether one of them shows its first record. */
  async #showAny(answers: readonly KnownAnswer[]): Promise<boolean> {
    for (const answer of answers)
      if ((await orNull(this.#showsAt(answer, 0), isOfRequest)) === 'known') return true;
    return false;
  }

  #showsAt(answer: KnownAnswer, start: number, signal?: AbortSignal): Promise<Shown> {
    const target = targetOf(this.#context.stream, answer);
    const request = { ...target, start, length: this.#lengthFor(start) };
    return this.#shows(request, signal, answer.walkId);
  }

  /** @param walkId the walk that proved what is to be shown; 0: any records will do. */
  async #shows(request: PageRequest, signal = this.#context.signal, walkId = 0): Promise<Shown> {
    const { givesEmptiesInVain, repeats, largestAnswer, paging } = this.#context.knowledge;
    const to = { walkId, identities: walkId > 0 };
    let shown: Shown = 'nothing';
    for (let time = 0; time < (givesEmptiesInVain ? repeats : 2); time += 1) {
      const context = { ...this.#context, signal };
      // Just the records asked for may be such as are left out of pages.
      const length = time === 0 || paging === 'number' ? 0 : largestAnswer;
      const asked = { ...request, length: Math.max(length, request.length) };
      const { came, strangers } = (await askShorter(context, asked, to)).facts;
      if (came === 0) continue;
      if (!strangers || (await this.#showsAnyOf(request, context, to))) return 'known';
      shown = 'others';
      if (!givesEmptiesInVain) break;
    }
    return shown;
  }

  /** Whether one of the records of a walk stands anywhere in a list, the first of which are others: those may have come later. */
  async #showsAnyOf(request: PageRequest, context: AskingContext, to: Compared): Promise<boolean> {
    const length = Math.max(LEAST_PAGE, context.knowledge.largestAnswer);
    for (let start = 0, page = 0; page < MOST_PAGES; page += 1) {
      const asked = { ...request, start, length };
      const { came, strangers } = (await askShorter(context, asked, to)).facts;
      if (came === 0) return false;
      if (!strangers) return true;
      start += context.knowledge.paging === 'number' ? length : came;
    }
    return false;
  }
}
