/** Pages that are fetched while those before them are stored, and thrown away when the list turns out otherwise; and how many all walks may have so. */
import { RefusedError } from '../errors.ts';
import type { Page, PageRequest, Priority } from '../model.ts';
import type { AnswerContext } from './answers.ts';
import { following, type Trust, type WalkObserved } from './rules/observed.ts';

/** How much may be ahead. */
export interface PrefetchLimits {
  /** Pages, on their way or waiting to be stored: some arrive while others wait, and more would only wait longer. */
  readonly pages: number;
  /** Bytes of these. */
  readonly bytes: number;
}

/**
 * What all walks of a process may have ahead together. Pages ahead take what the requests leave that walks need now: those always pass, and go
 * first in the limiter's line.
 */
export class PrefetchBudget {
  readonly limits: PrefetchLimits;
  /** Walks that would fetch ahead. */
  readonly walks = new Set<Prefetch>();
  /** Of pages ahead, as far as their sizes are known. */
  bytes = 0;

  constructor(limits: PrefetchLimits) {
    this.limits = limits;
  }

  /** Lets walks fetch ahead while there is room. */
  offer(): void {
    for (let next = this.#next(); next !== null; next = this.#next()) next.begin();
  }

  /** Who has the fewest pages ahead goes first. */
  #next(): Prefetch | null {
    let next: Prefetch | null = null;
    let pages = 0;
    for (const walk of this.walks) {
      const { wants } = walk;
      pages += walk.ahead;
      if (wants === null || this.bytes + wants > this.limits.bytes) continue;
      if (next === null || walk.ahead < next.ahead) next = walk;
    }
    return pages < this.limits.pages ? next : null;
  }
}

/** What fetching ahead needs. */
export interface PrefetchContext extends Pick<AnswerContext, 'fetchPage' | 'priority' | 'signal'> {
  readonly budget: PrefetchBudget;
  readonly trust: Trust;
}

/** A page that is on its way or has come. */
interface PendingPage {
  readonly request: PageRequest;
  readonly page: Promise<Page>;
  readonly priority: Priority;
  /** What it holds of the budget. */
  bytes: number;
  /** Why it failed; null: it did not. When its turn comes it is asked for again, but for a refused key: a lock-out may follow. */
  error: unknown;
}

/**
 * The pages after the one that a walk needs now. Pages leave in the order of their starts, each as if it had been asked
 * for when its turn came. How many there may be, the budget says.
 */
export class Prefetch {
  readonly #context: PrefetchContext;
  readonly #queue: PendingPage[] = [];
  /** Not asked for yet. */
  #wanted: PageRequest[] = [];
  #certain = false;
  #fullRun = 0;
  #largestBody = 0;
  #stop = new AbortController();

  constructor(context: PrefetchContext) {
    this.#context = context;
    context.signal.addEventListener('abort', this.#onAbort);
    context.budget.walks.add(this);
  }

  /** How many pages it has ahead. */
  get ahead(): number {
    return this.#queue.length;
  }

  /** Bytes that its next page is expected to have; null: it wants none now. */
  get wants(): number | null {
    // Nothing goes behind a failure, and its size is not known before a page has come.
    const held = this.#stop.signal.aborted || this.#queue.some(({ error }) => error !== null);
    const none = this.#wanted.length === 0 || this.#largestBody === 0;
    return held || none ? null : this.#largestBody;
  }

  /**
   * Says which page the walk needs next; what is ahead and does not follow from it is thrown away.
   * @param lengthAt how many records the page from a later start will be asked for.
   */
  follow(observed: WalkObserved, next: PageRequest, lengthAt: (start: number) => number): void {
    const { budget, trust } = this.#context;
    const { pages } = budget.limits;
    const most = { guessed: pages, certain: Math.min(pages, trust.pages) };
    const { starts, certain } = following(observed, next.length, this.#fullRun, most);
    const plan = [next, ...starts.map((start) => ({ ...next, start, length: lengthAt(start) }))];
    const other = ({ request }: PendingPage, index: number) =>
      plan[index] !== undefined && !same(request, plan[index]);
    if (this.#queue.some(other)) {
      this.drop();
      this.follow(observed, next, lengthAt);
      return;
    }
    this.#certain = certain;
    this.#wanted = plan.slice(Math.max(1, this.#queue.length));
  }

  /** The page: the one that was fetched ahead, or a fresh one. */
  async fetch(request: PageRequest): Promise<Page> {
    this.#stop.signal.throwIfAborted();
    const page = this.#take(request);
    this.#context.budget.offer();
    const { body } = await page;
    this.#largestBody = Math.max(this.#largestBody, body.length);
    return page;
  }

  /** Tells of a page that was stored. */
  stored(before: WalkObserved, after: WalkObserved): void {
    const full = after.lastCame > 0 && after.lastCame >= before.largestPage;
    this.#fullRun = full ? this.#fullRun + 1 : 0;
    if (full && before.pages > 0) this.#context.trust.confirmed();
  }

  /** Begins one request, at once; called only where it wants one. */
  begin(): void {
    const request = this.#wanted.shift() as PageRequest;
    const { budget, fetchPage } = this.#context;
    const { signal } = this.#stop;
    const bytes = this.#largestBody;
    budget.bytes += bytes;
    // Pages ahead stand behind those that the walk needs now, until their turn has come.
    const priority = { ...this.#context.priority, ahead: true };
    const page = fetchPage(request, { signal, priority }).then(
      (came) => this.#came(pending, came),
      (error: unknown) => {
        pending.error = error;
        throw error;
      },
    );
    const pending: PendingPage = { request, page, priority, bytes, error: null };
    // Nobody may be waiting for it yet, or ever.
    page.catch(() => {});
    this.#queue.push(pending);
  }

  /** Throws away what is ahead. */
  drop(): void {
    if (this.#certain && this.#queue.length > 0) this.#context.trust.surprised();
    this.#empty(undefined);
    if (!this.#context.signal.aborted) this.#stop = new AbortController();
  }

  /** Throws away what is ahead, for good. */
  close(): void {
    this.#context.signal.removeEventListener('abort', this.#onAbort);
    this.#context.budget.walks.delete(this);
    this.#empty(undefined);
    this.#context.budget.offer();
  }

  readonly #onAbort = (): void => this.#empty(this.#context.signal.reason);

  #empty(reason: unknown): void {
    this.#wanted = [];
    for (const { bytes } of this.#queue.splice(0)) this.#context.budget.bytes -= bytes;
    this.#stop.abort(reason);
  }

  #came(pending: PendingPage, page: Page): Page {
    if (this.#queue.includes(pending)) {
      this.#context.budget.bytes += page.body.length - pending.bytes;
      pending.bytes = page.body.length;
    }
    return page;
  }

  #take(request: PageRequest): Promise<Page> {
    const [pending] = this.#queue;
    if (pending !== undefined && same(pending.request, request)) {
      this.#queue.shift();
      this.#context.budget.bytes -= pending.bytes;
      pending.priority.ahead = false;
      if (pending.error === null || pending.error instanceof RefusedError) return pending.page;
    }
    const { fetchPage, priority } = this.#context;
    return fetchPage(request, { signal: this.#stop.signal, priority });
  }
}

const same = (one: PageRequest, other: PageRequest): boolean =>
  one.start === other.start && one.length === other.length;
