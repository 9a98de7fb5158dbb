/** One walk: page after page from the checkpoint until a step says end or fault (DESIGN 5.1; I1, I5). */
import { EnvelopeError, LeaseLostError, WalkError } from '../errors.ts';
import type { Envelope, Page, PageRequest, Proof } from '../model.ts';
import type { Database } from '../store/database.ts';
import type { Lease } from '../store/leases.ts';
import {
  compareProbe,
  listPagesSeen,
  type PageFacts,
  type ProbeFacts,
  storePage,
} from '../store/pages.ts';
import { BodyRefusedError } from '../store/sqlstate.ts';
import type { OpenWalk } from '../store/walks.ts';
import {
  afterConfirm,
  afterFar,
  afterPage,
  afterProbe,
  nothingSeen,
  type Step,
  type WalkSeen,
  withPage,
} from './proof.ts';

/** What is known of a stream while the process lives, so that it is found out once. */
export interface StreamMemory {
  /** Where list and total are; null until a page with records has shown it. */
  envelope: Envelope | null;
  /** A page has carried a total larger than itself. */
  totalsMeanWindow: boolean;
}

/** What a walk needs; the wiring fills it. */
export interface WalkContext {
  readonly database: Database;
  /** Fetches one page; see source/. */
  readonly fetchPage: (request: PageRequest, options: { signal: AbortSignal }) => Promise<Page>;
  /** Finds the envelope in a first page; see source/envelope.ts. */
  readonly findEnvelope: (body: Buffer) => Envelope;
  readonly memory: StreamMemory;
  readonly leaseTtlMs: number;
  readonly signal: AbortSignal;
  /** Told of every page that was stored. */
  readonly onPage: (page: { records: number; bytes: number; total: number | null }) => void;
}

/** A walk at its proven end. */
export interface WalkEnd {
  readonly proof: Proof;
  readonly nextStart: number;
  readonly pages: number;
  /** Requests that stored no page. */
  readonly requests: number;
}

/** Far beyond any list, yet within 32 bits, so that no server stumbles over the number itself. */
const FAR = 2_000_000_000;
/** A body that is no page may be a cut answer: it is asked for again this often. */
const BODY_ATTEMPTS = 3;

/** Walks the window from where the walk stands to its proven end. */
export class Walk {
  readonly #context: WalkContext;
  readonly #lease: Lease;
  readonly #window: Omit<PageRequest, 'start' | 'length'>;
  readonly #walk: OpenWalk;
  readonly #digests = new Set<string>();
  #seen: WalkSeen;
  #requests = 0;

  constructor(
    context: WalkContext,
    lease: Lease,
    window: Omit<PageRequest, 'start' | 'length'>,
    walk: OpenWalk,
  ) {
    this.#context = context;
    this.#lease = lease;
    this.#window = window;
    this.#walk = walk;
    this.#seen = nothingSeen(walk.pageLength, context.memory.totalsMeanWindow);
  }

  /** Requests that stored no page, so far; they are noted with the walk when it ends. */
  get requests(): number {
    return this.#requests;
  }

  /**
   * @throws {WalkError} where the list shifted, cannot be paged, or ends where a proof is impossible.
   * @throws {EnvelopeError} where an answer is not a page.
   * @throws {LeaseLostError} where another worker holds the window; and whatever fetching and storing throw.
   */
  async toEnd(): Promise<WalkEnd> {
    let step = await this.#resume();
    for (;;) {
      this.#context.signal.throwIfAborted();
      if (step.kind === 'end')
        return {
          proof: step.proof,
          nextStart: this.#seen.records,
          pages: this.#seen.pages,
          requests: this.#requests,
        };
      if (step.kind === 'fault') throw new WalkError(step.fault, step.reason);
      step = await this.#take(step);
    }
  }

  /** Reads what the stored pages showed; the next step follows from it as if this worker had walked them. */
  async #resume(): Promise<Step> {
    if (this.#walk.pages === 0) return { kind: 'page' };
    for (const page of await listPagesSeen(this.#context.database, this.#walk.walkId))
      this.#note(page);
    if (this.#seen.records !== this.#walk.nextStart || this.#seen.pages !== this.#walk.pages)
      throw new LeaseLostError(`walk ${this.#walk.walkId} moved while it was read`);
    return afterPage(this.#seen);
  }

  #note(page: {
    records: number;
    total: number | null;
    relation: string | null;
    digest: string;
  }): void {
    this.#seen = withPage(this.#seen, { ...page, repeats: this.#digests.has(page.digest) });
    this.#digests.add(page.digest);
    if (this.#seen.totalsMeanWindow) this.#context.memory.totalsMeanWindow = true;
  }

  async #take(step: Exclude<Step, { kind: 'end' | 'fault' }>): Promise<Step> {
    switch (step.kind) {
      case 'page':
        return this.#page();
      case 'probe':
        return this.#markMore(afterProbe(this.#seen, await this.#ask(this.#seen.records - 1)));
      case 'confirm':
        return this.#markMore(afterConfirm(this.#seen, await this.#ask(this.#seen.records)));
      case 'far': {
        const answer = await this.#ask(FAR, this.#walk.pageLength);
        return afterFar(this.#seen, answer.records > 0 && this.#digests.has(answer.digest));
      }
    }
  }

  #markMore(step: Step): Step {
    if (step.kind === 'page') this.#seen = { ...this.#seen, moreAt: this.#seen.records };
    return step;
  }

  async #page(): Promise<Step> {
    const { database, leaseTtlMs, signal, onPage } = this.#context;
    const checkpoint = {
      walkId: this.#walk.walkId,
      nextStart: this.#seen.records,
      pages: this.#seen.pages,
    };
    const { facts, page } = await this.#readable(
      this.#seen.records,
      this.#walk.pageLength,
      (page, envelope) =>
        storePage(database, this.#lease, leaseTtlMs, checkpoint, page, envelope, signal),
    );
    this.#note(facts);
    onPage({ records: facts.records, bytes: page.body.length, total: facts.total });
    return afterPage(this.#seen);
  }

  /** A request whose answer is looked at and not stored: a probe. */
  async #ask(start: number, length = 2): Promise<Known<ProbeFacts> & { sha256: string }> {
    const { facts, page } = await this.#readable(start, length, (page, envelope) =>
      compareProbe(this.#context.database, this.#walk.walkId, page, envelope),
    );
    this.#requests += page.requests;
    return { ...facts, sha256: page.sha256.toString('hex') };
  }

  /** Fetches a page and reads it in Postgres; what is not a page is fetched again, a few times (FAULTS H13). */
  async #readable<Facts extends PageFacts>(
    start: number,
    length: number,
    read: (page: Page, envelope: Envelope) => Promise<Facts>,
  ): Promise<{ facts: Known<Facts>; page: Page }> {
    for (let attempt = 1; ; attempt++) {
      try {
        const page = await this.#context.fetchPage(
          { ...this.#window, start, length },
          { signal: this.#context.signal },
        );
        return { facts: await this.#readOnce(page, read), page };
      } catch (error) {
        if (!(error instanceof EnvelopeError) || attempt === BODY_ATTEMPTS) throw error;
        this.#context.memory.envelope = null;
        this.#requests += 1;
      }
    }
  }

  async #readOnce<Facts extends PageFacts>(
    page: Page,
    read: (page: Page, envelope: Envelope) => Promise<Facts>,
  ): Promise<Known<Facts>> {
    const { memory, findEnvelope } = this.#context;
    const envelope = memory.envelope ?? findEnvelope(page.body);
    let facts: Facts;
    try {
      facts = await read(page, envelope);
    } catch (error) {
      if (error instanceof BodyRefusedError) throw refusedBody(page, error);
      throw error;
    }
    if (facts.complaint !== null)
      throw new EnvelopeError(`the answer at start ${page.start} is an error: ${facts.complaint}`);
    if (facts.records === null)
      throw new EnvelopeError(
        `the answer at start ${page.start} has ${facts.listType ?? 'nothing'} at ${pathText(envelope.recordsPath)}, where the record list was`,
        { hint: 'If the API changed its answers, set records_path to where the list is now.' },
      );
    // An empty list is no evidence of where lists are.
    if (facts.records > 0) memory.envelope = envelope;
    return facts as Known<Facts>;
  }
}

/** Facts of a body that has a list. */
type Known<Facts extends PageFacts> = Facts & { readonly records: number };

function pathText(path: readonly string[]): string {
  return path.length === 0 ? 'the top' : path.join('.');
}

/** Invalid JSON is the answer's fault; valid JSON that `jsonb` cannot hold is told as such. */
function refusedBody(page: Page, error: BodyRefusedError): Error {
  try {
    JSON.parse(page.body.toString('utf8'));
  } catch {
    return new EnvelopeError(`the answer at start ${page.start} is not complete JSON`, {
      cause: error,
      hint: 'The answer was cut on its way, or is not from the API.',
    });
  }
  return error;
}
