/** Sources that answer one question in different ways, as replicas do that disagree. */
import type { Database } from '../store/database.ts';
import { readLearned } from '../store/evidence/learned.ts';
import { readStreams } from '../store/streams.ts';

/** Those of the streams whose source was seen to do so of late. */
export async function readRestless(
  database: Database,
  names: readonly string[],
): Promise<string[]> {
  const streams = await readStreams(database, names);
  const ids = streams.map(({ streamId }) => streamId);
  const facts = await readLearned(database, ids);
  const restless = facts.filter(({ fact, value }) => fact === 'restless' && value === true);
  return streams
    .filter(({ streamId }) => restless.some((fact) => fact.streamId === streamId))
    .map(({ name }) => name);
}

/** A sentence about such a stream. */
export const describeRestless = (stream: string): string =>
  `${stream}: its source answers one question in different ways (do its replicas agree?), so it is asked again and again until nothing new comes`;
