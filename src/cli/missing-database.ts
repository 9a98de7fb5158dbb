/** Where no database is set: somebody at a terminal is asked for the embedded one; nobody else gets one unasked. */
import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { printable } from '../text.ts';
import type { Invocation } from './verb.ts';
import { askedOf } from './wiring.ts';

/** The invocation as it is; with `--embedded` where no database is set, and somebody says yes to it. */
export async function askForDatabase(invocation: Invocation): Promise<Invocation> {
  const { options, signal } = invocation;
  if (process.stdin.isTTY !== true || process.stderr.isTTY !== true) return invocation;
  const { databaseUrl, embedded, directory } = askedOf(invocation, []).settings;
  if (databaseUrl !== undefined || embedded) return invocation;
  const question = `No database is set. Shall daywalk make an embedded Postgres in ${directory}, to try things out?`;
  // The terminal stays in its own mode, so that Ctrl-C stops the program as ever.
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
  try {
    const ended = once(lines, 'close', { signal }).then(() => '');
    const answer = lines.question(`${printable(question)} [y/N] `, { signal });
    // Whatever is not a clear yes is a no.
    const yes = /^\s*y(es)?\s*$/i.test(await Promise.race([answer, ended]));
    return yes ? { ...invocation, options: { ...options, embedded: true } } : invocation;
  } finally {
    lines.close();
  }
}
