/** What is known of the streams while their windows are run. */
import {
  EnvelopeError,
  RequestError,
  SettingsError,
  UnavailableError,
  WalkError,
} from '../errors.ts';
import type { Stream } from '../model.ts';
import type { Database } from '../store/database.ts';
import { readLearned, walkAnewBySize } from '../store/evidence/learned.ts';
import { readLargest } from '../store/evidence/proven.ts';
import { listFailed, unfail } from '../store/leases.ts';
import { OneAtATime } from './concurrency.ts';
import { type Reader, StreamContract } from './contract.ts';
import type { AskingContext } from './questions/context.ts';
import { Knowledge } from './questions/knowledge.ts';
import { KnownAnswers } from './questions/known-answers.ts';

/** Redirects, and paths that are not there. */
const MISADDRESSED: ReadonlySet<number> = new Set([301, 302, 303, 307, 308, 404, 405, 410]);

/** One stream. */
export interface StreamState {
  readonly streamId: number;
  readonly stream: Stream;
  readonly knowledge: Knowledge;
  readonly contract: StreamContract;
  failuresInARow: number;
  stopped: boolean;
  /**
   * As long as no answer has shown where its records are, one window is asked for and the others wait: what an answer without
   * records means is told by one that has some.
   */
  readonly firstAnswer: OneAtATime;
  readonly known: KnownAnswers;
  /** The answer that says that this stream's address does not exist. */
  misaddressed?: RequestError;
  /** Windows that failed by answers of which it cannot be told whether they mean "nothing". */
  readonly failedUntold: number[];
  /** Those that were walked again for it: once in a run. */
  readonly retried: Set<number>;
}

/** Streams, by id, each with its contract and what was learned of it. */
export async function openStreams(
  parts: Pick<AskingContext, 'database' | 'clock' | 'fetchPage' | 'signal'>,
  reader: Reader,
  streams: ReadonlyMap<number, Stream>,
): Promise<StreamState[]> {
  const { database } = parts;
  return Promise.all(
    [...streams].map(async ([streamId, stream]) => {
      // With a contract of other settings go facts.
      const contract = await StreamContract.open(database, reader, { streamId, ...stream });
      const [facts, largest] = await Promise.all([
        readLearned(database, [streamId]),
        readLargest(database, streamId),
      ]);
      const knowledge = new Knowledge(database, streamId, facts);
      // The process that learned it may have been killed then, and others may not have known it.
      if (knowledge.learned.cutOtherwise) await walkAnewBySize(database, streamId);
      knowledge.listed(largest.answer, largest.list);
      // All that is new waits for them.
      const priority = { purpose: 'scheduled' } as const;
      return {
        streamId,
        stream,
        knowledge,
        contract,
        failuresInARow: 0,
        stopped: false,
        // Those of a process that was killed before any answer showed records are not known apart any more.
        failedUntold: contract.known === null ? await listFailed(database, streamId) : [],
        retried: new Set<number>(),
        firstAnswer: new OneAtATime(),
        known: new KnownAnswers({ ...parts, stream, contract, knowledge, priority }),
      };
    }),
  );
}

/** Notes a window whose answer may have meant "nothing": that is told by a question that is answered with records, which may have come since. */
export function noteUntold(
  { contract, failedUntold, retried }: StreamState,
  { windowId }: { readonly windowId: number },
  error: unknown,
): void {
  if (retried.has(windowId)) return;
  const { fault, cause } = error instanceof WalkError ? error : {};
  // What an answer says beside no records, those with records may say, too.
  const isNoPage =
    contract.known === null && (error instanceof EnvelopeError || isMisaddressed(cause));
  if (fault === 'unknown-answer' || isNoPage) failedUntold.push(windowId);
}

/** Has what failed before any answer showed records walked again: what an answer without records means can be told now. */
export async function retryUntold(
  database: Database,
  { knowledge, failedUntold, retried }: StreamState,
): Promise<void> {
  if (knowledge.lastGood === null || failedUntold.length === 0) return;
  const windowIds = failedUntold.splice(0);
  for (const windowId of windowIds) retried.add(windowId);
  await unfail(database, windowIds);
}

/** Whether an answer says that the address is wrong, not the window. */
export function isMisaddressed(error: unknown): error is RequestError {
  return error instanceof RequestError && MISADDRESSED.has(error.status);
}

/**
 * The windows that failed by a wrong address are as good as before then.
 * @throws {SettingsError} where the address of every stream does not exist: it was told so, and no page ever came.
 * {UnavailableError} where pages came from there before: what stands in front of the API may pass.
 */
export async function refuseMisaddressed(
  database: Database,
  states: readonly StreamState[],
): Promise<void> {
  const [first] = states;
  const isWrong = ({ misaddressed, stopped, contract }: StreamState) =>
    misaddressed !== undefined && (stopped || contract.known === null);
  if (first?.misaddressed === undefined || !states.every(isWrong)) return;
  const untold = states.flatMap(({ failedUntold }) => failedUntold);
  await unfail(database, untold);
  const { message, hint = 'Check api.url (DAYWALK_API_URL).' } = first.misaddressed;
  const details = { cause: first.misaddressed, hint };
  throw states.every(({ contract }) => contract.known === null)
    ? new SettingsError(message, details)
    : new UnavailableError('api', message, details);
}
