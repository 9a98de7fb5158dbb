/** Where no database is set: somebody at a terminal is asked for the embedded one; nobody else gets one unasked. */

import { askYesNo, isInteractive } from './terminal/question.ts';
import type { Invocation } from './verb.ts';
import { askedOf } from './wiring.ts';

/** The invocation as it is; with `--embedded` where no database is set, and somebody says yes to it. */
export async function askForDatabase(invocation: Invocation): Promise<Invocation> {
  const { options, signal } = invocation;
  if (!isInteractive()) return invocation;
  const { databaseUrl, embedded, directory } = askedOf(invocation, []).settings;
  if (databaseUrl !== undefined || embedded) return invocation;
  const yes = await askYesNo(
    `No database is set. Shall daywalk make an embedded Postgres in ${directory}, to try things out?`,
    signal,
  );
  return yes ? { ...invocation, options: { ...options, embedded: true } } : invocation;
}
