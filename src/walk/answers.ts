/** Asking: a page is fetched, judged by what its frame says, and asked for again where it is no page. */
import { EnvelopeError, FaultError } from '../errors.ts';
import type { Page, PageRequest, Priority } from '../model.ts';
import type { Source } from '../source/source.ts';
import type { PageFacts } from '../store/bodies/page-facts.ts';
import type { Facts, Read, StreamContract } from './contract.ts';

/** Fetches one page, when the limiter says that it may. */
export type FetchPage = Source['fetchPage'];

/** What asking needs. */
export interface AnswerContext {
  readonly fetchPage: FetchPage;
  readonly priority: Priority;
  readonly signal: AbortSignal;
  readonly contract: StreamContract;
  /** Whether another question is answered, which tells whose fault a failure is; absent where that is asked. */
  readonly answersElsewhere?: (failing: PageRequest) => Promise<boolean>;
}

/** An answer that is a page. */
export interface PageAnswer<R extends PageFacts> {
  readonly facts: Facts<R>;
  readonly page: Page;
}

/** An answer that is no page may be a moment's failure: it is asked for again this often. */
const ATTEMPTS = 3;

/**
 * Asks for a page and has `read` read it in Postgres.
 * @throws {EnvelopeError} where the answers are no pages; a FaultError only where another question is answered; whatever fetching and `read` throw.
 */
export async function askPage<R extends PageFacts>(
  { fetchPage, contract, signal, priority, answersElsewhere }: AnswerContext,
  request: PageRequest,
  read: Read<R>,
): Promise<PageAnswer<R>> {
  for (let attempt = 1; ; attempt++) {
    try {
      const page = await fetchPage(request, { signal, priority });
      return { facts: await contract.understand(page, read), page };
    } catch (error) {
      if (!(error instanceof EnvelopeError)) throw error;
      if (attempt < ATTEMPTS) continue;
      // Before a list was shown, the words of others may say that this is none.
      const mayBeOfAll = error instanceof FaultError && contract.known !== null;
      if (!mayBeOfAll || (await answersElsewhere?.(request)) !== false) throw error;
      // Nor is anything to a run that was stopped meanwhile.
      signal.throwIfAborted();
      // Nothing is answered: it is not for the length, the depth or the span.
      throw new EnvelopeError(error.message, { hint: error.hint, cause: error });
    }
  }
}
