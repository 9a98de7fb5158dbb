/** A source that takes the new key only and says both back, in some spelling; and that nothing told has a part of them. */
import { expect } from 'vitest';
import { SPELLINGS } from '../support/spellings.ts';
import { CANARY, everythingOf } from './open.ts';
import { answer, type Step } from './scripted-server.ts';

export type Spell = (key: string) => string;
export const NEW_KEY = 'rotated-Zk81/+q=4471-KEY';
export const KEYS = [CANARY, NEW_KEY];
/** What a header line can carry. */
export const IN_HEADERS = Object.entries(SPELLINGS).filter(
  ([, spell]) => !/[^\x20-\x7e]/.test(KEYS.map(spell).join('')),
);

/** Takes the new key only; to that it answers so. */
export const rotated =
  (step: (text: string) => Step, spell: Spell): Step =>
  (asked) =>
    asked.head.includes(`X-API-Key: ${NEW_KEY}\r\n`)
      ? step(KEYS.map(spell).join(' '))(asked)
      : answer('', { status: 401 })(asked);

/** Nothing that an error says, also in its causes, has in it what the source said, but for its ends. */
export function expectSilence(error: unknown, spell: Spell): void {
  const told = everythingOf(error).toLowerCase();
  for (const key of KEYS) expect(told).not.toContain(spell(key).slice(6, -6).toLowerCase());
  expect(told).not.toMatch(/canary|rotated/);
}
