/** What `body-repair` has no time for: bodies of ten megabytes, and five million levels. */
import { describe, test } from 'vitest';
import { expectDeepTaken, expectWithin, largeBodies } from './large-bodies.ts';

test('what is too deep may be five million levels deep', () => expectDeepTaken(5e6));

describe('time', () => {
  test.each(largeBodies(10))('10 MB take seconds: %s', (_, body) => expectWithin(15, body));
});
