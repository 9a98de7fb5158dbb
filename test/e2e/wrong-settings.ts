/** Wrong settings, flags and command lines. */
import { expect } from 'vitest';
import { runHere } from '../support/program-here.ts';

const API = { DAYWALK_API_URL: 'https://api.invalid', DAYWALK_API_KEY: 'k' };
/** Nothing may be asked of it: nobody listens there. */
const NOWHERE = {
  ...API,
  DATABASE_URL: 'postgres://daywalk:nobody-listens-here@127.0.0.1:1/daywalk',
};
export const BACKFILL = ['backfill', '--from', '2026-03-01', '--to', '2026-03-02'];

/** Is told with these words, exit code 2 and no stack, and nothing else is said. */
export async function expectTold(
  _: string,
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  words: readonly string[],
): Promise<void> {
  const ended = await runHere(args, { environment: { ...NOWHERE, ...environment } });
  expect(ended, ended.stderr).toMatchObject({ code: 2, stdout: '' });
  for (const word of words) expect(ended.stderr).toContain(word);
  expect(ended.stderr).not.toMatch(/^\s+at |undefined|\[object|NaN/m);
}
