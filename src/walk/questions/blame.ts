/** Whose fault a failing request is: of the API, or of what it would show. */
import { PageFailedError, UnavailableError } from '../../errors.ts';
import type { PageRequest } from '../../model.ts';
import type { FetchPage } from '../answers.ts';
import type { Knowledge } from './knowledge.ts';
import type { KnownAnswers } from './known-answers.ts';

/** So many tries of one request fail before another one is asked. */
const TRIES_BEFORE_BLAME = 3;

/** Fetches pages; what fails for longer, and again when the API has answered another question, is blamed on the page. */
export function blaming(fetchPage: FetchPage, known: KnownAnswers): FetchPage {
  return async (request, options) => {
    const blamed = new AbortController();
    let tries = 0;
    let answers = false;
    const signal = AbortSignal.any([options.signal, blamed.signal]);
    try {
      return await fetchPage(request, {
        ...options,
        signal,
        onRetry: async (notice) => {
          await options.onRetry?.(notice);
          tries += 1;
          if (answers) blamed.abort(pageFailed(request, notice.error));
          else if (tries === TRIES_BEFORE_BLAME && notice.error.status !== 429)
            answers = await known.answersElsewhere(request);
        },
      });
    } catch (error) {
      if (!(error instanceof UnavailableError) || error.part !== 'api') throw error;
      const fails = answers || (await known.answersElsewhere(request));
      throw fails ? pageFailed(request, error) : error;
    }
  };
}

/** Tells whether another question is answered than one whose answer is a failure; where none was, nothing is asked until something is answered. */
export function elsewhereOf(knowledge: Knowledge, known: KnownAnswers) {
  const isSilent = () => knowledge.isSilent;
  return (failing: PageRequest): Promise<boolean> =>
    knowledge.askingElsewhere.run(async () => {
      if (!isSilent()) knowledge.isSilent = !(await known.answersElsewhere(failing, true));
      return !isSilent();
    }, isSilent);
}

const pageFailed = ({ start, length }: PageRequest, error: Error): PageFailedError =>
  new PageFailedError(
    `start ${start}, length ${length} fails while other questions are answered: ${error.message}`,
    { cause: error },
  );
