/** Spelling: the distance is a distance, and only what is near is offered. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { didYouMean, editDistance } from '../../src/settings/values/spelling.ts';

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

test('the word that is meant', () => {
  const words = ['page_length', 'page_timeout', 'since', 'log'];
  const meant = (word: string) => /; did you mean (.*)\?/.exec(didYouMean(word, words))?.[1];
  expect(meant('pageLength')).toBe('page_length');
  expect(meant('page-lenght')).toBe('page_length');
  expect(meant('snice')).toBe('since');
  for (const word of ['x', '', 'whatever', 'a'.repeat(100_000)])
    expect(didYouMean(word, words)).toBe('');
  const zones = ['Europe/Berlin', 'Europe/Paris'];
  expect(didYouMean('berln', zones, (zone) => zone.slice('Europe/'.length))).toBe(
    '; did you mean Europe/Berlin?',
  );
});
