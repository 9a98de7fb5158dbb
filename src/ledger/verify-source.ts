/** `verify`: complete windows against the source, with one request each. Nothing is changed. */
import { isNoAnswer } from '../errors.ts';
import type { Stream } from '../model.ts';
import { readLearned } from '../store/evidence/learned.ts';
import type { PublishedWindow } from '../store/evidence/proven.ts';
import { listGoneWalks } from '../store/stored.ts';
import { readStreams } from '../store/streams.ts';
import { mapConcurrent } from '../walk/concurrency.ts';
import { StreamContract } from '../walk/contract.ts';
import type { WalkParts } from '../walk/due.ts';
import type { AskingContext } from '../walk/questions/context.ts';
import { lookAtEnd } from '../walk/questions/end.ts';
import { Knowledge } from '../walk/questions/knowledge.ts';

/** What a comparison with the source needs; the wiring fills it. */
export type SourceCheckParts = Pick<WalkParts, 'database' | 'fetchPage' | 'reader' | 'clock'>;

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

/** Compares one window with the source. */
type Compare = (context: AskingContext, window: PublishedWindow) => Promise<WindowVerdict>;

/** Compares windows with the source, several at a time. */
type CompareAll = (
  parts: SourceCheckParts,
  streams: readonly Stream[],
  windows: readonly PublishedWindow[],
  concurrency: number,
  signal: AbortSignal,
  onVerdict?: (verdict: WindowVerdict) => void,
) => Promise<WindowVerdict[]>;

/** Why nothing can be said of a window. */
export const PAGES_WENT = 'its pages moved or were pruned meanwhile: run it again';

/** The comparison of several windows that compares each of them so. */
export function eachBy(compare: Compare): CompareAll {
  return (parts, streams, windows, concurrency, signal, onVerdict = () => {}) =>
    mapConcurrent(windows, concurrency, signal, async (window) => {
      const stream = streams.find((candidate) => candidate.name === window.stream);
      if (stream === undefined) throw new Error(`stream ${window.stream} was not asked for`);
      const context = await askingContext(parts, stream, signal);
      const found = await compare(context, window).catch((error: unknown) =>
        notAPage(window, error),
      );
      const walks = window.place === 'here' ? window.walks.map(({ walkId }) => walkId) : [];
      // What differs from pages that went since it was listed says nothing of the source.
      const went =
        found.state === 'changed' && (await listGoneWalks(parts.database, walks)).size > 0;
      const verdict = went
        ? ({ window, state: 'unknown', differences: [PAGES_WENT] } as const)
        : found;
      onVerdict(verdict);
      return verdict;
    });
}

/** An answer that is no page is told with its window; what concerns the whole source ends the run. */
function notAPage(window: PublishedWindow, error: unknown): WindowVerdict {
  if (!isNoAnswer(error)) throw error;
  return { window, state: 'unknown', differences: [error.message] };
}

/** Asks for the last record of each window, and the one after it. */
export const verifyWindows = eachBy(look);

/** With another length than pages are asked for with, so that no cache answers. */
const LOOK_LENGTH = 3;

async function look(context: AskingContext, window: PublishedWindow): Promise<WindowVerdict> {
  const walk = window.walks.at(-1);
  if (walk === undefined) throw new Error(`window ${window.windowId} has no published walk`);
  const difference = await lookAtEnd(context, window, walk, LOOK_LENGTH);
  if (difference !== null) return { window, state: 'changed', differences: [difference] };
  // No record has a place to be looked at.
  const limits =
    walk.proof.kind === 'union'
      ? ['the source does not keep its order: only the records of one answer were compared']
      : [];
  return { window, state: 'same', differences: limits };
}

/** What is known of the stream, as it was left by the newest run. */
async function askingContext(
  { database, fetchPage, reader, clock }: SourceCheckParts,
  stream: Stream,
  signal: AbortSignal,
): Promise<AskingContext> {
  const [known] = await readStreams(database, [stream.name]);
  if (known === undefined) throw new Error(`stream ${stream.name} was never planned`);
  const { streamId } = known;
  const knowledge = new Knowledge(database, streamId, await readLearned(database, [streamId]));
  const contract = await StreamContract.open(database, reader, { streamId, ...stream });
  const priority = { purpose: 'look' } as const;
  return { database, clock, stream, knowledge, contract, fetchPage, priority, signal };
}
