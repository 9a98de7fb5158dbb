/** Pages of one walk that are fetched while those before them are stored, and thrown away when the list turns out otherwise. */
import { RefusedError } from '../../errors.ts';
import type { Page, PageRequest, Priority } from '../../model.ts';
import type { FetchPage } from '../answers.ts';
import type { WalkSeen } from '../seen.ts';
import { following, type Trust } from './following.ts';
import type { Eager, Room } from './room.ts';

/** What fetching ahead needs. */
export interface AheadContext {
  readonly fetchPage: FetchPage;
  /** Of pages that the walk needs now; pages ahead stand behind them until their turn has come. */
  readonly priority: Priority;
  readonly room: Room;
  readonly trust: Trust;
  readonly signal: AbortSignal;
}

/** A page that is on its way or has come. */
class Flight {
  readonly request: PageRequest;
  readonly page: Promise<Page>;
  readonly priority: Priority;
  /** What it holds of the room. */
  bytes: number;
  /** Requests that it took, as far as is known. */
  requests = 1;
  /** Its error is believed only when the page's turn comes: then it is asked for again. */
  failed = false;
  /** Its turn has come. */
  joined = false;

  constructor(
    request: PageRequest,
    priority: Priority,
    bytes: number,
    ask: (flight: Flight) => Promise<Page>,
  ) {
    this.request = request;
    this.priority = { ...priority, ahead: true };
    this.bytes = bytes;
    this.page = ask(this);
    // Nobody may be waiting for it yet, or ever.
    this.page.catch(() => {});
  }
}

/**
 * The pages after the one that a walk needs now. Pages leave in the order of their starts, each as if it had been asked
 * for when its turn came. How many there may be, the room says.
 */
export class Ahead implements Eager {
  readonly #context: AheadContext;
  readonly #queue: Flight[] = [];
  /** Not asked for yet. */
  #wanted: PageRequest[] = [];
  #certain = false;
  #fullRun = 0;
  #largestBody = 0;
  #wasted = 0;
  #stop = new AbortController();

  constructor(context: AheadContext) {
    this.#context = context;
    context.signal.addEventListener('abort', this.#onAbort);
    if (context.signal.aborted) this.#onAbort();
    context.room.join(this);
  }

  /** Requests whose answers were thrown away. */
  get wasted(): number {
    return this.#wasted;
  }

  get ahead(): number {
    return this.#queue.length;
  }

  get wants(): number | null {
    // Nothing goes behind a failure, and the room cannot be measured before a page has come.
    const held = this.#queue.some((flight) => flight.failed) || this.#largestBody === 0;
    return held || this.#wanted.length === 0 || this.#stop.signal.aborted
      ? null
      : this.#largestBody;
  }

  /**
   * Says which page the walk needs next; what is ahead and does not follow from it is thrown away.
   * @param lengthAt how many records the page from a later start will be asked for.
   */
  follow(seen: WalkSeen, next: PageRequest, lengthAt = (_start: number) => next.length): void {
    const { room, trust } = this.#context;
    const most = { guessed: room.mostPages, certain: Math.min(room.mostPages, trust.pages) };
    const { starts, certain } = following(seen, next.length, this.#fullRun, most);
    const plan = [next, ...starts.map((start) => ({ ...next, start, length: lengthAt(start) }))];
    const other = ({ request }: Flight, index: number) =>
      plan[index] !== undefined && !same(request, plan[index]);
    if (this.#queue.some(other)) {
      this.drop();
      this.follow(seen, next, lengthAt);
      return;
    }
    this.#certain = certain;
    this.#wanted = plan.slice(Math.max(1, this.#queue.length));
  }

  /** The page: the one that was fetched ahead, or a fresh one. */
  async fetch(request: PageRequest): Promise<Page> {
    this.#stop.signal.throwIfAborted();
    const page = this.#take(request);
    this.#context.room.offer();
    const { body } = await page;
    this.#largestBody = Math.max(this.#largestBody, body.length);
    return page;
  }

  /** Tells of a page that was stored. */
  stored(before: WalkSeen, after: WalkSeen): void {
    const full = after.lastCame > 0 && after.lastCame >= before.largestPage;
    this.#fullRun = full ? this.#fullRun + 1 : 0;
    if (full && before.pages > 0) this.#context.trust.confirmed();
  }

  begin(): void {
    const request = this.#wanted.shift();
    if (request === undefined) return;
    const { room, fetchPage, priority } = this.#context;
    const { signal } = this.#stop;
    room.hold(this.#largestBody);
    // What a request came to is known before its place is given to another one.
    const ask = (flight: Flight): Promise<Page> =>
      room.request(() =>
        fetchPage(request, { signal, priority: flight.priority }).then(
          (page) => this.#came(flight, page),
          (error: unknown) => this.#failed(flight, error, signal),
        ),
      );
    this.#queue.push(new Flight(request, priority, this.#largestBody, ask));
  }

  /** Throws away what is ahead. */
  drop(): void {
    if (this.#certain && this.#queue.length > 0) this.#context.trust.surprised();
    this.#empty(undefined);
    if (!this.#context.signal.aborted && !(this.#stop.signal.reason instanceof RefusedError))
      this.#stop = new AbortController();
  }

  /** Throws away what is ahead, for good. */
  close(): void {
    this.#context.signal.removeEventListener('abort', this.#onAbort);
    this.#context.room.leave(this);
    this.#empty(undefined);
  }

  readonly #onAbort = (): void => this.#empty(this.#context.signal.reason);

  #empty(reason: unknown): void {
    this.#wanted = [];
    for (const flight of this.#queue.splice(0)) {
      this.#wasted += flight.requests;
      this.#context.room.hold(-flight.bytes);
    }
    this.#stop.abort(reason);
  }

  #came(flight: Flight, page: Page): Page {
    if (this.#queue.includes(flight)) {
      this.#context.room.hold(page.body.length - flight.bytes);
      flight.bytes = page.body.length;
      flight.requests = page.requests;
    }
    return page;
  }

  #failed(flight: Flight, error: unknown, { aborted }: AbortSignal): never {
    flight.failed = true;
    // A refused key stops everything at once: a lock-out may follow.
    if (!aborted && !flight.joined && error instanceof RefusedError) this.#stop.abort(error);
    throw error;
  }

  #take(request: PageRequest): Promise<Page> {
    const [flight] = this.#queue;
    if (flight !== undefined && same(flight.request, request)) {
      this.#queue.shift();
      this.#context.room.hold(-flight.bytes);
      flight.joined = true;
      flight.priority.ahead = false;
      if (!flight.failed) return flight.page;
      this.#wasted += flight.requests;
    }
    const { room, fetchPage, priority } = this.#context;
    const { signal } = this.#stop;
    return room.request(() => fetchPage(request, { signal, priority }));
  }
}

const same = (one: PageRequest, other: PageRequest): boolean =>
  one.start === other.start && one.length === other.length;
