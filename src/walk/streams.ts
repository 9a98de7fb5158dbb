/** What is known of the streams while their windows are run. */
import { type RequestError, SettingsError } from '../errors.ts';
import type { Stream } from '../model.ts';
import type { Database } from '../store/database.ts';
import type { LearnedFact } from '../store/learned.ts';
import { unfail } from '../store/leases.ts';
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
  /** The answer that says that this stream's address does not exist. */
  misaddressed?: RequestError;
  /** Windows that failed by such answers. */
  readonly failedByAddress: number[];
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
  return {
    streamId,
    stream,
    knowledge,
    contract,
    failuresInARow: 0,
    stopped: false,
    failedByAddress: [],
  };
}

/**
 * The windows that failed by a wrong address are as good as before then.
 * @throws {SettingsError} where the address of every stream does not exist: it was told so, and no page ever came.
 */
export async function refuseMisaddressed(
  database: Database,
  states: readonly StreamState[],
): Promise<void> {
  const [first] = states;
  const isWrong = ({ misaddressed, stopped, contract }: StreamState) =>
    misaddressed !== undefined && (stopped || contract.known === null);
  if (first?.misaddressed === undefined || !states.every(isWrong)) return;
  await unfail(
    database,
    states.flatMap(({ failedByAddress }) => failedByAddress),
  );
  throw new SettingsError(first.misaddressed.message, {
    cause: first.misaddressed,
    hint: first.misaddressed.hint ?? 'Check api.url (DAYWALK_API_URL).',
  });
}
