/** Questions to somebody at the terminal; they go to stderr, where progress goes. */
import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { printable } from '../../text.ts';

/** Whether somebody is there to answer. */
export const isInteractive = (): boolean =>
  process.stdin.isTTY === true && process.stderr.isTTY === true;

/** Asks; whatever is not a clear yes is a no. */
export async function askYesNo(question: string, signal: AbortSignal): Promise<boolean> {
  // The terminal stays in its own mode, so that Ctrl-C stops the program as ever.
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
  try {
    const ended = once(lines, 'close', { signal }).then(() => '');
    const answer = lines.question(`${printable(question)} [y/N] `, { signal });
    return /^\s*y(es)?\s*$/i.test(await Promise.race([answer, ended]));
  } finally {
    lines.close();
  }
}
