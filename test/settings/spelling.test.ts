/** Spelling: the distance is a distance, and only what is near is offered. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { distance, nearest } from '../../src/settings/values/spelling.ts';

test('distance', () => {
  expect(distance('', 'abc')).toBe(3);
  expect(distance('abc', 'acb')).toBe(1);
  expect(distance('kitten', 'sitting')).toBe(3);
  const word = fc.string({ maxLength: 12 });
  fc.assert(
    fc.property(word, word, (a, b) => {
      expect(distance(a, b)).toBe(distance(b, a));
      expect(distance(a, b) === 0).toBe(a === b);
      expect(distance(a, b)).toBeLessThanOrEqual(Math.max(a.length, b.length));
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
