/** What is known of the streams while their windows are run. */
import { RequestError, SettingsError, UnavailableError } from '../errors.ts';
import type { Stream } from '../model.ts';
import { readLearned, walkAnewBySize } from '../store/evidence/learned.ts';
import { hasKnownAnswers, readLargest } from '../store/evidence/proven.ts';
import { unfail } from '../store/leases.ts';
import { OneAtATime } from './concurrency.ts';
import { type Reader, StreamContract } from './contract.ts';
import type { AskingContext } from './questions/context.ts';
import { Knowledge } from './questions/knowledge.ts';
import { KnownAnswers } from './questions/known-answers.ts';

/** Redirects, and paths that are not there. */
const MISADDRESSED: ReadonlySet<number> = new Set([301, 302, 303, 307, 308, 404, 405, 410]);

/** One stream, with what asking about it needs where nobody blames what fails. */
export interface StreamState extends AskingContext {
  readonly streamId: number;
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
  /** No known answer or contract was there when it was opened: a window that fails may have been answered "nothing". */
  untold: boolean;
  /** Since when by the monotonic clock; null: no record was ever shown under these settings, and what failed before is as untold. */
  readonly untoldSince: number | null;
}

/** Streams, by id, each with its contract and what was learned of it. */
export async function openStreams(
  parts: Pick<AskingContext, 'database' | 'clock' | 'fetchPage' | 'signal'>,
  reader: Reader,
  streams: ReadonlyMap<number, Stream>,
): Promise<StreamState[]> {
  const { database } = parts;
  const largest = await readLargest(database, [...streams.keys()]);
  return Promise.all(
    [...streams].map(async ([streamId, stream]) => {
      // With a contract of other settings go facts.
      const contract = await StreamContract.open(database, reader, { streamId, ...stream });
      const [facts, hasAnswers] = await Promise.all([
        readLearned(database, [streamId]),
        hasKnownAnswers(database, streamId),
      ]);
      const knowledge = new Knowledge(database, streamId, facts);
      await knowledge.heedReach(facts);
      // The process that learned it may have been killed then, and others may not have known it.
      if (knowledge.learned.cutOtherwise) await walkAnewBySize(database, streamId);
      const { answer = 0, list = 0 } = largest.get(streamId) ?? {};
      knowledge.listed(answer, list);
      // All that is new waits for them.
      const priority = { purpose: 'scheduled' } as const;
      const asking = { ...parts, stream, contract, knowledge, priority };
      return {
        ...asking,
        streamId,
        failuresInARow: 0,
        stopped: false,
        untold: !hasAnswers || contract.known === null,
        untoldSince: contract.known === null ? null : parts.clock.monotonic(),
        firstAnswer: new OneAtATime(),
        known: new KnownAnswers(asking),
      };
    }),
  );
}

/** With the first record of a stream, what failed before it is walked again: what an answer without records means can be told now. */
export async function retryUntold(state: StreamState): Promise<void> {
  if (state.untold && state.knowledge.lastGood !== null) await unfailUntold(state);
}

/** What failed in an earlier run, where records had been shown, waits for as long as it has to. */
async function unfailUntold(state: StreamState): Promise<void> {
  const { database, clock, streamId, untoldSince } = state;
  state.untold = false;
  await unfail(database, streamId, untoldSince === null ? null : clock.monotonic() - untoldSince);
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
export async function refuseMisaddressed(states: readonly StreamState[]): Promise<void> {
  const [first] = states;
  const isWrong = ({ misaddressed, stopped, contract }: StreamState) =>
    misaddressed !== undefined && (stopped || contract.known === null);
  if (first?.misaddressed === undefined || !states.every(isWrong)) return;
  for (const state of states) if (state.untold) await unfailUntold(state);
  const { message, hint = 'Check api.url (DAYWALK_API_URL).' } = first.misaddressed;
  const details = { cause: first.misaddressed, hint };
  throw states.every(({ contract }) => contract.known === null)
    ? new SettingsError(message, details)
    : new UnavailableError('api', message, details);
}
