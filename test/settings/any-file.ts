/** Settings files made of anything. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SettingsError } from '../../src/errors.ts';
import { loadYaml } from './loading.ts';

/** Random files, so many of each kind: nothing but a SettingsError comes out. */
export function anyFile(runs: number): void {
  const settle = (yaml: string) => {
    try {
      loadYaml(yaml);
    } catch (error) {
      expect(error).toBeInstanceOf(SettingsError);
      expect((error as Error).message).not.toContain('undefined');
    }
  };
  const word = fc.constantFrom(
    ...['api', 'url', 'key', 'streams', 'events', 'filters', 'page_length', 'total_path', 'since'],
    ...[
      ':',
      ': ',
      '\n',
      '\n  ',
      '- ',
      '{',
      '}',
      '[',
      ']',
      '"',
      "'",
      '*a',
      '&a',
      '!t',
      '|',
      '>',
      '#',
      '?',
      ',',
    ],
    ...[
      '%YAML 1.1\n---\n',
      '<<',
      '~',
      'null',
      'true',
      '1.10',
      '\t',
      '__proto__',
      '\u0000',
      '\uD800',
      '$',
    ],
  );
  test('made of words of YAML', () => {
    const text = fc.array(word, { maxLength: 40 }).map((words) => words.join(''));
    fc.assert(fc.property(text, settle), { numRuns: 2 * runs });
  });
  test('made of any characters', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 200 }), settle), {
      numRuns: runs / 2,
    });
  });
  test('made of any JSON', () => {
    const key = fc.oneof(
      fc.constantFrom('api', 'streams', 'events', 'filters', 'log'),
      fc.string(),
    );
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 5 },
        fc.jsonValue(),
        fc.dictionary(key, tie('tree')),
        fc.array(tie('tree'), { maxLength: 3 }),
      ),
    }));
    fc.assert(
      fc.property(tree, (value) => settle(JSON.stringify(value))),
      { numRuns: runs },
    );
  });
}
