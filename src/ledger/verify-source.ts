/** `verify`: complete windows against the source, with one request each. Nothing is changed. */
import { DaywalkError, isNoAnswer, ObjectStoreError } from '../errors.ts';
import type { Stream } from '../model.ts';
import { wasBelieved } from '../store/evidence/contracts.ts';
import { readLearned } from '../store/evidence/learned.ts';
import type { PublishedWindow } from '../store/evidence/proven.ts';
import { listGoneWalks } from '../store/stored.ts';
import { readStreams } from '../store/streams.ts';
import { StreamContract } from '../walk/contract.ts';
import type { WalkParts } from '../walk/due.ts';
import type { AskingContext } from '../walk/questions/context.ts';
import { lookAtEnd } from '../walk/questions/end.ts';
import { Knowledge } from '../walk/questions/knowledge.ts';
import { mapConcurrent } from './map-concurrent.ts';

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
export type Compare = (context: AskingContext, window: PublishedWindow) => Promise<WindowVerdict>;

/** The pages of a window went while it was compared: nothing can be said of it. */
export class PagesGoneError extends DaywalkError {
  constructor() {
    super(
      'its pages are not there: run it again, as they moved or were pruned meanwhile; else daywalk verify --offline names them',
    );
  }
}

/** Compares windows with the source, each of them so, several at a time. */
export function verifyWindows(
  parts: SourceCheckParts,
  streams: readonly Stream[],
  windows: readonly PublishedWindow[],
  compare: Compare,
  concurrency: number,
  signal: AbortSignal,
  onVerdict: (verdict: WindowVerdict) => void = () => {},
): Promise<WindowVerdict[]> {
  return mapConcurrent(windows, concurrency, signal, async (window) => {
    const stream = streams.find((candidate) => candidate.name === window.stream);
    if (stream === undefined) throw new Error(`stream ${window.stream} was not asked for`);
    const context = await askingContext(parts, stream, signal);
    const verdict = await verdictOf(context, window, compare);
    onVerdict(verdict);
    return verdict;
  });
}

async function verdictOf(
  context: AskingContext,
  window: PublishedWindow,
  compare: Compare,
): Promise<WindowVerdict> {
  try {
    const verdict = await compare(context, window);
    const walks = window.place === 'here' ? window.walks.map(({ walkId }) => walkId) : [];
    // What differs from pages that went since it was listed says nothing of the source.
    if (verdict.state === 'changed' && (await listGoneWalks(context.database, walks)).size > 0)
      throw new PagesGoneError();
    return verdict;
  } catch (error) {
    const isOfWindow =
      isNoAnswer(error) ||
      error instanceof PagesGoneError ||
      (error instanceof ObjectStoreError && error.fault === 'settings');
    // What concerns the whole source ends the run.
    if (!isOfWindow) throw error;
    return { window, state: 'unknown', differences: [error.message] };
  }
}

/** With another length than pages are asked for with, so that no cache answers. */
const LOOK_LENGTH = 3;

/** Asks for the last record of a window, and the one after it. */
export const lookAtWindow: Compare = async (context, window) => {
  const walk = window.walks.at(-1);
  if (walk === undefined) throw new Error(`window ${window.windowId} has no published walk`);
  const difference = await lookAtEnd(context, { ...window, ...walk }, LOOK_LENGTH, (signature) =>
    wasBelieved(context.database, window.windowId, signature),
  );
  if (difference !== null) return { window, state: 'changed', differences: [difference] };
  // No record has a place to be looked at.
  const limits =
    walk.proof.kind === 'union'
      ? ['the source does not keep its order: only the records of one answer were compared']
      : [];
  return { window, state: 'same', differences: limits };
};

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
