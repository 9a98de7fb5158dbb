/** Health for machines: alive, ready, and fresh enough. */
import type { Database } from '../store/database.ts';
import { databaseNow } from '../store/windows.ts';
import { type Answer, json, words } from './answer.ts';
import type { Standing } from './facts.ts';

/** 200 as long as the database answers. */
export async function readyAnswer(database: Database): Promise<Answer> {
  try {
    await databaseNow(database);
    return words(200, 'ready');
  } catch {
    return words(503, 'the database is away');
  }
}

/**
 * 200 while the newest day that should be proven by now is, 503 when it is not or when nobody can tell. An older day
 * that failed does not make it 503: no restart mends it; `problems`, metrics and the webhook tell of it.
 */
export async function healthAnswer(
  read: () => Promise<Standing>,
  { strike }: { readonly strike: (text: string) => string },
): Promise<Answer> {
  let standing: Standing;
  try {
    standing = await read();
  } catch (error) {
    const why = strike(error instanceof Error ? error.message : String(error));
    return json(503, { status: 'unknown', sentence: 'The database is away.', error: why });
  }
  const { level, sentence, expected, streams, problems } = standing.health;
  const fresh = level === 'good' || level === 'gaps';
  return json(fresh ? 200 : 503, {
    status: level,
    sentence,
    expectedDay: expected,
    streams: streams.map(({ lagMs, ...rest }) => ({
      ...rest,
      lagSeconds: lagMs === null ? null : Math.round(lagMs / 1000),
    })),
    problems: problems.map(({ text, command }) => ({ text: strike(text), command })),
  });
}
