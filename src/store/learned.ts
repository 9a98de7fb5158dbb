/** What was learned about the API in a stream, kept with its evidence (DESIGN 5.5). */
import type { Database } from './database.ts';

/** page_length: the largest that works; offset_cap: how deep paging goes; proven_size: the largest proven window; totals: 1, they count the window. */
export type Fact = 'page_length' | 'offset_cap' | 'proven_size' | 'totals';

/** One thing learned. */
export interface LearnedFact {
  readonly streamId: number;
  readonly fact: Fact;
  readonly value: number;
  readonly evidence: string;
  readonly learnedAt: Date;
}

/** Limits may be lifted: after so many days they are found out anew. What a window has proven stays proven. */
const LIMIT_DAYS = 30;

/** What is known of these streams; limits only while they are fresh. */
export function readLearned(
  database: Database,
  streamIds: readonly number[],
): Promise<LearnedFact[]> {
  return database.persist(
    `select stream_id as "streamId", fact, value, evidence, learned_at as "learnedAt"
       from daywalk.learned
      where stream_id = any ($1::integer[])
        and (fact in ('proven_size', 'totals') or learned_at > clock_timestamp() - make_interval(days => $2))
      order by stream_id, fact`,
    [streamIds, LIMIT_DAYS],
  );
}

/** All that was learned in these streams, with the stream's name; for people. */
export function readLearnedByName(
  database: Database,
  streamNames: readonly string[],
): Promise<(Omit<LearnedFact, 'streamId'> & { readonly name: string })[]> {
  return database.persist(
    `select s.name, l.fact, l.value, l.evidence, l.learned_at as "learnedAt"
       from daywalk.learned l join daywalk.streams s on s.stream_id = l.stream_id
      where s.name = any ($1::text[])
      order by s.name, l.fact`,
    [streamNames],
  );
}

/** Keeps a fact; a proven size only grows. */
export async function learn(
  database: Database,
  streamId: number,
  fact: Fact,
  value: number,
  evidence: string,
): Promise<void> {
  await database.persist(
    `insert into daywalk.learned as l (stream_id, fact, value, evidence) values ($1, $2, $3, $4)
     on conflict (stream_id, fact) do update
       set value = excluded.value, evidence = excluded.evidence, learned_at = excluded.learned_at
     where l.fact <> 'proven_size' or l.value < excluded.value`,
    [streamId, fact, value, evidence],
  );
}

/** Forgets a fact that is in doubt; where it holds it is learned again. */
export async function forget(database: Database, streamId: number, fact: Fact): Promise<void> {
  await database.persist('delete from daywalk.learned where stream_id = $1 and fact = $2', [
    streamId,
    fact,
  ]);
}
