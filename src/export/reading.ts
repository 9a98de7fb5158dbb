/** Reading an answer: fetched, understood by its envelope, and asked for again where it is no page (FAULTS H13). */
import { EnvelopeError, WalkError } from '../errors.ts';
import type { Envelope, Page, PageMemory, PageRequest, Priority } from '../model.ts';
import type { PageFacts } from '../store/page-facts.ts';
import type { StreamMemory } from './memory.ts';

/** Fetches one page, when the limiter says that it may; see source/. */
export type FetchPage = (
  request: PageRequest,
  options: {
    readonly signal: AbortSignal;
    readonly priority?: Priority;
    readonly memory?: PageMemory;
  },
) => Promise<Page>;

/** What reading needs. */
export interface ReadingContext {
  readonly fetchPage: FetchPage;
  /** Of every request of this walk. */
  readonly priority: Priority;
  /** Finds the envelope in a first page; see source/envelope.ts. */
  readonly findEnvelope: (body: Buffer) => Envelope;
  readonly memory: StreamMemory;
  readonly signal: AbortSignal;
}

/** Facts of a body that has a list. */
export type Known<Facts extends PageFacts> = Facts & { readonly records: number };

/** An answer that is a page. */
export interface Reading<Facts extends PageFacts> {
  readonly facts: Known<Facts>;
  readonly page: Page;
  /** Requests whose answers were no pages. */
  readonly wasted: number;
}

/** A body that is no page may be a cut answer: it is asked for again this often. */
const BODY_ATTEMPTS = 3;

/**
 * Asks for a page and has `read` read it in Postgres.
 * @throws {EnvelopeError} where the answers are no pages; whatever fetching and `read` throw.
 */
export async function readPage<Facts extends PageFacts>(
  context: ReadingContext,
  request: PageRequest,
  read: (page: Page, envelope: Envelope) => Promise<Facts>,
): Promise<Reading<Facts>> {
  const { signal, priority } = context;
  for (let attempt = 1; ; attempt++) {
    try {
      const page = await context.fetchPage(request, { signal, priority });
      return { facts: await understood(context, page, read), page, wasted: attempt - 1 };
    } catch (error) {
      if (!(error instanceof EnvelopeError) || attempt === BODY_ATTEMPTS) throw error;
      context.memory.envelope = null;
    }
  }
}

/** The first pages of several windows come at a time; one of them shows where the others have their list, too. */
async function understood<Facts extends PageFacts>(
  context: ReadingContext,
  page: Page,
  read: (page: Page, envelope: Envelope) => Promise<Facts>,
): Promise<Known<Facts>> {
  const { memory, findEnvelope } = context;
  while (memory.envelope === null && memory.finding !== null) await memory.finding;
  if (memory.envelope !== null) return readAt(memory.envelope, context, page, read);
  const found = readAt(findEnvelope(page.body), context, page, read);
  const over = (): void => {
    memory.finding = null;
  };
  memory.finding = found.then(over, over);
  return found;
}

/** Has `page` read whose list is where `envelope` says. */
async function readAt<Facts extends PageFacts>(
  envelope: Envelope,
  { memory, findEnvelope }: ReadingContext,
  page: Page,
  read: (page: Page, envelope: Envelope) => Promise<Facts>,
): Promise<Known<Facts>> {
  const facts = await read(page, envelope);
  if (facts.complaint !== null) {
    // The source tells the error without the key, which the server may have said back (I10).
    findEnvelope(page.body);
    throw new EnvelopeError(`the answer at start ${page.start} tells of an error`);
  }
  if (facts.records === null) {
    const place = envelope.recordsPath.length === 0 ? 'the top' : envelope.recordsPath.join('.');
    throw new EnvelopeError(
      `the answer at start ${page.start} has ${facts.listType ?? 'nothing'} at ${place}, where the record list was`,
      { hint: 'If the API changed its answers, set records_path to where the list is now.' },
    );
  }
  if (!facts.fits)
    throw new WalkError(
      'shifted',
      `the answer at start ${page.start} has its record list elsewhere than the pages before`,
    );
  // An empty list is no evidence of where lists are.
  if (facts.records > 0) memory.envelope = envelope;
  return facts as Known<Facts>;
}
