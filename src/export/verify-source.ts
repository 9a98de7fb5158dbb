/** `verify`: complete windows against the source, with one request each. Nothing is changed. */
import { EnvelopeError, RequestError, TooLargeError } from '../errors.ts';
import type { Page, Stream } from '../model.ts';
import type { Database } from '../store/database.ts';
import { compareProbe, type ProbeFacts } from '../store/probes.ts';
import type { PublishedWalk, PublishedWindow } from '../store/published.ts';
import type { FetchPage } from './reading.ts';
import { several } from './several.ts';
import { targetOf } from './span.ts';

/** What a comparison with the source needs; the wiring fills it. */
export interface SourceCheckParts {
  readonly database: Database;
  readonly fetchPage: FetchPage;
}

/** A window against the source. */
export interface WindowVerdict {
  readonly window: PublishedWindow;
  /** unknown: the source did not answer with a page. */
  readonly state: 'same' | 'changed' | 'unknown';
  /** What differs, or why it is unknown; for `same`, what the answer could not show. */
  readonly differences: readonly string[];
  /** Only of a comparison page by page. */
  readonly records?: RecordDifferences;
}

/** Records that only one side holds. */
export interface RecordDifferences {
  readonly vanished: number;
  readonly appeared: number;
  /** Offsets in the stored list of the first records that vanished. */
  readonly vanishedAt: readonly number[];
  /** Offsets in the source's list of the first records that appeared. */
  readonly appearedAt: readonly number[];
  /** Pages that were fetched. */
  readonly pages: number;
}

/** Asks for the last record of each window, and the one after it. */
export function verifyWindows(
  parts: SourceCheckParts,
  streams: readonly Stream[],
  windows: readonly PublishedWindow[],
  concurrency: number,
  signal: AbortSignal,
  onVerdict: (verdict: WindowVerdict) => void = () => {},
): Promise<WindowVerdict[]> {
  return several(windows, concurrency, signal, async (window) => {
    const stream = streams.find((candidate) => candidate.name === window.stream);
    if (stream === undefined) throw new Error(`stream ${window.stream} was not asked for`);
    const verdict = await look(parts, stream, window, signal).catch((error: unknown) =>
      notAPage(window, error),
    );
    onVerdict(verdict);
    return verdict;
  });
}

/** An answer that is no page is told with its window; what concerns the whole source ends the run. */
export function notAPage(window: PublishedWindow, error: unknown): WindowVerdict {
  const ofTheWindow =
    error instanceof RequestError ||
    error instanceof EnvelopeError ||
    error instanceof TooLargeError;
  if (!ofTheWindow) throw error;
  return { window, state: 'unknown', differences: [error.message] };
}

async function look(
  { database, fetchPage }: SourceCheckParts,
  stream: Stream,
  window: PublishedWindow,
  signal: AbortSignal,
): Promise<WindowVerdict> {
  const walk = window.walks.at(-1);
  if (walk === undefined) throw new Error(`window ${window.windowId} has no published walk`);
  const start = Math.max(0, walk.records - 1);
  let page: Page;
  try {
    page = await fetchPage({ ...targetOf(stream, window), start, length: 2 }, { signal });
  } catch (error) {
    // A list that has become shorter may answer with an error behind its end.
    if (!(error instanceof RequestError) || start === 0) throw error;
    const differences = [
      `the source refuses start ${start}, where the last record was: ${error.message}`,
    ];
    return { window, state: 'changed', differences };
  }
  const facts = await compareProbe(database, walk.walkId, page, walk.envelope);
  if (facts.records === null || facts.complaint !== null)
    throw new EnvelopeError(`the answer at start ${start} is no page, or tells of an error`);
  return verdictOf(window, walk, facts, facts.records);
}

/** What one answer says about a window whose stored list ends in `walk`. */
export function verdictOf(
  window: PublishedWindow,
  walk: PublishedWalk,
  facts: Pick<ProbeFacts, 'total' | 'beginsWithLast'>,
  records: number,
): WindowVerdict {
  const differences: string[] = [];
  const unstable = walk.proof.kind === 'union' || walk.proof.repeated !== undefined;
  if (facts.total !== walk.lastTotal)
    differences.push(
      `the total was ${walk.lastTotal ?? 'not told'} and is ${facts.total ?? 'not told'}`,
    );
  if (walk.records === 0 && records > 0) differences.push('the window was empty and is not');
  if (walk.records > 0 && records === 0)
    differences.push(`there is no record at ${walk.records - 1}, where the last one was`);
  if (walk.records > 0 && records > 1)
    differences.push(`there are more than the ${walk.records} records that were there`);
  if (walk.records > 0 && records > 0 && !facts.beginsWithLast && !unstable)
    differences.push(`the last record, at ${walk.records - 1}, is another one`);
  if (differences.length > 0) return { window, state: 'changed', differences };
  // Its order was not the same from one page to the next when it was walked, so no record has a place to be looked at.
  const limits = unstable ? ['the source does not keep its order: only counts were compared'] : [];
  return { window, state: 'same', differences: limits };
}
