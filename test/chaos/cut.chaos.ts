/** The connection cut at every call of the real program, before it took effect and after. */
import { test } from 'vitest';
import { CUT_AFTER, CUT_BEFORE, runMatrix } from './every-call.ts';
import { SETUPS } from './setups.ts';

const cases = [SETUPS.totals, SETUPS.split].flatMap((setup) =>
  [CUT_BEFORE, CUT_AFTER].map((peril) => ({ setup, peril })),
);

test.each(cases)('$peril.name every call: $setup.name (I1 to I4, I6, I7)', ({ setup, peril }) =>
  runMatrix(setup, peril),
);
