/** SIGKILL at every call of the real program. */
import { test } from 'vitest';
import { KILL, runMatrix } from './every-call.ts';
import { SETUPS } from './setups.ts';

test.each(Object.values(SETUPS))('SIGKILL at every call: $name (I1 to I4, I6, I7)', (setup) =>
  runMatrix(setup, KILL),
);
