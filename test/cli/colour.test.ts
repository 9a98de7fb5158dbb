/** Who wants colours: the environment decides, then what is written to. */
import { expect, test } from 'vitest';
import { wantsColour } from '../../src/cli/terminal/output.ts';

test.each([
  [{ FORCE_COLOR: '1' }, false, true],
  [{ FORCE_COLOR: '0' }, true, false],
  [{ FORCE_COLOR: 'false' }, true, false],
  [{ FORCE_COLOR: '1', NO_COLOR: '1' }, false, true],
  [{ NO_COLOR: '1' }, true, false],
  [{ NO_COLOR: '' }, true, true],
  [{ TERM: 'dumb' }, true, false],
  [{}, true, true],
  [{}, false, false],
])('%j, a terminal: %s', (environment, isTerminal, wanted) => {
  expect(wantsColour(environment, isTerminal)).toBe(wanted);
});
