/** Health for machines: alive, ready, and fresh enough. */
import { type Answer, json } from '../answer.ts';
import type { Health } from '../days/health.ts';
import { followerTrouble, RIGHT_KEY } from '../days/run-words.ts';
import type { RefusedKey } from '../store/refused-keys.ts';
import { utcMinute } from '../text.ts';
import type { NotInStep } from '../walk/followers.ts';

/** That the key is refused, since when, and when it is sent again. */
export function refusedSentence({ since, until, said }: RefusedKey): string {
  return `The API refuses the key since ${utcMinute(since)}; it is not sent again before ${utcMinute(until)} or until it changes: ${RIGHT_KEY}. ${said}`;
}

/** No day is missing where what follows the days has failed, and yet not all is well. */
export function withNotInStep(health: Health, notInStep: readonly NotInStep[]): Health {
  if (health.level !== 'good' || notInStep.length === 0) return health;
  const what = notInStep.map((follower) => follower.what).join(' and ');
  const sentence = `Every day that should be here is complete, but ${what} could not be brought up to date.`;
  return { ...health, level: 'gaps', sentence };
}

/** Where the database is away nobody can tell. */
export const unknownHealth = (error: string): Answer =>
  json(503, {
    status: 'unknown',
    sentence: 'The database is away; the worker goes on trying.',
    error,
  });

/**
 * 200 while the newest day that should be proven by now is, 503 when it is not. An older day that failed, or what follows
 * the days, does not make it 503: no restart mends it; `problems`, metrics and the webhook tell of it.
 */
export function healthAnswer(
  { level, sentence, expected, streams, problems, lost }: Health,
  notInStep: readonly NotInStep[],
  strike: (text: string) => string,
): Answer {
  const wrong = [...problems, ...lost, ...notInStep.map(followerTrouble)];
  const fresh = level === 'good' || level === 'gaps';
  return json(fresh ? 200 : 503, {
    status: level,
    sentence,
    expectedDay: expected,
    streams: streams.map(({ lagMs, ...rest }) => ({
      ...rest,
      lagSeconds: lagMs === null ? null : Math.round(lagMs / 1000),
    })),
    problems: wrong.map(({ text, command }) => ({ text: strike(text), command })),
  });
}
