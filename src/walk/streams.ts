/** What is known of the streams while their windows are run. */
import { type RequestError, SettingsError } from '../errors.ts';
import type { Stream } from '../model.ts';
import type { Database } from '../store/database.ts';
import type { LearnedFact } from '../store/learned.ts';
import { readLargestAnswer } from '../store/proven.ts';
import { type Reader, StreamContract } from './contract.ts';
import { Knowledge } from './knowledge.ts';

/** One stream. */
export interface StreamState {
  readonly streamId: number;
  readonly stream: Stream;
  readonly knowledge: Knowledge;
  readonly contract: StreamContract;
  failuresInARow: number;
  stopped: boolean;
  /** Ends when the first answer with records has shown how answers look, or the window that asked for it has ended. */
  firstAnswer: Promise<void> | null;
  /** The answer that says that this stream's address does not exist. */
  misaddressed?: RequestError;
}

/** A stream with its contract and what was learned of it. */
export async function openStream(
  { database, reader }: { readonly database: Database; readonly reader: Reader },
  streamId: number,
  stream: Stream,
  facts: readonly LearnedFact[],
): Promise<StreamState> {
  const contract = await StreamContract.open(database, reader, { streamId, ...stream });
  const knowledge = new Knowledge(database, streamId, facts);
  knowledge.largestAnswer = await readLargestAnswer(database, streamId);
  return {
    streamId,
    stream,
    knowledge,
    contract,
    failuresInARow: 0,
    stopped: false,
    firstAnswer: null,
  };
}

/** @throws {SettingsError} where the address of every stream does not exist. */
export function refuseMisaddressed(states: readonly StreamState[]): void {
  const [first] = states;
  if (first?.misaddressed === undefined || states.some((state) => state.misaddressed === undefined))
    return;
  throw new SettingsError(first.misaddressed.message, {
    cause: first.misaddressed,
    hint: first.misaddressed.hint ?? 'Check api.url (DAYWALK_API_URL).',
  });
}
