/** Whose fault a failing request is: of the API, or of what it would show. */
import { withDeadline } from '../../clock.ts';
import { PageFailedError, UnavailableError } from '../../errors.ts';
import type { PageRequest } from '../../model.ts';
import type { FetchPage } from '../answers.ts';
import type { AskingContext } from './context.ts';
import { elsewhere, newestDay } from './elsewhere.ts';
import { askShorter } from './questions.ts';
import { beginningOf, type WalkTarget } from './span.ts';

/** So many tries of one request fail before another one is asked. */
const TRIES_BEFORE_BLAME = 3;
/** So long another request may take that is to tell whose fault one is. */
export const BLAME_MS = 30_000;

/** Fetches pages; what fails for longer, and again when the API has answered another question, is blamed on the page. */
export function blaming(context: AskingContext): FetchPage {
  return async (request, options) => {
    const blamed = new AbortController();
    let tries = 0;
    let answers = false;
    const signal = AbortSignal.any([options.signal, blamed.signal]);
    try {
      return await context.fetchPage(request, {
        ...options,
        signal,
        onRetry: async (notice) => {
          await options.onRetry?.(notice);
          tries += 1;
          if (answers) blamed.abort(pageFailed(request, notice.error));
          else if (tries === TRIES_BEFORE_BLAME && notice.error.status !== 429)
            answers = await answersOther(context, request);
        },
      });
    } catch (error) {
      if (!(error instanceof UnavailableError) || error.part !== 'api') throw error;
      const fails = answers || (await answersOther(context, request));
      throw fails ? pageFailed(request, error) : error;
    }
  };
}

const pageFailed = ({ start, length }: PageRequest, error: Error): PageFailedError =>
  new PageFailedError(
    `start ${start}, length ${length} fails while other questions are answered: ${error.message}`,
    { cause: error },
  );

/** Whether another question is answered than one whose answer is a failure; where none was, nothing is asked until something is answered. */
export function answersElsewhere(context: AskingContext, failing: PageRequest): Promise<boolean> {
  const { knowledge } = context;
  const isSilent = () => knowledge.isSilent;
  return knowledge.askingElsewhere.run(async () => {
    if (!isSilent()) knowledge.isSilent = !(await answersOther(context, failing, true));
    return !isSilent();
  }, isSilent);
}

/** Whether the API answers another question, with `inPart` one for less: then the fault is that of the request that fails. */
async function answersOther(context: AskingContext, failing: PageRequest, inPart = false) {
  const other = await elsewhere(context, failing);
  if (await isAnswered(context, other)) return true;
  // What was proven may not be had any more.
  const newest = await newestDay(context, failing.from.slice(0, 10));
  if (newest.from !== other.from && (await isAnswered(context, newest))) return true;
  // Of a new stream all of them may be empty in words that nobody knows: then it is enough that the beginning of the same span is answered.
  const isPart = failing.length > 1 || failing.start > 0;
  if (isPart && (await isAnswered(context, failing, true))) return true;
  // Or too much, all of them.
  return inPart && isAnswered(context, beginningOf(failing), true);
}

/**
 * Whether a span is answered with a page.
 * @param inAnyWords also with an empty one in a frame of no known kind, which may say anything.
 */
export function isAnswered(context: AskingContext, target: WalkTarget, inAnyWords = false) {
  const late = () => new Error('It took too long.');
  return withDeadline({ ...context, ms: BLAME_MS, late }, (signal) =>
    askShorter({ ...context, signal }, { ...target, start: 0, length: 1 }),
  ).then(
    ({ facts: { frame } }) => frame === null || frame.known || frame.plain || inAnyWords,
    () => false,
  );
}
