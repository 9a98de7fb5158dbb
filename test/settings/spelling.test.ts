/** Spelling: the distance is a distance, and only what is near is offered. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { editDistance, nearest } from '../../src/settings/values/spelling.ts';

test('distance', () => {
  expect(editDistance('', 'abc')).toBe(3);
  expect(editDistance('abc', 'acb')).toBe(1);
  expect(editDistance('kitten', 'sitting')).toBe(3);
  const word = fc.string({ maxLength: 12 });
  fc.assert(
    fc.property(word, word, (a, b) => {
      expect(editDistance(a, b)).toBe(editDistance(b, a));
      expect(editDistance(a, b) === 0).toBe(a === b);
      expect(editDistance(a, b)).toBeLessThanOrEqual(Math.max(a.length, b.length));
    }),
  );
});

test('nearest', () => {
  const words = ['page_length', 'page_timeout', 'since', 'log'];
  expect(nearest('pageLength', words)).toBe('page_length');
  expect(nearest('page-lenght', words)).toBe('page_length');
  expect(nearest('snice', words)).toBe('since');
  expect(nearest('x', words)).toBeUndefined();
  expect(nearest('', words)).toBeUndefined();
  expect(nearest('whatever', words)).toBeUndefined();
  expect(nearest('a'.repeat(100_000), words)).toBeUndefined();
});
