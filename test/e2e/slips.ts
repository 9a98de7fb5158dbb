/** Slips of people at a keyboard, and what they are told. */
import { expect } from 'vitest';
import { runHere } from '../support/program-here.ts';

/** A day that is none is told by the verb before it opens anything. */
export async function expectSlipTold(verb: string): Promise<void> {
  const ended = await runHere([verb, '--from', 'yesteday'], {
    environment: {
      DAYWALK_API_URL: 'http://127.0.0.1:1',
      DAYWALK_API_KEY: 'a-key-of-mine',
      DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing',
    },
  });
  expect(ended).toMatchObject({ code: 2, stdout: '' });
  expect(ended.stderr).toBe(
    'daywalk: flag --from: "yesteday" is no day; write 2026-10-31, 2026-10, yesterday or 7d (days ago)\n',
  );
}
