/** The list of mutants fits the code: every change can be made, and every test that ought to notice is there. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ROOT } from './laboratory.ts';
import { MUTANTS } from './list.ts';
import { applied } from './mutant.ts';

describe.each(MUTANTS.map((mutant) => [mutant.name, mutant] as const))(
  '%s',
  (_, { edits, tests }) => {
    test('can be made', () => {
      const texts = new Map<string, string>();
      for (const edit of edits) {
        const before = texts.get(edit.file) ?? readFileSync(join(ROOT, edit.file), 'utf8');
        const after = applied(before, edit);
        expect(after).not.toBe(before);
        texts.set(edit.file, after);
      }
    });

    test('has tests', () => {
      const files = tests.filter((name) => name.startsWith('test/'));
      expect(files.filter((name) => !existsSync(join(ROOT, name)))).toEqual([]);
      expect(files).not.toEqual([]);
    });
  },
);

test('every mutant has a name of its own', () => {
  expect(new Set(MUTANTS.map(({ name }) => name)).size).toBe(MUTANTS.length);
});

test('a place that is not there, or there twice, is told', () => {
  const edit = { file: 'x', find: 'b', replace: 'c' };
  expect(applied('abd', edit)).toBe('acd');
  expect(() => applied('ad', edit)).toThrow('x has 0 times');
  expect(() => applied('abb', edit)).toThrow('x has 2 times');
});
